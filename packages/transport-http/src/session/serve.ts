import { type Dispatcher, notice, type Principal, RpcError, rpcCode, type RpcId } from '@atenea/mcpcompat'
import {
  type AnswerForms,
  CallRunner,
  createServerSession,
  type CreateServerSessionOptions,
  encodeMessage,
  featuresOf,
  IdTable,
  type PeerPort,
  retryAfterOf,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type SendOptions,
  type ServerSession,
} from '@atenea/mcpcompat/transport'
import { answerError, jsonFields, retryAfterField } from '../carrier/answers.ts'
import type { ExchangeWatcher, HeaderFields, HttpExchange } from '../carrier/http-exchange.ts'
import { sseComment, sseEventWithId, sseFields } from '../sse/encode.ts'
import { EventStream, type StreamPolicy } from '../sse/event-stream.ts'
import { EventLog, type EventLogOptions, eventId, type LoggedEvent, readEventId } from './event-log.ts'
import { OpenPost, type StreamMaker } from './open-post.ts'

/** What all sessions of a handler share. */
export interface HttpSessionHost {
  readonly dispatcher: Dispatcher
  readonly session: CreateServerSessionOptions
  readonly streams: StreamPolicy
  readonly log: EventLogOptions
  /** The handshake has succeeded, and the client is about to learn the id of the session. */
  readonly onOpened: (session: HttpSession) => void
  /** The handshake has failed, so that there is no session. */
  readonly onRefused: () => void
}

/** The stream that belongs to no request; those of requests have numbers of their own. */
const standalone = 0

/**
 * A legacy session on HTTP: which message of the server goes out on which response. What the messages mean is the business of
 * `createServerSession`. A client that goes does not cancel anything (A-45, LG-HTTP-08): what it was sent as events, and the
 * answers to what it asked in that way, wait for it in the log.
 */
export class HttpSession implements PeerPort, ExchangeWatcher, StreamMaker {
  readonly id: string
  readonly principal: Principal
  /** When the client was last heard of, by the clock of the sessions. */
  lastSeen = 0
  /** Where the session stands among those in use; the sessions count it. */
  place = 0
  readonly #host: HttpSessionHost
  readonly #runner: CallRunner
  readonly #session: ServerSession
  /** Made with the first event, since most sessions have none to tell. */
  #log: EventLog | undefined
  /** The request that is just being taken. Most are answered before anybody has to look for them. */
  #arriving: OpenPost | undefined
  /** All others that wait for their answers, by the id under which each runs here. */
  #posts: IdTable<OpenPost> | undefined
  /** The GET stream, of which a session has one at most. */
  #events: EventStream | undefined
  /** The last event of the standalone stream that some client was given. */
  #delivered = 0
  #lastStream = standalone
  #lastAlias = 0
  #primes = false
  #opened = false
  #over = false

