import type { Json, JsonRecord } from '../jsonrpc/json.ts'
import type { CallContext } from './context.ts'

/** What is asked or told, without id and envelope: `params` holds no `_meta`, `inputResponses` or `requestState`. */
export interface Call {
  readonly method: string
  readonly params: JsonRecord
}

/**
 * "More input needed" (MRTR). Untrusted data from whoever made it: kept whole, reported, and answered only by a caller who
 * decided to.
 */
export interface Ask {
  /** What to ask, by the key under which each answer must come back. Absent when only state was given. */
  readonly inputRequests?: ReadonlyMap<string, Call>
  /** Opaque to everyone but its maker; comes back byte for byte (MC-MRTR-16). */
  readonly requestState?: string
  /** The whole result as it came. */
  readonly raw: Json
  /** Set when the call waits behind the ask in this very process, as a call of a server does that asks in the middle of it. */
  readonly parked?: ParkedCall
}

/**
 * A call that waits for whoever brings the answers (BR-221). The same object in every ask of one call. It never goes over a wire: whoever
 * passes an ask on decides how the call is found again.
 */
export interface ParkedCall {
  /** How long it waits from the ask on, in milliseconds; after that it is over. */
  readonly waitMs: number
  /**
   * Goes on: as `Dispatcher.call` with the state and the answers in `context.resume`, on the connection on which the call is open, whichever
   * others have been made since.
   */
  resume(call: Call, context: CallContext): Promise<Outcome>
  /** Nobody will come: the server is answered without anybody, and its call is cancelled (BR-224). Does nothing when the call is over. */
  abandon(): void
  /** Resolves when the call is over, and nothing of it is open any more. Never rejects. */
  readonly ended: Promise<ParkedEnd>
}

/**
 * `over`: it has its outcome. `given-up`: nobody wants it any more, though the server may not know yet. `expired`: nobody came in time.
 * `lost`: its connection has ended.
 */
export type ParkedEnd = 'over' | 'given-up' | 'expired' | 'lost'

/** How long a result stays good, and for whom (MC-CACHE-03, -04). */
export interface CacheHints {
  /** Milliseconds, an integer of at least 0. */
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/**
 * What a call led to; a failure is a thrown `RpcError` instead.
 *
 * - `result`: final. `value` is the result object without `resultType`, or with it where it is relayed as it came.
 *   `hints` are cache hints that are not yet members of `value`; codecs of eras that have none leave them out.
 * - `ask`: more input is needed.
 * - `other`: a `resultType` that we do not know. Kept and reported, never used as a result (MC-RT-04).
 */
export type Outcome =
  | { readonly kind: 'result'; readonly value: JsonRecord; readonly hints?: CacheHints }
  | ({ readonly kind: 'ask' } & Ask)
  | { readonly kind: 'other'; readonly resultType: string; readonly raw: Json }
