import type { Call } from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'

const windowMs = 1_000
const maxInWindow = 10

/**
 * Passes changes on at once, but the same one no more than ten times a second: of more than that the last waits for the next second. Two proxies
 * that have each other among their servers would send one change round and round as fast as they can.
 */
export class Damper {
  readonly #clock: Clock
  readonly #pass: (key: string, change: Call) => void
  readonly #passed = new Map<string, number>()
  readonly #held = new Map<string, Call>()
  #begun = Number.NEGATIVE_INFINITY
  #later: Disposable | undefined

  /** `key`: what says when two changes are the same. */
  constructor(clock: Clock, pass: (key: string, change: Call) => void) {
    this.#clock = clock
    this.#pass = pass
  }

  take(key: string, change: Call): void {
    const now = this.#clock.now()
    if (now - this.#begun >= windowMs) {
      this.#begun = now
      this.#passed.clear()
    }
    const count = this.#passed.get(key) ?? 0
    if (count < maxInWindow) {
      this.#passed.set(key, count + 1)
      this.#held.delete(key)
      this.#pass(key, change)
      return
    }
    this.#held.set(key, change)
    this.#later ??= this.#clock.after(this.#begun + windowMs - now, () => this.release())
  }

  /** Passes on what waits. */
  release(): void {
    this.close()
    const held = [...this.#held]
    this.#held.clear()
    for (const [key, change] of held) this.#pass(key, change)
  }

  close(): void {
    this.#later?.[Symbol.dispose]()
    this.#later = undefined
  }
}
