import type { AbortWatcher } from '@atenea/mcpcompat'
import type { Ending } from '../send.ts'

/** The end of a request that has nothing but a signal. */
export class SignalEnding implements Ending {
  readonly #signal: AbortSignal
  #watcher: AbortWatcher | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  get isAborted(): boolean {
    return this.#signal.aborted
  }

  get reason(): unknown {
    return this.#signal.reason as unknown
  }

  watch(watcher: AbortWatcher): void {
    if (this.#watcher === undefined) this.#signal.addEventListener('abort', this, { once: true })
    this.#watcher = watcher
  }

  unwatch(watcher: AbortWatcher): void {
    if (this.#watcher !== watcher) return
    this.#watcher = undefined
    this.#signal.removeEventListener('abort', this)
  }

  handleEvent(): void {
    const watcher = this.#watcher
    this.#watcher = undefined
    watcher?.aborted(this.#signal.reason)
  }
}
