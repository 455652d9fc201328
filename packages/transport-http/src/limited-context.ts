import type {
  Call,
  CallContext,
  JsonObject,
  LogLevel,
  Peer,
  Principal,
  Resume,
  RpcId,
  Scope,
  WireHints,
} from '@atenea/mcpcompat'

/** The context of a call with a signal of our own, which follows the caller's, and with another place for its notices where one is given. */
export class LimitedContext implements CallContext {
  readonly signal: AbortSignal
  readonly #inner: CallContext
  readonly #emit: ((notice: Call) => void | Promise<void>) | undefined

  constructor(inner: CallContext, signal: AbortSignal, emit?: (notice: Call) => void | Promise<void>) {
    this.#inner = inner
    this.signal = signal
    this.#emit = emit
  }

  get origin(): CallContext {
    return this.#inner
  }

  get session(): CallContext['session'] {
    return this.#inner.session
  }

  get peer(): Peer {
    return this.#inner.peer
  }

  get principal(): Principal {
    return this.#inner.principal
  }

  get meta(): JsonObject {
    return this.#inner.meta
  }

  get metaText(): CallContext['metaText'] {
    return this.#inner.metaText
  }

  get progressToken(): RpcId | undefined {
    return this.#inner.progressToken
  }

  get logLevel(): LogLevel | undefined {
    return this.#inner.logLevel
  }

  get hints(): WireHints {
    return this.#inner.hints
  }

  get resume(): Resume | undefined {
    return this.#inner.resume
  }

  get scope(): Scope {
    return this.#inner.scope
  }

  emit(notice: Call): void | Promise<void> {
    return this.#emit === undefined ? this.#inner.emit(notice) : this.#emit(notice)
  }
}
