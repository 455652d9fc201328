import type { WireFailure } from './failure.ts'
import type { Junk, Received } from './received.ts'

/** What came back for one message, over whatever carrier. */
export interface Answer {
  /** The source text of the id that was sent; undefined for a message without one. */
  readonly idText: string | undefined
  readonly response: Received | undefined
  /** Messages that came before the response, or in its place. */
  readonly others: readonly Received[]
  readonly junk: readonly Junk[]
  /** Over HTTP: the head of the answer, once it came. */
  readonly http: HttpPart | undefined
  readonly failure: WireFailure | undefined
  readonly durationMs: number
}

/** What HTTP adds to an answer. */
export interface HttpPart {
  readonly status: number
  /** In lower case; repeated fields joined. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, as text. */
  readonly body: string
  readonly isEventStream: boolean
  /** The last event id of the stream. */
  readonly lastEventId: string | undefined
  /** The type of the first event that had another than `message`. */
  readonly otherEvent: string | undefined
  readonly isUtf8: boolean
  /** Whether the stream went on after the response until it was cut. */
  readonly leftOpen: boolean
}
