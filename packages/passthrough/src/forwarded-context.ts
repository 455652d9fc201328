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
import type { PeerSession } from '@atenea/mcpcompat/transport'

export interface ForwardedContextOptions {
  /** Ends the call in place of the caller's own signal. */
  readonly signal?: AbortSignal
  /** What goes back to the backend in place of what the caller sent. */
  readonly resume?: Resume
}

/** A call made on behalf of another: its context, save for what is given anew. */
export class ForwardedContext implements CallContext {
  readonly origin: CallContext
  readonly resume: Resume | undefined
  readonly #signal: AbortSignal | undefined

  constructor(origin: CallContext, { signal, resume = origin.resume }: ForwardedContextOptions) {
    this.origin = origin
    this.resume = resume
    this.#signal = signal
  }

  get progressToken(): RpcId | undefined {
    return this.origin.progressToken
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.origin.signal
  }

  get peer(): Peer {
    return this.origin.peer
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

  get logLevel(): LogLevel | undefined {
    return this.origin.logLevel
  }

  get hints(): WireHints {
    return this.origin.hints
  }

  get scope(): Scope {
    return this.origin.scope
  }

  get session(): PeerSession | undefined {
    return this.origin.session
  }

  emit(notice: Call): void | Promise<void> {
    return this.origin.emit(notice)
  }
}
