import {
  type Diagnostic,
  type Implementation,
  type JsonObject,
  RpcError,
  type RpcId,
  TransportError,
} from '@atenea/mcpcompat'
import type { AbortOptions, RevisionPolicy, Root } from '@atenea/mcpcompat'
import {
  createClientSession,
  encodeMessage,
  headerName,
  type InitializedServer,
  type LegacyClient,
  linkSignals,
  lostCall,
  memberOf,
  type PeerPort,
  type PeerSession,
  type RpcMessage,
  type RpcReject,
  type RpcRequest,
} from '@atenea/mcpcompat/transport'
import { type Payload, readAnswer, type ReadAnswerOptions } from '../answer.ts'
import { CallEnd, OpenRequests } from '../call-end.ts'
import { type Endpoint, type EndpointRequest, PostRequest } from '../endpoint.ts'
import { SessionLostError } from '../http-errors.ts'
import { discard } from '../read-body.ts'
import { isRepeatable } from '../repeatable.ts'
import type { HttpAnswer } from '../send.ts'
import { AnswerStreams } from './answer-streams.ts'
import { SessionFields } from './session-fields.ts'
import { keepStream } from './standing-stream.ts'
import { StreamOffer } from './stream-offer.ts'

export interface HttpSessionOptions {
  readonly endpoint: Endpoint
  readonly policy: RevisionPolicy
  /** What `initialize` offers; the newest accepted legacy revision when left out. */
  readonly revision: string | undefined
  readonly info: Implementation
  readonly capabilities: JsonObject
  readonly relayFor: PeerSession | undefined
  readonly roots: readonly Root[] | undefined
  readonly nextId: () => RpcId
  /** Whether a 404 for the very first stream of a session means that the session is gone. It did not help to believe that before: `false`. */
  readonly believesFirst404: boolean
  readonly payload: Payload
  readonly onDiagnostic: ((diagnostic: Diagnostic) => void) | undefined
}

/** What showed that the server has forgotten a session: a request, the stream that had been open, or the first attempt to open it. */
export type SessionLoss = 'request' | 'stream' | 'first-stream'

/** How long requests that follow the handshake wait for the server to take `notifications/initialized`. */
const initializedMs = 10_000

/** How long the server has to answer what we tell it at the end. */
const farewellMs = 2_000

/** Calls of a session that was lost may still be answered for this long. */
const lostSessionMs = 10_000

/**
 * One legacy session over HTTP: the handshake, one POST for each message (LG-HTTP-03), the streams of its answers, which are taken up again
 * where the server gave ids, and the end. What the messages mean is for the client in it. A session that the server has forgotten is
 * over; `lost` says so, and the calls that met it reject with a `SessionLostError`.
 */
export class HttpSession {
  readonly client: LegacyClient
  /** Resolves when the server has forgotten the session, with what showed it. */
  readonly gone: Promise<SessionLoss>
  readonly #options: HttpSessionOptions
  readonly #endpoint: Endpoint
  readonly #streams: AnswerStreams
  readonly #life = new AbortController()
  /** Requests whose answer has not come. */
  readonly #open = new OpenRequests()
  readonly #readOnce: ReadAnswerOptions
  readonly #readAgain: ReadAnswerOptions
  readonly #fields = new SessionFields()
  readonly #offer = new StreamOffer()
  #tellGone: (loss: SessionLoss) => void = () => undefined
  #isLost = false
  #ready: Promise<void> | undefined
  #handshakeFailure: unknown
  #closing: Promise<void> | undefined
  /** Messages that are still to be sent after the end has begun. */
  #farewells: Promise<unknown>[] | undefined

