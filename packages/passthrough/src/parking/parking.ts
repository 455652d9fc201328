import {
  type Ask,
  type Call,
  type CallContext,
  isJsonObject,
  type Outcome,
  type ParkedCall,
  RpcError,
  rpcCode,
  type Seal,
  type SealBinding,
  toText,
} from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'
import { busy, lostWhileParked } from '../failures.ts'
import { ForwardedContext } from '../forwarded-context.ts'
import { isAborted } from '../relayed-call.ts'
import type { Park, ParkStore } from './park-store.ts'

export interface ParkingOptions {
  readonly seal: Seal
  readonly store: ParkStore
  /** How long a call waits for its client, in milliseconds. */
  readonly parkedMs: number
  readonly clock: Clock
}

/** An ask behind which a call of a backend waits. */
export type ParkingAsk = Ask & { readonly kind: 'ask'; readonly parked: ParkedCall }

/** A call that goes on with what its client has brought. */
export interface Resumption {
  readonly context: CallContext
  resume(call: Call, context: CallContext): Promise<Outcome>
}

interface Waiting {
  readonly parked: ParkedCall
  /** What the backend's connection calls it. */
  readonly handle: string
  readonly round: number
  readonly timer: Disposable
  /** The call is over though nobody came. */
  lost: boolean
}

/**
 * Calls of legacy backends that wait for modern clients (BR-221, BR-224 to BR-226, BR-235). A client carries nothing but a sealed name of the
 * call, bound to itself, to its request and to the backend, good for one retry and for a limited time. However a call ends, nothing of it
 * stays open at the backend.
 */
export class Parking {
  readonly #options: ParkingOptions
  readonly #instance = randomId()
  readonly #waiting = new Map<string, Waiting>()

  constructor(options: ParkingOptions) {
    this.#options = options
  }

  /** Calls that wait for their clients. */
  get size(): number {
    return [...this.#waiting.values()].filter(({ lost }) => !lost).length
  }

  /** The ask as the client gets it. Rejects with an `RpcError` when no more calls may wait; the backend is answered then. */
  async park(ask: ParkingAsk, backend: string, call: Call, context: CallContext, round: number): Promise<Outcome> {
    const { parked, requestState: handle = '', ...shown } = ask
    const { seal, clock } = this.#options
    const waitMs = Math.min(this.#options.parkedMs, parked.waitMs)
    const size = toText(call.params).length + toText(ask.raw).length
    const park: Park = { id: randomId(), instance: this.#instance, backend, size, expiresAt: Date.now() + waitMs }
    const timer = clock.after(waitMs, () => this.#expire(park.id))
    const waiting: Waiting = { parked, handle, round, timer, lost: false }
    // Before anything is waited for, since the call can end meanwhile.
    this.#waiting.set(park.id, waiting)
    void parked.ended.then((how) => {
      if (how === 'lost') waiting.lost = true
      else this.#drop(park.id)
    })
    try {
      if (!(await this.#note(park))) throw busy(backend, 'too many calls wait for answers to its questions')
      const state = { park: park.id, backend }
      const requestState = await seal.seal(state, bindingOf(call, context), { ttlMs: waitMs, round })
      // Whoever has given up meanwhile never sees the state, and cannot come back.
      if (isAborted(context)) throw context.signal.reason
      return { ...shown, requestState }
    } catch (error) {
      this.#drop(park.id)
      parked.abandon()
      throw error
    }
  }

  async #note(park: Park): Promise<boolean> {
    if (await this.#put(park)) return true
    // Calls that are lost are remembered for a better answer only.
    const lost = [...this.#waiting].filter(([, waiting]) => waiting.lost)
    for (const [id] of lost) this.#drop(id)
    return lost.length > 0 && (await this.#put(park))
  }

  async #put(park: Park): Promise<boolean> {
    const isNoted = await this.#options.store.put(park)
    // The call has ended before it was noted.
    if (isNoted && !this.#waiting.has(park.id)) this.#erase(park.id)
    return isNoted
  }

  /**
   * The call that a client comes back to, which nobody else can come back to from now on. Rejects with an `RpcError`: -32602 for a state
   * that is none of this client, request and backend, that has expired or was used; -32603 when the backend was lost.
   */
  async take(backend: string, call: Call, context: CallContext): Promise<Resumption & { readonly round: number }> {
    const { seal, store } = this.#options
    const opened = await seal.unseal(context.resume?.requestState ?? '', bindingOf(call, context))
    if (!opened.ok) throw opened.reason === 'expired' ? expired() : invalid()
    const { park: id, backend: owner } = isJsonObject(opened.state) ? opened.state : {}
    if (typeof id !== 'string' || owner !== backend) throw invalid()
    const isTaken = (await store.take(id, this.#instance)) !== undefined
    const waiting = isTaken ? this.#waiting.get(id) : undefined
    if (waiting === undefined) throw expired()
    this.#forget(id)
    if (waiting.lost) throw lostWhileParked(backend)
    const { parked, handle, round } = waiting
    const resume = { inputResponses: {}, ...context.resume, requestState: handle }
    return {
      round,
      context: new ForwardedContext(context, { resume }),
      resume: async (resumed, within) => {
        try {
          return await parked.resume(resumed, within)
        } catch (error) {
          // A client that gave up before its answers were taken has no state to come back with.
          parked.abandon()
          throw error
        }
      },
    }
  }

  /** Nobody can come back any more. */
  end(): void {
    for (const id of this.#waiting.keys()) this.#expire(id)
  }

  #expire(id: string): void {
    const waiting = this.#waiting.get(id)
    this.#drop(id)
    waiting?.parked.abandon()
  }

  /** Nobody takes this call any more. */
  #drop(id: string): void {
    if (!this.#waiting.has(id)) return
    this.#forget(id)
    this.#erase(id)
  }

  /** A store that cannot be reached forgets a call when it has expired. */
  #erase(id: string): void {
    void (async () => await this.#options.store.take(id, this.#instance))().catch(() => undefined)
  }

  #forget(id: string): void {
    this.#waiting.get(id)?.timer[Symbol.dispose]()
    this.#waiting.delete(id)
  }
}

function bindingOf({ method, params }: Call, { principal }: CallContext): SealBinding {
  return { principal: principal.id, method, params }
}

/** One refusal for all that can be wrong with it: whoever makes up a state learns nothing. */
function invalid(): RpcError {
  return new RpcError(rpcCode.invalidParams, 'The request state is not valid for this request')
}

/** Only ever said of a genuine state, to the client that was given it. */
function expired(): RpcError {
  return new RpcError(
    rpcCode.invalidParams,
    'The request state expired: it was used, its time is over, or the proxy was restarted. Make the call again without it',
  )
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
