import type { AbortOptions, CallContext, LogLevel, Peer, Scope } from './context.ts'
import type { Call } from './call.ts'
import type { JsonObject, JsonRecord } from '../jsonrpc/json.ts'

/**
 * A client with whom a session is kept: it agreed on everything once, and it can be asked and told things outside of any call.
 * The same object for all calls of the session.
 */
export interface PeerSession {
  readonly peer: Peer
  /** What the client declared, word for word. */
  readonly declared: JsonObject
  /** Ends with the session. */
  readonly scope: Scope
  /** Whether the client would hear now what belongs to none of its calls; one on HTTP would not that holds no stream open. */
  readonly isReachable: boolean
  /** The lowest level of log messages that the client asked for; `undefined` while it has not said. */
  readonly wantedLevel: LogLevel | undefined
  /**
   * Puts a request to the client and gives its result as it came. Rejects with an `RpcError` that is the client's own, with the reason of
   * the signal, or with an `RpcError` when no answer can come. Kinds that the client did not declare are refused here (LG-LIFE-09).
   */
  ask(request: Call, options?: PeerAskOptions): Promise<JsonRecord>
  /** Tells the client something. `related` is the call that it belongs to, where that is known; it may be over. */
  tell(notice: Call, related?: CallContext): void
  /** Hears of what the client tells its session. Ends by itself with the session. */
  follow(listener: PeerSessionListener): Disposable
}

export interface PeerAskOptions extends AbortOptions {
  /** The call on whose behalf is asked, where that is known. */
  readonly related?: CallContext | undefined
  /** Hears of the progress that the client makes. When it is given, the client gets a token of its own in place of the one in the request. */
  readonly onProgress?: ((params: JsonRecord) => void) | undefined
}

export interface PeerSessionListener {
  /** The client asked for another level of log messages. */
  level(level: LogLevel): void
  /** The client's roots have changed. */
  rootsChanged(): void
}
