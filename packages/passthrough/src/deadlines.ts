import type { Clock } from '@atenea/mcpcompat/transport'

/** Something that must end in time. Times are those of the clock that the deadlines were made with. */
export interface Limited {
  /** Neighbours among everything that is watched over; set by the `Deadlines` that it was given to. */
  before: Limited | undefined
  after: Limited | undefined
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
  /** A chain, since a set of what comes and goes keeps much of it alive until a full collection. */
  #first: Limited | undefined
  readonly #clock: Clock
  readonly #tickMs: number
  #timer: Disposable | undefined

  constructor(clock: Clock, shortestMs: number) {
    this.#clock = clock
    this.#tickMs = Math.min(1_000, Math.max(5, shortestMs / 20))
  }

  add(limited: Limited): void {
    const first = this.#first
    limited.after = first
    if (first !== undefined) first.before = limited
    this.#first = limited
    this.#timer ??= this.#clock.after(this.#tickMs, this.#tick)
  }

  remove(limited: Limited): void {
    const { before, after } = limited
    if (before !== undefined) before.after = after
    else if (this.#first === limited) this.#first = after
    else return
    if (after !== undefined) after.before = before
    limited.before = undefined
    limited.after = undefined
  }

  end(): void {
    while (this.#first !== undefined) this.remove(this.#first)
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    const now = this.#clock.now()
    const late: Limited[] = []
    for (let limited = this.#first; limited !== undefined; limited = limited.after) {
      if (limited.dueAt <= now) late.push(limited)
    }
    for (const limited of late) {
      this.remove(limited)
      limited.expire()
    }
    if (this.#first !== undefined) this.#timer ??= this.#clock.after(this.#tickMs, this.#tick)
  }
}
