import { isUtf8 } from 'node:buffer'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { isSseType, withResolvers } from '@atenea/mcpcompat/transport'
import { createSseDecoder, type SseDecoder } from '@atenea/transport-http'
import { createAgents } from '@atenea/transport-http/node'
import type { Answer, HttpPart } from './answer.ts'
import { decodedBody } from './content-coding.ts'
import type { Stage, WireFailure } from './failure.ts'
import { type Junk, type Received, readReceived } from './received.ts'

/** Larger answers are cut; no client reads so much. */
const maxBodyBytes = 16 * 1024 * 1024
/** What is kept of a body for evidence. */
const keptCharacters = 2_000
/** How long an unused connection is kept; below the 5 s of most servers. */
const idleTimeoutMs = 4_000
/** How long a stream may stay open after its response. */
const graceMs = 500

/** One HTTP request as it goes out. */
export interface HttpAsk {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly timeoutMs: number
  /** Whether to stop reading a stream after this message; at the response if left out. */
  readonly stopAt?: ((message: Received) => boolean) | undefined
  /** The answer is whole once its head came. */
  readonly headOnly?: boolean | undefined
  /** A stream is read until so long nothing more came. */
  readonly quietMs?: number | undefined
  readonly idText?: string | undefined
}

/** When each stage of one exchange began and ended, in milliseconds of `performance.now()`. Stages that a kept connection saves are missing. */
export type Marks = Partial<Record<'dns' | 'tcp' | 'tls' | 'http' | 'firstByte', { from: number; to?: number }>>

export interface HttpExchange extends Answer {
  readonly marks: Marks
  /** Whether it failed on a kept connection before anything came. */
  readonly wasStale: boolean
}

/** Requests to one URL, each seen as it is on the wire. */
export interface HttpWire extends Disposable {
  readonly url: URL
  /** Never rejects but with the reason of an aborted signal. */
  send(ask: HttpAsk): Promise<HttpExchange>
}

/**
 * Connections are kept and used again, so only the first exchange shows how one is made. Goes through the proxies that the environment
 * names, as clients do.
 */
export function createHttpWire(target: URL, signal: AbortSignal): HttpWire {
  const agents = createAgents({ idleTimeoutMs })
  const isAddress = isIP(target.hostname.replace(/^\[|\]$/g, '')) !== 0
  const options = urlToHttpOptions(target)
  return {
    url: target,
    send: async (ask) => {
      signal.throwIfAborted()
      const agent = await agents.of(target.href)
      const start: Way['start'] = (headers) =>
        agent.request({ ...options, method: ask.method, headers, agent: agent.agent })
      const way = { isAddress, start, ...(agent.proxy !== undefined && { proxy: agent.proxy }) }
      const exchange = await new Exchange(ask, signal, way).done
      if (!exchange.wasStale) return exchange
      // A kept connection that the server closed as it was used again says nothing about the server.
      agent.closeIdle()
      return await new Exchange(ask, signal, way).done
    },
    [Symbol.dispose]: () => agents.close(),
  }
}

/** How requests to the target are made. */
interface Way {
  /** Whether the host is an address, so that no name is looked up. */
  readonly isAddress: boolean
  readonly proxy?: string
  start(headers: Record<string, string>): ClientRequest
}

class Exchange {
  readonly done: Promise<HttpExchange>
  readonly #ask: HttpAsk
  readonly #way: Way
  readonly #started = performance.now()
  readonly #marks: Marks = {}
  readonly #others: Received[] = []
  readonly #junk: Junk[] = []
  readonly #request: ClientRequest
  readonly #timer: NodeJS.Timeout
  readonly #settle: (exchange: HttpExchange) => void
  #stage: Stage = 'http'
  #response: Received | undefined
  #head: IncomingMessage | undefined
  #decoder: SseDecoder | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #text = ''
  #leftOpen = false
  #otherEvent: string | undefined
  #isUtf8 = true
  #grace: NodeJS.Timeout | undefined
  #isDone = false

