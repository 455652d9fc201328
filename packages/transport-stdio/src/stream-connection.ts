import type { Readable, Writable } from 'node:stream'
import {
  type Diagnostic,
  type OnDiagnostic,
  type Principal,
  type RpcId,
  TransportError,
  type WireHints,
  rpcCode,
} from '@atenea/mcpcompat'
import {
  type Connection,
  type Inbound,
  type RpcReject,
  answeredId,
  channel,
  encodeMessage,
  parseMessage,
  safeDiagnostics,
} from '@atenea/mcpcompat/transport'
import { type LineFault, createLineFramer, defaultMaxLineBytes } from './line-framer.ts'
import { type WriteText, createOutbox } from './outbox.ts'

/** What every carrier of this package can be told. */
export interface LineOptions {
  /** How payloads come: `parsed` for those who look into them, `text` for those who relay them. Default `parsed`. */
  readonly payload?: 'parsed' | 'text' | undefined
  /** Bytes that one message may have. A longer one is skipped and reported as a reject. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined
  /** How long output that the peer does not read holds up a close, or a sender once the peer has ended its side. Default 2,000 ms. */
  readonly flushTimeoutMs?: number | undefined
  /**
   * Bytes that may wait for a peer that takes none of them. When more have waited for a minute the connection breaks, and what is open on it
   * fails. Default 256 MiB.
   */
  readonly maxUnreadBytes?: number | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
}

export interface StreamConnectionParts extends LineOptions {
  readonly readable: Readable
  readonly writable: Writable
  /** Default `writable.write`. */
  readonly writeText?: WriteText | undefined
  /** Who is at the other end. */
  readonly principal: Principal
  /** For messages to people, such as `stdin` or `server "npx"`. */
  readonly peerName: string
  /**
   * The peer has ended its output, or the streams broke (`error`). Return an error to throw it from the iteration, or
   * `undefined` to end it in order. May be called once only.
   */
  onPeerEnd(error: Error | undefined): TransportError | undefined | Promise<TransportError | undefined>
  /** Runs once when the connection closes, after the output was flushed. */
  teardown(): Promise<void>
}

export interface StreamConnection extends Connection {
  /** Stops reading and ends the iteration in order, as if the peer had ended its output. What was received still comes. */
  endInput(): void
  /** Ends the iteration with an error after what was received. */
  fail(error: TransportError): void
}

/** Bytes that may wait for the consumer before reading pauses. */
const pauseAtBytes = 4 * 1024 * 1024

const lastWordsMs = 200

/** How long a peer may take nothing of more than it should have been sent. A stream tells of what was taken in one piece only when all of it was. */
const unreadMs = 60_000

const noHints: WireHints = Object.freeze({})

/** No messages, which no chunk that is still to come may change. */
const nothing: Inbound[] = Object.freeze<Inbound[]>([]) as Inbound[]

