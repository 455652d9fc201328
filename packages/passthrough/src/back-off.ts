import type { BackoffOptions } from './backend-options.ts'

/**
 * When a backend may be tried again. A connection that was lost after it had served is made anew at once; after that every failure in a
 * row waits longer, until a call goes well.
 */
export class BackOff {
  readonly #firstMs: number
  readonly #maxMs: number
  readonly #factor: number
  #failures = 0

  constructor({ firstMs = 500, maxMs = 30_000, factor = 2 }: BackoffOptions = {}) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
    this.#factor = factor
  }

  /** Nothing has gone wrong since the last good call. */
  get isReset(): boolean {
    return this.#failures === 0
  }

  reset(): void {
    this.#failures = 0
  }

  /** Milliseconds to wait after a connection was lost. */
  afterLoss(): number {
    this.#failures++
    return this.#failures === 1 ? 0 : this.#delay(this.#failures - 2)
  }

  /** Milliseconds to wait after a connection could not be made. */
  afterFailure(): number {
    this.#failures++
    return this.#delay(this.#failures - 1)
  }

  #delay(step: number): number {
    return Math.min(this.#maxMs, this.#firstMs * this.#factor ** step)
  }
}
