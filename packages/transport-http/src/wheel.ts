import type { Clock } from '@atenea/mcpcompat/transport'

/** What sits on a wheel. */
export interface Turning {
  /** One whole turn has passed since it was added, or since the last time. It stays until somebody takes it off its seat. */
  turn(): void
}

/** The place on a wheel; `delete` takes an entry off. */
export type Seat = Set<Turning>

/**
 * One timer for any number of entries that each want to hear of the same span of time. The entries are spread over the turn,
 * so that ten thousand of them are not all called at once. It stands still when nobody sits on it, and holds no process.
 */
export class Wheel {
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #seats: readonly Seat[]
  #position = 0
  /** When the next seat comes to the top. */
  #due = 0
  #timer: Disposable | undefined

  constructor(clock: Clock, turnMs: number, seats = 16) {
    this.#clock = clock
    this.#tickMs = turnMs / seats
    this.#seats = Array.from({ length: seats }, () => new Set<Turning>())
  }

  /** Takes a seat: `turn` is called after one turn, give or take a sixteenth. */
  add(entry: Turning): Seat {
    const seat = this.#seats[this.#position] as Seat
    seat.add(entry)
    if (this.#timer === undefined) {
      this.#due = this.#clock.now() + this.#tickMs
      this.#timer = this.#next()
    }
    return seat
  }

  /** Takes everybody off. */
  clear(): void {
    for (const seat of this.#seats) seat.clear()
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  /** Whoever comes meanwhile waits a whole turn, and whoever leaves is not called. */
  #turn(seat: Seat): void {
    const seated = [...seat]
    for (const entry of seated) if (seat.has(entry)) entry.turn()
  }

  #next(): Disposable {
    return this.#clock.after(Math.max(0, this.#due - this.#clock.now()), () => this.#tick())
  }

  #tick(): void {
    const now = this.#clock.now()
    // after a busy while several seats are due; after a long sleep of the machine none is called more than once
    for (let count = 0; count < this.#seats.length; count++) {
      this.#position = (this.#position + 1) % this.#seats.length
      this.#due += this.#tickMs
      this.#turn(this.#seats[this.#position] as Seat)
      if (this.#due > now) break
    }
    this.#due = Math.max(this.#due, now)
    this.#timer = this.#seats.some((seat) => seat.size > 0) ? this.#next() : undefined
  }
}
