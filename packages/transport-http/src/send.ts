import type { AbortWatcher, WireHints } from '@atenea/mcpcompat'

/** One HTTP request, complete: nothing may be added but what HTTP itself needs (`Host`, `Content-Length`, `Connection`). */
export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Ends the request, and the reading of its answer, at once. */
  readonly signal: AbortSignal
  /** The same end without a signal, for an `HttpSend` that hears of it so; then `signal` is made when it is asked for. */
  readonly ending?: Ending | undefined
  /** Whether it is harmless when the server gets it twice. Anything else must never be sent again once a byte has left. */
  readonly repeatable: boolean
}

/** The end of a request, for those who can hear of it without a signal being made for every one. */
export interface Ending {
  readonly isAborted: boolean
  /** Why, once it is. */
  readonly reason: unknown
  /** Tells once when it is aborted. There is one watcher at a time, the last. Not to be called once it is aborted. */
  watch(watcher: AbortWatcher): void
  unwatch(watcher: AbortWatcher): void
}

/** The body of an answer while it comes. */
export interface HttpBody extends AsyncIterable<Uint8Array> {
  /**
   * The whole body as text, in UTF-8 and without a byte order mark; not a promise when all of it is there already. It is then not iterated
   * any more. Fails as the iteration does, and with a `TransportError` of kind `too-large` when there are more bytes than that.
   */
  text?(maxBytes: number): string | Promise<string>
}

/** The head of an answer, and its body while it comes. */
export interface HttpAnswer {
  readonly status: number
  /** Fields in lower case; repeated ones joined with commas. */
  readonly headers: WireHints
  /**
   * Iterate it once, to its end or not: leaving the iteration early ends the exchange. It throws the reason of the request's signal as
   * it is, and a `TransportError` when the answer breaks off.
   */
  readonly body: HttpBody
}

/**
 * The way to make HTTP requests, without redirects and without cookies. Rejects with the reason of the request's signal as it is, or
 * with a `TransportError`: of kind `unreachable` when nothing of the request can have reached the server, of kind `unknown-outcome`
 * when it was sent and no answer came.
 */
export interface HttpSend {
  (request: HttpRequest): Promise<HttpAnswer>
  /** Whether it looks at `ending` in place of `signal`. */
  readonly hearsEnding?: true
}