  constructor(id: string, principal: Principal, host: HttpSessionHost) {
    this.id = id
    this.principal = principal
    this.#host = host
    this.#runner = new CallRunner({
      maxInFlight: host.session.maxInFlight ?? 1_024,
      onDiagnostic: host.session.onDiagnostic,
    })
    this.#session = createServerSession(host.dispatcher, this, host.session, this.#runner)
  }

  /** The revision that was agreed on. */
  get revision(): string | undefined {
    return this.#session.revision
  }

  /** Whether requests of the client wait for their answers. */
  get busy(): boolean {
    return this.#arriving !== undefined || (this.#posts?.size ?? 0) > 0
  }

  get isReachable(): boolean {
    return this.#events !== undefined || this.busy
  }

  // what the client sends

  /** Takes a request. Its answer goes to this exchange. */
  request(message: RpcRequest, exchange: HttpExchange, forms: AnswerForms): void {
    const id = this.#posts?.has(message.id) === true ? this.#alias(this.#posts) : message.id
    const post = new OpenPost(this, id, message.id, forms, ++this.#lastStream, exchange)
    this.#arriving = post
    const origin = { principal: exchange.principal, hints: exchange.headers }
    this.#session.receive(id === message.id ? message : { ...message, id }, origin)
    if (this.#arriving !== post) return
    this.#arriving = undefined
    this.#posts ??= new IdTable()
    this.#posts.set(id, post)
    this.#attach(post, exchange)
  }

  /** Takes a notification, or the answer to a question. */
  message(message: RpcNotification | RpcResponse, exchange: HttpExchange): void {
    this.#session.receive(message, { principal: exchange.principal, hints: exchange.headers })
    if (message.kind === 'notification' && message.method === notice.cancelled) this.#endCancelled()
  }

  /** Opens the GET stream, or goes on with a stream whose connection was lost. */
  open(exchange: HttpExchange, lastEventId: string | undefined): void {
    if (lastEventId === undefined) {
      this.#openStandalone(exchange, this.#delivered)
      return
    }
    const last = readEventId(lastEventId)
    if (last === undefined || last.stream > this.#lastStream) {
      answerError(exchange, 400, { code: -32_600, message: 'This Last-Event-ID was not given in this session.' })
    } else if (last.stream === standalone) {
      this.#openStandalone(exchange, last.number)
    } else {
      this.#resume(exchange, last)
    }
  }

  /**
   * Ends the response of an open request before its answer, so that no connection is held meanwhile: the client comes back for
   * the answer. False when it would not know how to.
   */
  release(id: RpcId, retryMs: number): boolean {
    const post = this.#post(id)
    if (!this.#primes || post?.exchange === undefined || !post.forms.sse) return false
    const events = this.streamOf(post)
    void events?.write(`retry: ${retryMs}\n\n`)
    post.detach()
    events?.finish('')
    return true
  }

  /** The client of the GET stream has gone. One that another stream took the place of has been ended already. */
  gone(exchange: HttpExchange): void {
    if (this.#events?.isOn(exchange) !== true) return
    this.#events.leave()
    this.#events = undefined
  }

  // what the server sends

  send(message: RpcMessage, options?: SendOptions): void | Promise<void> {
    if (this.#over) return
    if (message.kind === 'result' || message.kind === 'error') {
      const post = message.id === undefined ? undefined : this.#post(message.id)
      if (post !== undefined) this.#answer(post, message)
      return
    }
    const post = options?.relatedTo === undefined ? undefined : this.#post(options.relatedTo)
    if (post === undefined) return this.#sendStandalone(message)
    if (post.forms.sse) return this.#sendRelated(post, message)
    // a question can go another way than the answer; what is only told on the way is left out
    if (message.kind === 'request') return this.#sendStandalone(message)
  }

  // the end

  /** Resolves when no request waits for its answer. */
  idle(): Promise<void> {
    return this.#runner.idle()
  }

  /** Ends the session and everything in it. */
  async close(reason: unknown): Promise<void> {
    if (this.#over) return
    for (const context of this.#runner.openCalls) context.host.refuse(context, sessionEnded())
    this.#over = true
    this.#runner.cancelAll(reason)
    for (const post of this.#openPosts) this.#drop(post)
    this.#events?.finish('')
    this.#events = undefined
    await this.#session.close(reason)
  }

  #alias(taken: IdTable<OpenPost>): RpcId {
    let id: string
    do id = `again-${++this.#lastAlias}`
    while (taken.has(id))
    return id
  }

  #post(id: RpcId): OpenPost | undefined {
    return this.#arriving?.id === id ? this.#arriving : this.#posts?.get(id)
  }

  get #openPosts(): readonly OpenPost[] {
    const others = [...(this.#posts?.values() ?? [])]
    return this.#arriving === undefined ? others : [this.#arriving, ...others]
  }

  #forget(post: OpenPost): void {
    post.leave()
    if (this.#arriving === post) this.#arriving = undefined
    else this.#posts?.delete(post.id)
  }

  /** A request that is not answered at once: its client may go, and it may be quiet for long. */
  #attach(post: OpenPost, exchange: HttpExchange): void {
    if (post.forms.sse && post.events === undefined) this.#host.streams.beats.add(post)
    exchange.watch(post)
  }

  get #logged(): EventLog {
    this.#log ??= new EventLog(this.#host.log)
    return this.#log
  }

  streamOf(post: OpenPost): EventStream | undefined {
    const { exchange } = post
    if (exchange === undefined) return undefined
    if (post.events === undefined) {
      // it has a seat of its own
      post.leave()
      post.events = new EventStream(exchange, this.#host.streams, this.#fields(), this.#prime(post.stream))
    }
    return post.events
  }

  #sendRelated(post: OpenPost, message: RpcMessage): void | Promise<void> {
    // before the event is logged, since the stream begins with where the log stands
    const events = this.streamOf(post)
    return events?.write(written(this.#logged.append(post.stream, encodeMessage(message))))
  }

  #answer(post: OpenPost, answer: RpcResponse): void {
    this.#forget(post)
    const { id, clientId, exchange, events } = post
    const text = encodeMessage(id === clientId ? answer : { ...answer, id: clientId })
    const opening = this.#opening(answer)
    if (post.streamed || events?.opened === true) {
      const event = this.#logged.append(post.stream, text)
      events?.finish(written(event))
      return
    }
    if (exchange === undefined) return // nobody can ask for it, since no event was ever seen
    events?.leave()
    const busyMs = !this.#opened && answer.kind === 'error' ? retryAfterOf(answer.error.data) : undefined
    if (busyMs !== undefined) {
      // No session was opened: whoever looks at the status alone knows that it may be tried again.
      exchange.whole(503, [...jsonFields, ...retryAfterField(busyMs)], text)
    } else if (post.forms.json) {
      exchange.whole(200, opening === undefined ? jsonFields : [...jsonFields, ...opening], text)
    } else {
      const first = this.#prime(post.stream)
      const event = this.#logged.append(post.stream, text)
      exchange.whole(200, [...sseFields, ...(opening ?? [])], first + written(event))
    }
  }

  /** The first answer of a session tells its id (LG-SESS-01); a handshake that failed has opened nothing. */
  #opening(answer: RpcResponse): HeaderFields | undefined {
    if (this.#opened) return undefined
    if (answer.kind === 'error' || this.#session.revision === undefined) {
      this.#host.onRefused()
      return undefined
    }
    this.#opened = true
    this.#primes = featuresOf(this.#session.revision).primedStreams
    this.#host.onOpened(this)
    return this.#fieldsOfId
  }

  get #fieldsOfId(): HeaderFields {
    return ['Mcp-Session-Id', this.id]
  }

  #fields(): HeaderFields {
    return [...sseFields, ...this.#fieldsOfId]
  }

  /** An event without a message, so that a client can come back before the first. */
  #prime(stream: number): string {
    return this.#primes ? `id: ${eventId({ stream, number: this.#log?.last ?? 0 })}\ndata:\n\n` : ''
  }

  #sendStandalone(message: RpcMessage): void | Promise<void> {
    const event = this.#logged.append(standalone, encodeMessage(message))
    if (this.#events === undefined) return
    this.#delivered = event.number
    return this.#events.write(written(event))
  }

  #openStandalone(exchange: HttpExchange, after: number): void {
    // the newest connection is the one that somebody reads (decisions 2.2)
    this.#events?.finish('')
    const opening = this.#prime(standalone) || sseComment
    const events = new EventStream(exchange, this.#host.streams, this.#fields(), opening)
    this.#events = events
    const missed = this.#log?.after(standalone, after) ?? []
    this.#delivered = Math.max(this.#delivered, missed.at(-1)?.number ?? 0)
    // its first byte at once, whether there is something to tell or not (C8)
    void events.write(missed.map(written).join(''))
    exchange.watch(this)
  }

  /** The rest of the answer to one request: what was missed, and what is still to come (LG-RESUME-02). */
  #resume(exchange: HttpExchange, last: Pick<LoggedEvent, 'stream' | 'number'>): void {
    const missed = (this.#log?.after(last.stream, last.number) ?? []).map(written).join('')
    const post = this.#openPosts.find(({ stream }) => stream === last.stream)
    const events = new EventStream(exchange, this.#host.streams, this.#fields())
    void events.write(missed === '' ? sseComment : missed)
    if (post === undefined) {
      events.finish('')
      return
    }
    this.#endReply(post)
    post.leave()
    post.exchange = exchange
    post.events = events
    post.streamed = true
    this.#attach(post, exchange)
  }

  /** The streams of calls that the client has cancelled: no answer will come on them. */
  #endCancelled(): void {
    for (const post of this.#openPosts) if (!this.#runner.has(post.id)) this.#drop(post)
  }

  #drop(post: OpenPost): void {
    this.#forget(post)
    this.#endReply(post)
  }

  /** Ends the response of a request without its answer. */
  #endReply({ exchange, events, forms }: OpenPost): void {
    if (exchange === undefined) return
    if (events?.opened === true) events.finish('')
    else {
      events?.leave()
      // neither an answer nor a fault: an empty stream, or nothing at all
      if (forms.sse) exchange.whole(200, this.#fields(), '')
      else exchange.whole(202, [], '')
    }
  }
}

function sessionEnded(): RpcError {
  return new RpcError(rpcCode.internalError, 'The session ended before this call was finished')
}

function written(event: LoggedEvent): string {
  return sseEventWithId(eventId(event), event.text)
}
