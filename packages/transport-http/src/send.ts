import type { WireHints } from '@atenea/mcpcompat'

/** One HTTP request, complete: nothing may be added but what HTTP itself needs (`Host`, `Content-Length`, `Connection`). */
export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Ends the request, and the reading of its answer, at once. */
  readonly signal: AbortSignal
  /** Whether it is harmless when the server gets it twice. Anything else must never be sent again once a byte has left. */
  readonly repeatable: boolean
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
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * The way to make HTTP requests, without redirects and without cookies. Rejects with the reason of the request's signal as it is, or
 * with a `TransportError`: of kind `unreachable` when nothing of the request can have reached the server, of kind `unknown-outcome`
 * when it was sent and no answer came.
 */
export type HttpSend = (request: HttpRequest) => Promise<HttpAnswer>
