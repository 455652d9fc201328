import type { Principal } from '@atenea/mcpcompat'
import type { HttpHead } from '@atenea/mcpcompat/transport'

/** Names and values of header fields in turn, as `node:http` takes them in one go. */
export type HeaderFields = readonly string[]

/** Takes the body of a request. Exactly one of the two is called, once, unless the client goes before. */
export interface BodySink {
  body(exchange: HttpExchange, text: string): void
  bodyFault(exchange: HttpExchange, fault: BodyFault): void
}

/** `too-large`: more than the limit. `not-text`: no UTF-8. `too-slow`: not there in time. */
export type BodyFault = 'too-large' | 'not-text' | 'too-slow'

/** Whoever has to hear that the client of an exchange has gone. An object, since a closure for each of thousands of streams adds up. */
export interface ExchangeWatcher {
  gone(exchange: HttpExchange): void
}

/**
 * One HTTP request and the way back for its answer, whichever server it came through. It is answered either by `whole`, or by
 * `open` followed by any number of `write` and one `finish`. Nothing here throws when the client is gone; it is just not written.
 */
export interface HttpExchange extends HttpHead {
  /** Path and query, as the client sent them. */
  readonly target: string
  /** Whether the client cannot be reached any more. */
  readonly gone: boolean
  /** Bytes that the client has not taken yet. */
  readonly unsent: number
  /** Who sent it, once that is known. */
  principal: Principal
  /** Fields that each answer to this request carries besides its own. */
  commonFields: HeaderFields
  /** Reads the body, which is handed on as a whole. At most once. */
  read(maxBytes: number, sink: BodySink): void
  /** Tells, once, that the client has gone before its answer was complete; at once when it has gone already. At most one can watch. */
  watch(watcher: ExchangeWatcher): void
  /** Answers with one body, or with none when it is empty. */
  whole(status: number, fields: HeaderFields, body: string): void
  /** Answers with a stream: its head and its first text leave together. */
  open(fields: HeaderFields, first: string): void
  /** Goes on with the stream. A promise when the client reads too slowly: wait for it before writing much more. */
  write(text: string): void | Promise<void>
  /** Ends the stream with a last text, which may be empty. */
  finish(last: string): void
  /** Breaks the connection. */
  destroy(): void
}
