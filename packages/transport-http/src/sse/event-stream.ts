import type { HeaderFields, HttpExchange } from '../carrier/http-exchange.ts'
import { Rider, type Wheel } from '../wheel.ts'
import { sseComment, sseFields } from './encode.ts'

/** How streams are kept alive and bounded. One object for a handler. */
export interface StreamPolicy {
  /** Turns once in the time after which a stream gets a sign of life. */
  readonly beats: Wheel
  /** Most bytes that wait for a client; one that reads slower is cut off. */
  readonly maxUnsentBytes: number
}

/** Turns during which a client may read nothing at all before it counts as gone. */
const maxStalledTurns = 8

/**
 * The answer to one request as a stream of events, which begins with the first of them: until then a single JSON answer is
 * still possible. A request that is quiet for long becomes a stream as well, so that nobody on the way cuts it off (C8).
 */
export class EventStream extends Rider {
  readonly #exchange: HttpExchange
  readonly #policy: StreamPolicy
  /** What goes out before the first event; let go with it. */
  #fields: HeaderFields
  #opening: string
  #opened = false
  #stalledTurns = 0
  /** Bytes that waited at the last turn. */
  #unsent = 0
  /** Whether the client has taken all that waited for it since the last turn. */
  #relieved = false
  #relief: Promise<void> | undefined

  /** `opening` goes before whatever is written first. */
  constructor(exchange: HttpExchange, policy: StreamPolicy, fields: HeaderFields = sseFields, opening = '') {
    super()
    this.#exchange = exchange
    this.#policy = policy
    this.#fields = fields
    this.#opening = opening
    policy.beats.add(this)
  }

  /** Whether an event or a sign of life was written, so that the answer has to be an event too. */
  get opened(): boolean {
    return this.#opened
  }

  /** Whether it is the answer of this exchange. */
  isOn(exchange: HttpExchange): boolean {
    return this.#exchange === exchange
  }

  /** Writes text in the form of events. A promise when the client reads too slowly. */
  write(text: string): void | Promise<void> {
    if (!this.#opened) {
      this.#opened = true
      this.#exchange.open(this.#fields, this.#opening + text)
      this.#fields = sseFields
      this.#opening = ''
      return
    }
    const taken = this.#exchange.write(text)
    if (taken === undefined) return
    if (this.#exchange.unsent > this.#policy.maxUnsentBytes) this.#exchange.destroy()
    this.#await(taken)
    return taken
  }

  /** Ends the stream. One that was never opened only leaves its seat, as it does when the answer is given in another form. */
  finish(last: string): void {
    this.leave()
    if (this.#opened) this.#exchange.finish(last)
  }

  override turn(): void {
    // a client that reads nothing needs no more to read
    const { unsent } = this.#exchange
    if (unsent === 0) {
      this.#stalledTurns = 0
      this.#unsent = 0
      void this.write(sseComment)
      return
    }
    const reads = this.#relieved || unsent < this.#unsent
    this.#relieved = false
    this.#unsent = unsent
    this.#stalledTurns = reads ? 0 : this.#stalledTurns + 1
    if (this.#stalledTurns >= maxStalledTurns) this.#exchange.destroy()
  }

  /** Those who write meanwhile wait for the same. */
  #await(relief: Promise<void>): void {
    if (this.#relief === relief) return
    this.#relief = relief
    void relief.then(() => {
      this.#relieved = true
    })
  }
}
