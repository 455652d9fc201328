import type { Clock } from '@atenea/mcpcompat/transport'

/** Something that must end in time. Times are those of the clock that the deadlines were made with. */
export interface Limited {
  /** When it has to have ended. May move while it is under way. */
  dueAt: number
  /** It is too late. */
  expire(): void
}

/**
 * Watches over many short things with one timer, since a timer for each call costs more than all else that a call needs. Expiry is late by
 * at most one tick.
 */
export class Deadlines {
  readonly #open = new Set<Limited>()
  readonly #clock: Clock
  readonly #tickMs: number
  #timer: Disposable | undefined

  constructor(clock: Clock, shortestMs: number) {
    this.#clock = clock
    this.#tickMs = Math.min(1_000, Math.max(5, shortestMs / 20))
  }

  add(limited: Limited): void {
    this.#open.add(limited)
    this.#timer ??= this.#clock.after(this.#tickMs, this.#tick)
  }

  remove(limited: Limited): void {
    this.#open.delete(limited)
  }

  end(): void {
    this.#open.clear()
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    const now = this.#clock.now()
    for (const limited of this.#open) {
      if (limited.dueAt > now) continue
      this.#open.delete(limited)
      limited.expire()
    }
    if (this.#open.size > 0) this.#timer ??= this.#clock.after(this.#tickMs, this.#tick)
  }
}