  constructor(ask: HttpAsk, signal: AbortSignal, way: Way) {
    this.#ask = ask
    this.#way = way
    const body = ask.body === undefined ? undefined : Buffer.from(ask.body)
    const { promise, resolve, reject } = withResolvers<HttpExchange>()
    this.done = promise
    this.#settle = resolve
    this.#request = way.start({
      ...ask.headers,
      ...(body !== undefined && { 'content-length': String(body.length) }),
    })
    this.#timer = setTimeout(
      () => this.#fail('timeout', undefined, `nothing more within ${ask.timeoutMs} ms`),
      ask.timeoutMs,
    )
    const onAbort = (): void => {
      this.#isDone = true
      this.#release()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    void promise.finally(() => signal.removeEventListener('abort', onAbort)).catch(() => undefined)
    this.#request.on('socket', (socket) => this.#watch(socket))
    this.#request.on('error', (error) => this.#onError(error))
    this.#request.on('response', (head) => this.#onHead(head))
    this.#request.end(body)
  }

  /** Follows the making of a connection, unless one was kept. */
  #watch(socket: Socket): void {
    const begin = (stage: 'dns' | 'tcp' | 'tls' | 'http'): void => {
      this.#stage = stage
      this.#marks[stage] = { from: performance.now() }
    }
    const end = (stage: 'dns' | 'tcp' | 'tls'): void => {
      const mark = this.#marks[stage]
      if (mark !== undefined) mark.to = performance.now()
    }
    if (!socket.connecting) {
      begin('http')
      return
    }
    const isTls = 'encrypted' in socket
    // an address needs no lookup
    begin(this.#way.isAddress ? 'tcp' : 'dns')
    socket.once('lookup', (error: Error | null) => {
      if (error !== null) return
      end('dns')
      begin('tcp')
    })
    socket.once('connect', () => {
      end('tcp')
      begin(isTls ? 'tls' : 'http')
    })
    socket.once('secureConnect', () => {
      end('tls')
      begin('http')
    })
  }

  #onHead(head: IncomingMessage): void {
    this.#head = head
    this.#stage = 'body'
    const now = performance.now()
    if (this.#marks.http !== undefined) this.#marks.http.to = now
    this.#marks.firstByte = { from: now }
    if (isSseType(head.headers['content-type'])) this.#decoder = createSseDecoder({ maxEventBytes: maxBodyBytes })
    if (this.#ask.headOnly === true) {
      this.#finish()
      return
    }
    const body = decodedBody(head)
    body.on('data', (chunk: Buffer) => this.#onChunk(chunk))
    body.on('end', () => this.#onEnd())
    body.on('error', (error) => this.#onError(error))
  }

  #onChunk(chunk: Buffer): void {
    if (this.#isDone) return
    const mark = this.#marks.firstByte
    if (mark !== undefined) mark.to ??= performance.now()
    this.#bytes += chunk.length
    if (this.#text.length < keptCharacters) this.#text += chunk.toString('utf8').slice(0, keptCharacters)
    if (this.#bytes > maxBodyBytes) {
      this.#fail('too-large', undefined, `more than ${maxBodyBytes / 1024 / 1024} MiB`)
      return
    }
    if (this.#decoder === undefined) {
      this.#chunks.push(chunk)
      return
    }
    for (const { type, data } of this.#decoder.push(chunk)) {
      if (type !== 'message' && data !== '') this.#otherEvent ??= type
      this.#onMessage(data)
    }
  }

  #onMessage(text: string): void {
    if (this.#isDone || text === '') return
    const message = readReceived(text)
    if (message.kind === 'junk') {
      this.#junk.push(message)
      this.#awaitQuiet()
      return
    }
    this.#sort(message)
    const { stopAt, quietMs } = this.#ask
    if (quietMs !== undefined) {
      this.#awaitQuiet()
      return
    }
    if (stopAt === undefined ? message.kind !== 'response' : !stopAt(message)) return
    this.#grace ??= setTimeout(() => this.#cut(), stopAt === undefined ? graceMs : 0)
  }

  #awaitQuiet(): void {
    const { quietMs } = this.#ask
    if (quietMs === undefined) return
    clearTimeout(this.#grace)
    this.#grace = setTimeout(() => this.#cut(), quietMs)
  }

  /** The first response is the answer, unless one comes that has the right id. */
  #sort(message: Received): void {
    const known = this.#response
    if (message.kind !== 'response') this.#others.push(message)
    else if (known === undefined) this.#response = message
    else if (known.idText !== this.#ask.idText && message.idText === this.#ask.idText) {
      this.#response = message
      this.#others.push(known)
    } else this.#others.push(message)
  }

  /** The stream goes on, and nobody needs the rest. */
  #cut(): void {
    this.#leftOpen = true
    this.#finish()
  }

  #onEnd(): void {
    if (this.#isDone) return
    if (this.#decoder === undefined) {
      const bytes = Buffer.concat(this.#chunks)
      this.#isUtf8 = isUtf8(bytes)
      const text = bytes.toString('utf8')
      if (/\S/.test(text)) this.#onMessage(text)
    }
    this.#finish()
  }

  #onError(error: Error): void {
    const { code } = error as { readonly code?: unknown }
    const inner =
      error instanceof AggregateError ? (error.errors as readonly Error[]).map(({ message }) => message) : []
    const message = [error.message, ...inner].filter((text) => text !== '').join('; ')
    // the answer may have been whole before the connection broke
    const kind = this.#stage === 'body' ? 'closed' : 'unreachable'
    this.#fail(kind, typeof code === 'string' ? code : undefined, message)
  }

  #fail(kind: WireFailure['kind'], code: string | undefined, message: string): void {
    const { proxy } = this.#way
    this.#finish({
      kind,
      stage: this.#stage,
      message,
      ...(code !== undefined && { code }),
      ...(proxy !== undefined && { proxy }),
    })
  }

  #finish(failure?: WireFailure): void {
    if (this.#isDone) return
    this.#isDone = true
    const now = performance.now()
    for (const mark of Object.values(this.#marks)) mark.to ??= now
    this.#release()
    this.#settle({
      idText: this.#ask.idText,
      response: this.#response,
      others: this.#others,
      junk: this.#junk,
      http: this.#head === undefined ? undefined : this.#part(this.#head),
      failure: this.#response === undefined ? failure : undefined,
      durationMs: now - this.#started,
      marks: this.#marks,
      wasStale: failure?.kind === 'unreachable' && this.#head === undefined && this.#request.reusedSocket,
    })
  }

  #part(head: IncomingMessage): HttpPart {
    const headers = Object.entries(head.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ])
    return {
      status: head.statusCode ?? 0,
      headers: Object.fromEntries(headers) as Record<string, string>,
      body: this.#text.slice(0, keptCharacters),
      isEventStream: this.#decoder !== undefined,
      lastEventId: this.#decoder?.lastEventId,
      otherEvent: this.#otherEvent,
      isUtf8: this.#isUtf8,
      leftOpen: this.#leftOpen,
    }
  }

  #release(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#grace)
    this.#chunks = []
    // A kept connection that has more to say would say it into the next exchange.
    if (this.#head?.complete !== true) this.#request.destroy()
  }
}
