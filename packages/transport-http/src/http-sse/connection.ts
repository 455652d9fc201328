import { type OnDiagnostic, type Principal, TransportError, type WireHints } from '@atenea/mcpcompat'
import {
  type Channel,
  channel,
  type Connection,
  encodeMessage,
  type Inbound,
  parseMessage,
  type RpcMessage,
  within,
} from '@atenea/mcpcompat/transport'
import type { Payload } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { SessionLostError } from '../http-errors.ts'
import { discard, readSome } from '../read-body.ts'
import { createSseDecoder, type SseEvent } from '../sse/decode.ts'

export interface HttpSseConnectionParts {
  /** Its URL is that of the stream until the server has named the one for messages. */
  readonly endpoint: Endpoint
  /** Aborts when the connection ends; every request of it ends with that. */
  readonly life: AbortController
  readonly body: AsyncIterable<Uint8Array>
  readonly payload: Payload
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** Bytes that may wait for the consumer before reading pauses. */
const pauseAtBytes = 4 * 1_048_576

/** How long a message waits for the server to take those before it. */
const orderMs = 2_000

/** How long notifications that are on their way hold up the end. */
const farewellMs = 1_000

const noHints: WireHints = Object.freeze({})

/**
 * One stream of a server and the POSTs that belong to it. Requests go out together; a notification waits for what was sent before it
 * and is waited for by what follows, so that a cancel comes after its request and `initialized` before the next one, for a bounded
 * time. A POST that fails fails its message; one that meets a forgotten session ends the connection.
 */
export class HttpSseConnection implements Connection {
  readonly inbound: AsyncIterable<readonly Inbound[]>
  /** Resolves when messages can be sent, rejects when that will never be. */
  readonly opened: Promise<void>
  readonly #parts: HttpSseConnectionParts
  readonly #inbox: Channel<readonly Inbound[]>
  /** Who is at the other end, as far as an origin tells. */
  readonly #principal: Principal
  readonly #posts = new Set<Promise<unknown>>()
  readonly #notifications = new Set<Promise<unknown>>()
  readonly #reading: Promise<void>
  #isOpen = false
  #open: () => void = () => undefined
  #refuse: (error: unknown) => void = () => undefined
  #end: TransportError | undefined

  constructor(parts: HttpSseConnectionParts) {
    this.#parts = parts
    this.#principal = { id: new URL(parts.endpoint.url).origin, authenticated: false }
    this.#inbox = channel({
      waitAtBytes: pauseAtBytes,
      maxBytes: Number.POSITIVE_INFINITY,
      onStop: async () => await this[Symbol.asyncDispose](),
    })
    this.inbound = this.#inbox
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve
      this.#refuse = reject
    })
    // Whoever dials looks at it; a stream that breaks before has nobody else.
    this.opened.catch(() => undefined)
    this.#reading = this.#read()
  }

  send(message: RpcMessage): Promise<void> {
    const sent = this.#post(message)
    const kept = sent.catch(() => undefined)
    const sets = message.kind === 'notification' ? [this.#posts, this.#notifications] : [this.#posts]
    for (const set of sets) set.add(kept)
    void kept.then(() => {
      for (const set of sets) set.delete(kept)
    })
    return sent
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { endpoint, life } = this.#parts
    if (this.#end === undefined) {
      this.#end = new TransportError('closed', `The connection to ${endpoint.name} is closed.`)
      await within(Promise.all(this.#notifications), farewellMs, endpoint.clock)
    }
    life.abort(this.#end)
    await this.#reading
    this.#inbox.end()
  }

  // what we say

  async #post(message: RpcMessage): Promise<void> {
    const { endpoint, life } = this.#parts
    if (this.#end !== undefined) throw this.#end
    const before = message.kind === 'notification' ? this.#posts : this.#notifications
    if (before.size > 0) await within(Promise.all(before), orderMs, endpoint.clock)
    if (life.signal.aborted) throw life.signal.reason
    const answer = await endpoint.request({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: encodeMessage(message),
      repeatable: false,
      signal: life.signal,
    })
    const { status } = answer
    if (status >= 200 && status < 300) {
      void discard(answer.body, endpoint.clock)
      return
    }
    if (status === 401 || status === 403 || status === 407) {
      void discard(answer.body, endpoint.clock)
      throw endpoint.authError(answer)
    }
    if (status === 404 || status === 410) {
      void discard(answer.body, endpoint.clock)
      const lost = new SessionLostError(`${endpoint.name} has forgotten the session.`)
      this.#fail(lost)
      throw lost
    }
    const text = await readSome(answer.body, endpoint.maxMessageBytes)
    const said = parseMessage(text, this.#parts.payload)
    // An answer where none is expected is as good as one on the stream.
    if (said.kind === 'error' && message.kind === 'request' && said.id === message.id) {
      void this.#inbox.push([this.#received(said)], text.length)
      return
    }
    throw endpoint.statusError(answer, text, false)
  }

  // what the server says

  async #read(): Promise<void> {
    const { endpoint, body } = this.#parts
    const decoder = createSseDecoder({ maxEventBytes: endpoint.maxMessageBytes })
    try {
      for await (const chunk of body) {
        const batch = decoder.push(chunk).flatMap((event) => this.#take(event))
        if (batch.length > 0) await this.#inbox.push(batch, chunk.length)
      }
      this.#fail(new TransportError('closed', `${endpoint.name} has ended its stream.`, { retryable: true }))
    } catch (error) {
      this.#fail(TransportError.is(error) ? error : new TransportError('closed', 'The stream broke.', { cause: error }))
    }
  }

  #take({ type, data }: SseEvent): readonly Inbound[] {
    if (type === 'endpoint') this.#moveTo(data)
    if (type !== 'message' || data === '') return []
    return [this.#received(parseMessage(data, this.#parts.payload))]
  }

  #received(message: Inbound['message']): Inbound {
    return { message, hints: noHints, principal: this.#principal }
  }

  /** The first address counts. Throws for one that is elsewhere. */
  #moveTo(address: string): void {
    const { endpoint, onDiagnostic } = this.#parts
    if (this.#isOpen) {
      onDiagnostic?.({
        level: 'warning',
        code: 'second-endpoint',
        message: `${endpoint.name} names an address for messages again; the first one stays.`,
      })
      return
    }
    const target = URL.canParse(address, endpoint.url) ? new URL(address, endpoint.url) : undefined
    const isOurs =
      target !== undefined &&
      target.origin === new URL(endpoint.url).origin &&
      target.username === '' &&
      target.password === ''
    if (!isOurs) {
      const text = `${endpoint.name} wants messages sent to another origin${target === undefined ? '' : ` (${target.origin.slice(0, 200)})`}, which is refused.`
      throw new TransportError('protocol', text)
    }
    endpoint.moveTo(target.href)
    this.#isOpen = true
    this.#open()
  }

  #fail(error: TransportError): void {
    this.#refuse(error)
    if (this.#end === undefined) {
      this.#end = error
      this.#inbox.end(error)
    }
    this.#parts.life.abort(error)
  }
}
