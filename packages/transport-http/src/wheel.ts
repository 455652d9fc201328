import type { Clock } from '@atenea/mcpcompat/transport'

/** A link in a ring, alone at first. */
class Link {
  before: Link = this
  after: Link = this

  /** Puts a link that is alone in front of this one. */
  push(link: Link): void {
    const { before } = this
    link.before = before
    link.after = this
    before.after = link
    this.before = link
  }

  /** Leaves its ring. Nothing happens when it is alone. */
  leave(): void {
    const { before, after } = this
    before.after = after
    after.before = before
    this.before = this
    this.after = this
  }
}

/**
 * What sits on a wheel until it leaves. It is itself the link to its neighbours, so that sitting down and leaving, which every
 * request does, are a few assignments and no garbage.
 */
export abstract class Rider extends Link {
  /** One whole turn has passed since it was added, or since the last time. */
  abstract turn(): void
}

/** Those who sit in one place of the wheel, in the order in which they came. */
class Seat {
  readonly #ring = new Link()

  get first(): Rider | undefined {
    const { after } = this.#ring
    return after === this.#ring ? undefined : (after as Rider)
  }

  add(rider: Rider): void {
    rider.leave()
    this.#ring.push(rider)
  }

  /** Takes over all riders of another one. */
  takeAll(other: Seat): void {
    for (let rider = other.first; rider !== undefined; rider = other.first) this.add(rider)
  }
}

/**
 * One timer for any number of riders that each want to hear of the same span of time. They are spread over the turn, so that
 * ten thousand of them are not all called at once. It stands still when nobody sits on it, and holds no process.
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
    this.#seats = Array.from({ length: seats }, () => new Seat())
  }

  /** Gives a seat: `turn` is called after one turn, give or take a sixteenth, and after each one more, until the rider leaves. */
  add(rider: Rider): void {
    this.#top.add(rider)
    if (this.#timer === undefined) {
      this.#due = this.#clock.now() + this.#tickMs
      this.#timer = this.#next()
    }
  }

  /** Takes everybody off. */
  clear(): void {
    for (const seat of this.#seats) {
      for (let rider = seat.first; rider !== undefined; rider = seat.first) rider.leave()
    }
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  get #top(): Seat {
    return this.#seats[this.#position] as Seat
  }

  /** Whoever comes meanwhile waits a whole turn, and whoever leaves is not called. */
  #turn(seat: Seat): void {
    const due = new Seat()
    due.takeAll(seat)
    try {
      for (let rider = due.first; rider !== undefined; rider = due.first) {
        seat.add(rider)
        rider.turn()
      }
    } finally {
      seat.takeAll(due)
    }
  }

  #next(): Disposable {
    return this.#clock.after(Math.max(0, this.#due - this.#clock.now()), () => this.#tick())
  }

  #tick(): void {
    try {
      this.#advance()
    } finally {
      this.#timer = this.#seats.some((seat) => seat.first !== undefined) ? this.#next() : undefined
    }
  }

  #advance(): void {
    const now = this.#clock.now()
    // after a busy while several seats are due; after a long sleep of the machine none is called more than once
    for (let count = 0; count < this.#seats.length; count++) {
      this.#position = (this.#position + 1) % this.#seats.length
      this.#due += this.#tickMs
      this.#turn(this.#top)
      if (this.#due > now) break
    }
    this.#due = Math.max(this.#due, now)
  }
}
