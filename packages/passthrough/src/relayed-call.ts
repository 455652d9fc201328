import {
  type Call,
  type CallContext,
  type JsonObject,
  type LogLevel,
  notice as noticeName,
  type Peer,
  type Principal,
  type Resume,
  type RpcId,
  type Scope,
  type WireHints,
} from '@atenea/mcpcompat'
import type { PeerSession } from '@atenea/mcpcompat/transport'
import type { Limited } from './deadlines.ts'

/** How long a call may take, in milliseconds. */
export interface CallLimits {
  /** Without an answer or progress. */
  readonly callTimeoutMs: number
  /** Whatever progress it makes. */
  readonly maxCallMs: number
}

/**
 * The context with which a call goes to a backend: that of its caller, with a signal that also aborts when the backend takes too long. Progress
 * gives it more time, up to a ceiling.
 */
export class RelayedCall implements CallContext, Limited {
  readonly origin: CallContext
  readonly peer: Peer
  dueAt: number
  /** Set when the backend took too long: how long it had been given. */
  expiredAfterMs: number | undefined
  readonly #limits: CallLimits
  readonly #startedAt: number
  readonly #now: () => number
  #abort: AbortController | undefined

  constructor(origin: CallContext, peer: Peer, limits: CallLimits, now: () => number) {
    this.origin = origin
    this.peer = peer
    this.#limits = limits
    this.#now = now
    this.#startedAt = now()
    this.dueAt = this.#startedAt + Math.min(limits.callTimeoutMs, limits.maxCallMs)
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      const { signal } = this.origin
      if (signal.aborted) this.#abort.abort(signal.reason)
      else signal.addEventListener('abort', this.#follow, { once: true })
    }
    return this.#abort.signal
  }

  get principal(): Principal {
    return this.origin.principal
  }

  get meta(): JsonObject {
    return this.origin.meta
  }

  get metaText(): CallContext['metaText'] {
    return this.origin.metaText
  }

  get progressToken(): RpcId | undefined {
    return this.origin.progressToken
  }

  get logLevel(): LogLevel | undefined {
    return this.origin.logLevel
  }

  get hints(): WireHints {
    return this.origin.hints
  }

  get resume(): Resume | undefined {
    return this.origin.resume
  }

  get scope(): Scope {
    return this.origin.scope
  }

  get session(): PeerSession | undefined {
    return this.origin.session
  }

  emit(notice: Call): void | Promise<void> {
    if (notice.method === noticeName.progress) {
      this.dueAt = Math.min(this.#startedAt + this.#limits.maxCallMs, this.#now() + this.#limits.callTimeoutMs)
    }
    return this.origin.emit(notice)
  }

  expire(): void {
    this.expiredAfterMs = Math.round(this.#now() - this.#startedAt)
    this.#abort ??= new AbortController()
    this.#abort.abort(new DOMException(`no answer within ${this.expiredAfterMs} ms`, 'TimeoutError'))
  }

  /** The call is over: nothing stays attached to its caller. */
  end(): void {
    if (this.#abort !== undefined) this.origin.signal.removeEventListener('abort', this.#follow)
  }

  readonly #follow = (): void => this.#abort?.abort(this.origin.signal.reason)
}
