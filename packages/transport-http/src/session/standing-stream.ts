import type { Diagnostic } from '@atenea/mcpcompat'
import { type Clock, isSseType, type RpcMessage, type RpcReject } from '@atenea/mcpcompat/transport'
import { MessageStream, type Payload } from '../answer.ts'
import { discard } from '../read-body.ts'
import { parseRetryAfter } from '../retry-after.ts'
import type { HttpAnswer } from '../send.ts'
import { backoffMs, wait } from '../wait.ts'

export interface StandingStreamOptions {
  /** Opens the stream, or takes it up again after the event of that id. */
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<HttpAnswer>
  /** The stream is open. */
  readonly onOpen: () => void
  readonly deliver: (message: RpcMessage | RpcReject) => void
  /** The server does not know the session any more (field report C5). `heard`: the stream had been open before. */
  readonly onGone: (heard: boolean) => void
  readonly signal: AbortSignal
  readonly payload: Payload
  readonly maxEventBytes: number
  readonly clock: Clock
  readonly onDiagnostic: ((diagnostic: Diagnostic) => void) | undefined
}

const backoff = { firstMs: 1_000, maxMs: 60_000 }

/** A stream that was open for this long did its work, even when nothing came. */
const healthyMs = 30_000

/** Pauses above this are refused to a server; it can ask for more, but not for ever. */
const maxAskedMs = 300_000

/**
 * Keeps the stream open on which a legacy server sends what belongs to no request (LG-GET-01, -03), until the signal aborts or the server
 * shows that it has none. Never rejects. Streams that end or fail are opened again with a growing pause, a minute at the most; only
 * a message, or half a minute of being open, brings the pause back to its beginning (field report C7).
 */
export async function keepStream(options: StandingStreamOptions): Promise<void> {
  const { signal, clock } = options
  let attempt = 0
  let heard = false
  let lastEventId: string | undefined
  let askedMs: number | undefined
  try {
    for (;;) {
      const opened = clock.now()
      const end = await openOnce(options, lastEventId)
      if (end.kind === 'gone') {
        options.onGone(heard)
        return
      }
      if (end.kind === 'none') return
      if (end.kind === 'read') {
        heard = true
        lastEventId = end.lastEventId ?? lastEventId
        askedMs = end.retryMs ?? askedMs
      }
      const wasGood = end.kind === 'read' && (end.messages > 0 || clock.now() - opened >= healthyMs)
      attempt = wasGood ? 0 : attempt + 1
      const asked = Math.min(maxAskedMs, (end.kind === 'failed' ? end.retryAfterMs : undefined) ?? askedMs ?? 0)
      await wait(backoffMs(attempt, asked, backoff), signal, clock, false)
    }
  } catch (error) {
    // The signal is the one thing that ends it from outside.
    if (!signal.aborted) report(options, 'error', 'stream-failed', 'The stream of the session was given up.', error)
  }
}

type StreamEnd =
  | {
      readonly kind: 'read'
      readonly messages: number
      readonly lastEventId: string | undefined
      readonly retryMs: number | undefined
    }
  /** Try again later. */
  | { readonly kind: 'failed'; readonly retryAfterMs: number | undefined }
  /** The server offers no such stream. */
  | { readonly kind: 'none' }
  | { readonly kind: 'gone' }

async function openOnce(options: StandingStreamOptions, lastEventId: string | undefined): Promise<StreamEnd> {
  const { signal, clock } = options
  let answer: HttpAnswer
  try {
    answer = await options.open(lastEventId, signal)
  } catch (cause) {
    signal.throwIfAborted()
    report(
      options,
      'debug',
      'stream-unreachable',
      'The stream of the session could not be opened; it is tried again.',
      cause,
    )
    return { kind: 'failed', retryAfterMs: undefined }
  }
  const { status, headers } = answer
  if (status === 200 && isSseType(headers['content-type'])) {
    options.onOpen()
    return await read(options, answer)
  }
  void discard(answer.body, clock)
  if (status === 404) return { kind: 'gone' }
  // A wall that asks for credentials may open later, and so may what is overloaded.
  if (status === 401 || status === 408 || status === 425 || status === 429 || status >= 500) {
    report(
      options,
      'debug',
      'stream-refused',
      `The server refused the stream of the session with ${status}; it is tried again.`,
    )
    return { kind: 'failed', retryAfterMs: parseRetryAfter(headers['retry-after']) }
  }
  const level = status === 405 ? 'debug' : 'warning'
  report(
    options,
    level,
    'no-stream',
    `The server offers no stream for the session (${status}); what it would send there is missed.`,
  )
  return { kind: 'none' }
}

async function read(options: StandingStreamOptions, answer: HttpAnswer): Promise<StreamEnd> {
  const stream = new MessageStream(answer.body, options.maxEventBytes, options.payload)
  let messages = 0
  try {
    for await (const message of stream) {
      messages++
      options.deliver(message)
    }
  } catch (cause) {
    options.signal.throwIfAborted()
    report(options, 'debug', 'stream-broke', 'The stream of the session broke; it is opened again.', cause)
  }
  return { kind: 'read', messages, lastEventId: stream.lastEventId, retryMs: stream.retryMs }
}

function report(
  { onDiagnostic }: StandingStreamOptions,
  level: Diagnostic['level'],
  code: string,
  message: string,
  cause?: unknown,
): void {
  onDiagnostic?.({ level, code, message, cause })
}
