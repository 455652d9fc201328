import type { Call, CallContext } from '@atenea/mcpcompat'
import { DelegatedContext } from '@atenea/mcpcompat/transport'

/** The context of a call with a signal of our own, which follows the caller's, and with another place for its notices where one is given. */
export class LimitedContext extends DelegatedContext {
  readonly #signal: AbortSignal
  readonly #emit: ((notice: Call) => void | Promise<void>) | undefined

  constructor(origin: CallContext, signal: AbortSignal, emit?: (notice: Call) => void | Promise<void>) {
    super(origin)
    this.#signal = signal
    this.#emit = emit
  }

  override get signal(): AbortSignal {
    return this.#signal
  }

  override emit(notice: Call): void | Promise<void> {
    return this.#emit === undefined ? this.origin.emit(notice) : this.#emit(notice)
  }
}
