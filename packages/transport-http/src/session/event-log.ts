/** One event of a stream that was written, or that waits for a reader. */
export interface LoggedEvent {
  readonly stream: number
  readonly number: number
  /** The message that it carries. */
  readonly text: string
}

export interface EventLogOptions {
  readonly maxEvents: number
  /** In UTF-16 units. The newest event is kept whatever its size. */
  readonly maxLength: number
}

/**
 * The last events of all streams of one session, for clients that lost a connection (LG-RESUME-01, -02). Ids name the stream,
 * and are unique in the session since the numbers go on over all streams.
 */
export class EventLog {
  readonly #options: EventLogOptions
  readonly #events: LoggedEvent[] = []
  #length = 0
  #last = 0

  constructor(options: EventLogOptions) {
    this.#options = options
  }

  /** The number of the newest event; 0 when there is none. */
  get last(): number {
    return this.#last
  }

  append(stream: number, text: string): LoggedEvent {
    const event = { stream, number: ++this.#last, text }
    this.#events.push(event)
    this.#length += text.length
    this.#forget()
    return event
  }

  /** The events of one stream after a number, as far as they are kept. */
  after(stream: number, number: number): readonly LoggedEvent[] {
    return this.#events.filter((event) => event.stream === stream && event.number > number)
  }

  #forget(): void {
    const { maxEvents, maxLength } = this.#options
    let count = 0
    while (this.#events.length - count > 1 && (this.#events.length - count > maxEvents || this.#length > maxLength)) {
      this.#length -= (this.#events[count] as LoggedEvent).text.length
      count++
    }
    if (count > 0) this.#events.splice(0, count)
  }
}

/** The id of an event on the wire. */
export function eventId(event: Pick<LoggedEvent, 'stream' | 'number'>): string {
  return `${event.stream}-${event.number}`
}

/** Reads an id that we gave. `undefined` for anything else. */
export function readEventId(id: string): Pick<LoggedEvent, 'stream' | 'number'> | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id)
  return match === null ? undefined : { stream: Number(match[1]), number: Number(match[2]) }
}