/** Newline-framed messages over a pair of byte streams (MS-FRM-01, MS-FRM-06). Owns both streams as far as `teardown` does. */
export function createStreamConnection(parts: StreamConnectionParts): StreamConnection {
  const { readable, writable, principal, peerName } = parts
  const payload = parts.payload ?? 'parsed'
  const maxLineBytes = parts.maxLineBytes ?? defaultMaxLineBytes
  const flushTimeoutMs = parts.flushTimeoutMs ?? 2_000
  const { maxUnreadBytes = 256 * 1024 * 1024 } = parts
  const outbox = createOutbox(writable, parts.writeText ?? ((text, callback) => writable.write(text, callback)), {
    maxBytes: maxUnreadBytes,
    patienceMs: unreadMs,
    onExceeded: giveUp,
  })
  /** Why nothing can be sent any more. */
  let sendError: TransportError | undefined
  let closing: Promise<void> | undefined
  let peerEnded = false
  let peerSpoke = false
  /** How the line begins that is being skipped. */
  let skippedHead: string | undefined
  let batch = nothing

  const inbox = channel<readonly Inbound[]>({
    waitAtBytes: pauseAtBytes,
    maxBytes: Number.POSITIVE_INFINITY,
    onStop: close,
  })

  const framer = createLineFramer(
    {
      line(text) {
        const message = parseMessage(text, payload)
        if (message.kind !== 'reject') peerSpoke = true
        const inbound: Inbound = { message, hints: noHints, principal }
        // Most chunks hold one message, and the first `push` makes room for seventeen.
        if (batch.length === 0) batch = [inbound]
        else batch.push(inbound)
      },
      fault(fault, head, tail) {
        skippedHead = fault === 'too-long' && tail === '' ? head : undefined
        if (fault === 'content-length' && !peerSpoke) void peerEnd(contentLengthError(peerName))
        else take(rejectOf(fault, maxLineBytes, answeredId(head, tail)))
      },
      skipped(tail) {
        const head = skippedHead ?? ''
        // Where the head told it, it was told already.
        const id = answeredId(head, '') === undefined ? answeredId(head, tail) : undefined
        if (id !== undefined) take(rejectOf('too-long', maxLineBytes, id))
      },
    },
    { maxLineBytes },
  )

  function take(message: RpcReject): void {
    batch = [...batch, { message, hints: noHints, principal }]
  }

  function onData(chunk: Buffer): void {
    framer.push(chunk)
    if (batch.length === 0) return
    const full = batch
    batch = nothing
    // Who relays what came answers later, when there is no turn that gathers answers.
    if (payload === 'parsed') outbox.turnStarted()
    const room = inbox.push(full, chunk.length)
    if (room === undefined) return
    readable.pause()
    void room.then(() => {
      if (!peerEnded) readable.resume()
    })
  }

  /** The first of: end of the input, a broken stream, a peer that cannot be understood. */
  async function peerEnd(error: Error | undefined): Promise<void> {
    if (peerEnded) return
    stopReading()
    const discarded = framer.end()
    if (discarded > 0 && closing === undefined) {
      report('warning', 'partial-line', `${peerName} ended in the middle of a line; ${discarded} bytes were discarded`)
    }
    const failure = TransportError.is(error) ? error : await parts.onPeerEnd(error)
    if (failure !== undefined) sendError ??= failure
    limitWaits()
    inbox.end(failure)
  }

  function stopReading(): void {
    peerEnded = true
    readable.off('data', onData)
    readable.pause()
  }

  function giveUp(): void {
    sendError ??= new TransportError(
      'closed',
      `${peerName} does not read, and more than ${maxUnreadBytes} bytes wait for it`,
    )
    outbox.release()
    void peerEnd(sendError)
  }

  /** A peer that says nothing more may be one that does not read any more either, and whoever waits for it would wait for ever. */
  function limitWaits(): void {
    outbox.limitWaits(flushTimeoutMs, () => {
      sendError ??= new TransportError('closed', `${peerName} has ended its side and does not read`)
      outbox.release()
    })
  }

  /** What the peer wrote before it stopped reading may still be on its way to us, so the end of its output gets a moment to come. */
  function onUnwritable(error: Error): void {
    sendError ??= gone(peerName, error)
    setTimeout(() => void peerEnd(error), lastWordsMs)
  }

  function report(level: Diagnostic['level'], code: string, message: string): void {
    safeDiagnostics(parts.onDiagnostic)?.({ level, code, message })
  }

  async function close(): Promise<void> {
    closing ??= (async () => {
      if (!peerEnded) stopReading()
      if (sendError === undefined) await outbox.flush(flushTimeoutMs)
      sendError ??= new TransportError('closed', `the connection to ${peerName} is closed`)
      outbox.release()
      await parts.teardown()
      inbox.end()
    })()
    await closing
  }

  readable.on('data', onData)
  readable.on('end', () => void peerEnd(undefined))
  readable.on('error', (error) => void peerEnd(error))
  readable.on('close', () => void peerEnd(undefined))
  writable.on('error', onUnwritable)

  return {
    inbound: inbox,
    send(message) {
      if (sendError === undefined) return outbox.put(encodeMessage(message))
      // A sender who does not look must not bring the process down because a peer has left.
      const refused = Promise.reject<void>(sendError)
      refused.catch(() => undefined)
      return refused
    },
    endInput() {
      if (peerEnded) return
      stopReading()
      limitWaits()
      inbox.end()
    },
    fail(error) {
      sendError ??= error
      if (!peerEnded) stopReading()
      inbox.end(error)
    },
    [Symbol.asyncDispose]: close,
  }
}

/** `id`: what it was to answer, where that is known. */
function rejectOf(fault: LineFault, maxLineBytes: number, id: RpcId | undefined): RpcReject {
  const like = id === undefined ? {} : { like: 'response' as const }
  switch (fault) {
    case 'invalid-utf8':
      return { kind: 'reject', code: rpcCode.parseError, reason: 'not UTF-8', id, ...like }
    case 'too-long':
      return { kind: 'reject', code: rpcCode.invalidRequest, reason: `over ${maxLineBytes} bytes`, id, ...like }
    case 'content-length':
      return { kind: 'reject', code: rpcCode.parseError, reason: 'not JSON: a Content-Length header', id, ...like }
  }
}

function contentLengthError(peerName: string): TransportError {
  return new TransportError(
    'protocol',
    `${peerName} uses Content-Length framing, as language servers do; MCP over stdio is one JSON message per line. ` +
      'Start the peer in its MCP mode, or put a converter between.',
  )
}

function gone(peerName: string, cause: Error): TransportError {
  return new TransportError('closed', `${peerName} does not take messages any more (${cause.message})`, { cause })
}
