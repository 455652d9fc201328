import type { CallContext, Resume } from '@atenea/mcpcompat'
import { DelegatedContext } from '@atenea/mcpcompat/transport'

export interface ForwardedContextOptions {
  /** Ends the call in place of the caller's own signal. */
  readonly signal?: AbortSignal
  /** What goes back to the backend in place of what the caller sent. */
  readonly resume?: Resume
}

/** A call made on behalf of another: its context, save for what is given anew. */
export class ForwardedContext extends DelegatedContext {
  readonly #signal: AbortSignal | undefined
  readonly #resume: Resume | undefined

  constructor(origin: CallContext, { signal, resume }: ForwardedContextOptions) {
    super(origin)
    this.#signal = signal
    this.#resume = resume
  }

  override get signal(): AbortSignal {
    return this.#signal ?? this.origin.signal
  }

  override get resume(): Resume | undefined {
    return this.#resume ?? this.origin.resume
  }
}