  constructor(options: HttpSessionOptions) {
    const { endpoint, policy, revision, info, capabilities, relayFor, roots, nextId, onDiagnostic } = options
    this.#options = options
    this.#endpoint = endpoint
    this.#readOnce = { endpoint, payload: options.payload, repeatable: false }
    this.#readAgain = { endpoint, payload: options.payload, repeatable: true }
    this.gone = new Promise((resolve) => {
      this.#tellGone = resolve
    })
    this.#streams = new AnswerStreams({
      endpoint,
      payload: options.payload,
      open: async (lastEventId, signal) => this.#checked(await this.#get(lastEventId, signal)),
      take: (message, request) => this.#take(message, request),
    })
    const port: PeerPort = {
      send: (message) => this.#send(message),
      clock: endpoint.clock,
      hearsUnasked: () => this.#offer.shown,
    }
    this.client = createClientSession(port, {
      policy,
      info,
      capabilities,
      nextId,
      onDiagnostic,
      relayFor,
      roots,
      ...(revision !== undefined && { revision }),
    })
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** The handshake. Rejects as `LegacyClient.initialize` does, or with what the way to the server failed with. */
  async initialize(options: AbortOptions): Promise<InitializedServer> {
    try {
      return await this.client.initialize(options)
    } catch (error) {
      throw options.signal?.aborted === true || RpcError.is(error) ? error : (this.#handshakeFailure ?? error)
    }
  }

  /** Keeps the stream open for what belongs to no request, once the handshake is done, until the server shows that it offers none. */
  async listen(): Promise<void> {
    const settle = this.#offer.expect(this.#endpoint.clock)
    try {
      await this.#ready
      if (!this.#life.signal.aborted && !this.#isLost) await this.#keepStream(() => settle(true))
    } finally {
      settle(false)
    }
  }

  async #keepStream(onOpen: () => void): Promise<void> {
    const { payload, onDiagnostic } = this.#options
    await keepStream({
      open: async (lastEventId, signal) => await this.#get(lastEventId, signal),
      onOpen,
      deliver: (message) => this.#take(message, undefined),
      onGone: (heard) => this.#streamGone(heard),
      signal: this.#life.signal,
      payload,
      maxEventBytes: this.#endpoint.maxMessageBytes,
      clock: this.#endpoint.clock,
      onDiagnostic,
    })
  }

  /** A server without sessions, or one that answers 404 where others answer 405, only has no stream. */
  #streamGone(heard: boolean): void {
    if (this.#fields.hasId && (heard || this.#options.believesFirst404)) {
      this.#lose(heard ? 'stream' : 'first-stream')
    } else {
      this.#report(
        'warning',
        'no-stream',
        'The server offers no stream for the session (404); what it would send there is missed.',
      )
    }
  }

  /** Ends the session: open calls fail at once, and the server is told, within bounds. */
  close(cause?: unknown): Promise<void> {
    this.#closing ??= this.#close(cause)
    return this.#closing
  }

  async #close(cause: unknown): Promise<void> {
    const farewells: Promise<unknown>[] = []
    this.#farewells = farewells
    this.client.abandon()
    this.client.closed(cause)
    using limit = linkSignals([], { timeoutMs: farewellMs })
    try {
      await Promise.race([Promise.allSettled(farewells), aborted(limit.signal)])
      await this.#delete(limit.signal)
    } catch {
      // The server learns of the end, or it does not.
    }
    this.#endLife(new DOMException('The connection has ended', 'AbortError'))
  }

  #endLife(reason: unknown): void {
    this.#life.abort(reason)
    this.#open.abort(reason)
  }

  async #delete(signal: AbortSignal): Promise<void> {
    if (!this.#fields.hasId || this.#isLost) return
    // LG-SESS-07; a server that lets nobody end a session answers 405.
    const answer = await this.#endpoint.request({
      method: 'DELETE',
      headers: this.#fields.all,
      signal,
      repeatable: true,
      plain: true,
      unattended: true,
    })
    await discard(answer.body, this.#endpoint.clock)
  }

  // what the client sends

  #send(message: RpcMessage): Promise<void> {
    if (this.#isLost) return Promise.reject(this.#lostError())
    if (message.kind === 'request') return this.#request(message)
    const posting = this.#post(message)
    this.#farewells?.push(posting)
    if (message.kind === 'notification' && message.method === 'notifications/initialized') {
      const ready = this.#settled(posting)
      this.#ready = ready
      void ready.then(() => {
        if (this.#ready === ready) this.#ready = undefined
      })
    }
    return posting
  }

  /** Settled or too late: what comes after must wait for it, but not for ever. */
  async #settled(posting: Promise<void>): Promise<void> {
    const { clock } = this.#endpoint
    let timer: Disposable | undefined
    const late = new Promise<void>((resolve) => {
      timer = clock.after(initializedMs, resolve, { holdsProcess: true })
    })
    await Promise.race([posting, late]).catch(() => undefined)
    timer?.[Symbol.dispose]()
  }

  /** A notification or an answer to the server, which takes it without a word. */
  async #post(message: RpcMessage): Promise<void> {
    const isInitialized = message.kind === 'notification' && message.method === 'notifications/initialized'
    if (!isInitialized && this.#ready !== undefined) await this.#ready
    using end = this.#begin().limit(60_000)
    try {
      const answer = await this.#exchange(encodeMessage(message), false, end)
      await discard(answer.body, this.#endpoint.clock)
      if (answer.status >= 400) {
        this.#report(
          'warning',
          'message-refused',
          `${this.#endpoint.name} refused ${describe(message)} with ${answer.status}.`,
        )
      }
    } finally {
      this.#open.delete(end)
      // The server was told that nobody waits; closing the stream alone would not cancel anything here (LG-HTTP-08).
      if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        const id = memberOf(message.params, 'requestId') as RpcId | undefined
        if (id !== undefined) this.#open.find(id)?.abort(new DOMException('The call was cancelled', 'AbortError'))
      }
    }
  }

  /** Sends a request and reads until its answer has come. Rejects when none will. */
  async #request(message: RpcRequest): Promise<void> {
    const isHandshake = message.method === 'initialize'
    const end = this.#begin(message.id)
    try {
      if (this.#ready !== undefined) await this.#ready
      const repeatable = isRepeatable(message.method)
      const answer = await this.#exchange(encodeMessage(message), repeatable, end, isHandshake)
      if (isHandshake) this.#takeSessionId(answer)
      const content = await readAnswer(answer, repeatable ? this.#readAgain : this.#readOnce)
      if (content.kind === 'stream') {
        await this.#streams.follow(content.stream, message, end)
      } else if (content.kind === 'nothing' || !this.#take(content.message, message)) {
        const said =
          content.kind === 'message' && content.message.kind === 'reject' ? `: ${content.message.reason}` : ''
        throw lostCall(
          new TransportError(
            'protocol',
            `${this.#endpoint.name} answered with ${answer.status} and no answer in it${said}`,
          ),
        )
      }
    } catch (error) {
      const failure =
        TransportError.is(error) && error.kind === 'closed' && !SessionLostError.is(error) ? lostCall(error) : error
      if (isHandshake) this.#handshakeFailure = failure
      throw failure
    } finally {
      this.#open.delete(end)
      end[Symbol.dispose]()
    }
  }

  /** What ends a request; it is one of those that end with the session. */
  #begin(id?: RpcId): CallEnd {
    const end = new CallEnd(id)
    if (this.#life.signal.aborted) end.abort(this.#life.signal.reason)
    else this.#open.add(end)
    return end
  }

  async #exchange(body: string, repeatable: boolean, end: CallEnd, keepsRefusal = false): Promise<HttpAnswer> {
    const request = new PostRequest(this.#fields.post, body, repeatable, end, keepsRefusal)
    return this.#checked(await this.#endpoint.request(request))
  }

  /** With a session id sent, 404 means that the session is over. */
  #checked(answer: HttpAnswer): HttpAnswer {
    if (answer.status !== 404 || !this.#fields.hasId) return answer
    void discard(answer.body, this.#endpoint.clock)
    this.#lose('request')
    throw this.#lostError()
  }

  async #get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    const headers: Record<string, string> = { ...this.#fields.all, accept: 'text/event-stream' }
    if (lastEventId !== undefined) headers[headerName.lastEventId] = lastEventId
    const request: EndpointRequest = { method: 'GET', headers, signal, repeatable: true, plain: true, unattended: true }
    return await this.#endpoint.request(request)
  }

  #takeSessionId({ headers, body }: HttpAnswer): void {
    const id = headers[headerName.sessionId]
    if (id === undefined || this.#fields.takeId(id)) return
    void discard(body, this.#endpoint.clock)
    throw new TransportError('protocol', `${this.#endpoint.name} gave a session id that no header can hold`)
  }

  // what the server sends

  /** Hands a message to the client. True when it is the answer to the request on whose stream it came. */
  #take(message: RpcMessage | RpcReject, request: RpcRequest | undefined): boolean {
    const isAnswer =
      request !== undefined &&
      (message.kind === 'result' || message.kind === 'error') &&
      (message.id === request.id || (message.kind === 'error' && message.id === undefined))
    if (isAnswer && request.method === 'initialize' && message.kind === 'result') {
      this.#fields.takeRevision(memberOf(message.result, 'protocolVersion'))
    }
    // The exchange says whose an error without an id is.
    this.client.receive(
      isAnswer && message.kind === 'error' ? { ...message, id: request.id } : message,
      {},
      request?.id,
    )
    return isAnswer
  }

  #lose(loss: SessionLoss): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#tellGone(loss)
    this.#endpoint.clock.after(lostSessionMs, () =>
      this.#endLife(new TransportError('closed', this.#lostError().message)),
    )
  }

  #lostError(): SessionLostError {
    return new SessionLostError(`${this.#endpoint.name} does not know the session any more`)
  }

  #report(level: Diagnostic['level'], code: string, message: string): void {
    this.#options.onDiagnostic?.({ level, code, message })
  }
}

function describe(message: RpcMessage): string {
  return message.kind === 'notification' || message.kind === 'request'
    ? message.method.slice(0, 80)
    : 'an answer to its request'
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
