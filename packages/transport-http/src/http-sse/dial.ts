import { type AbortOptions, type OnDiagnostic, TransportError } from '@atenea/mcpcompat'
import {
  abortable,
  type Clock,
  type Connection,
  isSseType,
  linkSignals,
  safeDiagnostics,
} from '@atenea/mcpcompat/transport'
import type { Payload } from '../answer.ts'
import { type Credentials, Endpoint } from '../endpoint.ts'
import { createFetchSend } from '../fetch-send.ts'
import { discard, readSome } from '../read-body.ts'
import type { HttpAnswer, HttpSend } from '../send.ts'
import { HttpSseConnection } from './connection.ts'

export interface DialHttpSseOptions extends AbortOptions {
  /** How requests are made. Default: the platform's `fetch`. It is not disposed with the connection, since several can share it. */
  readonly send?: HttpSend | undefined
  /** Fields for every request. They never replace those of the protocol. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What makes the value of `Authorization`; see `ConnectHttpOptions`. */
  readonly authorization?: Credentials | undefined
  /** How long the server may take to open its stream and to name the address for messages. Default 30,000 ms. */
  readonly openTimeoutMs?: number | undefined
  /** Bytes that one message of the server may have. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** How the payload of messages is wanted; `text` by those who relay it. Default `parsed`. */
  readonly payload?: Payload | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

/**
 * Connects to a server of the deprecated HTTP+SSE transport: a stream that is opened with GET brings what the server says, and its first
 * event names the address to which messages are posted. That address has to be of the same origin, or whoever runs the server could
 * have our messages and credentials sent elsewhere.
 *
 * Such a server is a legacy one, so give the connection to `connectDuplex` in the mode `legacy`. `signal` stops the connecting only. Rejects
 * with its reason, or a `TransportError`: `auth`, `unreachable`, `timeout`, or `protocol` when this is no such server.
 */
export async function dialHttpSse(url: string | URL, options: DialHttpSseOptions = {}): Promise<Connection> {
  const { signal, openTimeoutMs = 30_000, maxMessageBytes = 16 * 1_048_576 } = options
  signal?.throwIfAborted()
  const onDiagnostic = safeDiagnostics(options.onDiagnostic)
  const endpoint = new Endpoint({
    url: String(url),
    send: options.send ?? createFetchSend(),
    headers: options.headers,
    authorization: options.authorization,
    maxMessageBytes,
    onDiagnostic,
    clock: options.clock,
  })
  const life = new AbortController()
  using limit = linkSignals([signal], { timeoutMs: openTimeoutMs })
  try {
    const answer = await abortable(openStream(endpoint, life.signal), limit.signal)
    const payload = options.payload ?? 'parsed'
    const connection = new HttpSseConnection({ endpoint, life, body: answer.body, payload, onDiagnostic })
    await abortable(connection.opened, limit.signal)
    return connection
  } catch (error) {
    life.abort(error)
    signal?.throwIfAborted()
    if (!limit.signal.aborted) throw error
    const text = `${endpoint.name} did not open a stream with an "endpoint" event within ${openTimeoutMs} ms.`
    throw new TransportError('timeout', text, { retryable: true, cause: error })
  }
}

async function openStream(endpoint: Endpoint, signal: AbortSignal): Promise<HttpAnswer> {
  const answer = await endpoint.request({
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    repeatable: true,
    signal,
  })
  const { status, headers } = answer
  if (status === 401 || status === 403 || status === 407) {
    void discard(answer.body, endpoint.clock)
    throw endpoint.authError(answer)
  }
  if (status === 200 && isSseType(headers['content-type'])) return answer
  const error = endpoint.statusError(answer, await readSome(answer.body, 65_536), true)
  const hint = error.retryable ? '' : ' If it speaks Streamable HTTP, do not name it as one of HTTP+SSE.'
  throw new TransportError(error.kind, `${error.message}${hint}`, { cause: error, retryable: error.retryable })
}
