import {
  type CallContext,
  type Dispatcher,
  type Implementation,
  method,
  type Principal,
  RpcError,
  rpcCode,
  type ServerView,
} from '@atenea/mcpcompat'
import {
  acceptedForms,
  type AnswerForms,
  CallRunner,
  createModernCodec,
  headerName,
  type HttpDispatch,
  type HttpVerdict,
  remembered,
  type RpcMessage,
  type RpcReject,
  type RpcRequest,
  ServedContext,
  type SessionLookup,
  type WireCodec,
  withDiscovery,
  within,
} from '@atenea/mcpcompat/transport'
import { answerAccepted, answerUnavailable } from './carrier/answers.ts'
import type { HttpExchange } from './carrier/http-exchange.ts'
import { type ExchangeHostOptions, ServedExchange } from './exchange/serve.ts'
import type { HttpServerOptions } from './http-server.ts'
import { HttpSession, type HttpSessionHost } from './session/serve.ts'
import { Sessions } from './session/sessions.ts'

/** What the ladder has let through besides modern requests. */
export type Admitted = Exclude<HttpVerdict, { readonly kind: 'reject' | 'modern' }>

/** What a handler has to do: modern calls, subscriptions and legacy sessions, from the first to the end of all. */
export class Serving {
  readonly #options: HttpServerOptions
  readonly #exchangeHost: ExchangeHostOptions
  readonly #calls: CallRunner
  readonly #listens: CallRunner
  readonly #sessions: Sessions
  readonly #sessionsOfAnonymous: SessionLookup
  readonly #sessionHost: HttpSessionHost
  readonly #formsOf = remembered(acceptedForms)
  readonly #codecs = new Map<string, { readonly info: Implementation; readonly codec: WireCodec }>()
  #draining: Promise<void> | undefined

  constructor(dispatcher: Dispatcher, options: HttpServerOptions) {
    const { policy, clock, onDiagnostic, beats, maxUnsentBytes, maxInFlight, defaultLogLevel } = options
    const { answerTimeoutMs, maxAskingMs } = options
    this.#options = options
    this.#exchangeHost = {
      dispatcher: withDiscovery(dispatcher, policy),
      streams: { beats, maxUnsentBytes },
      onDiagnostic,
    }
    this.#calls = new CallRunner({ maxInFlight, onDiagnostic, manyPeers: true })
    this.#listens = new CallRunner({ maxInFlight: options.maxListens, onDiagnostic, manyPeers: true })
    this.#sessions = new Sessions({
      clock,
      maxSessions: options.maxSessions,
      idleTimeoutMs: options.sessionIdleTimeoutMs,
    })
    this.#sessionsOfAnonymous = this.#sessions.of(options.anonymous)
    this.#sessionHost = {
      dispatcher,
      session: {
        policy,
        maxInFlight,
        onDiagnostic,
        ...(defaultLogLevel !== undefined && { defaultLogLevel }),
        ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
        ...(maxAskingMs !== undefined && { maxAskingMs }),
      },
      streams: this.#exchangeHost.streams,
      log: options.log,
      onOpened: (opened) => this.#sessions.add(opened),
      onRefused: () => this.#sessions.giveBack(),
    }
  }

  get sessions(): number {
    return this.#sessions.size
  }

  get openCalls(): number {
    return this.#calls.openCalls.length + this.#listens.openCalls.length
  }

  /** Whether the end has begun. */
  get isDraining(): boolean {
    return this.#draining !== undefined
  }

  /** The sessions that a principal may use. */
  sessionsOf(principal: Principal): SessionLookup {
    return principal === this.#options.anonymous ? this.#sessionsOfAnonymous : this.#sessions.of(principal)
  }

  /** Serves a modern request that the ladder has let through. */
  dispatch(exchange: HttpExchange, message: RpcRequest, { revision, forms }: HttpDispatch, { info }: ServerView): void {
    if (this.isDraining) {
      answerShuttingDown(exchange, message)
      return
    }
    const runner = message.method === method.listen ? this.#listens : this.#calls
    new ServedExchange(exchange, this.#codecOf(revision, info), forms, this.#exchangeHost).run(message, runner)
  }

  /** Takes any other message that the ladder has let through. */
  take(exchange: HttpExchange, message: RpcMessage | RpcReject, verdict: Admitted): void {
    if (verdict.kind === 'accepted') answerAccepted(exchange)
    else if (message.kind === 'request') this.#request(exchange, message, verdict)
    else if (verdict.kind === 'session' && message.kind !== 'reject') {
      this.#sessions.get(verdict.sessionId).message(message, exchange)
      answerAccepted(exchange)
    }
  }

  /** Opens the stream of a session, or goes on with one that broke. */
  openStream(exchange: HttpExchange, sessionId: string): void {
    if (this.isDraining) answerUnavailable(exchange, 'The server is shutting down')
    else this.#sessions.get(sessionId).open(exchange, exchange.headers[headerName.lastEventId])
  }

  /** The client has ended its session. */
  endSession(exchange: HttpExchange, sessionId: string): void {
    const reason = new DOMException('The client has ended the session', 'AbortError')
    this.#sessions.end(this.#sessions.get(sessionId), reason)
    exchange.whole(204, [], '')
  }

  /** See `HttpHandler`. */
  releaseStream(context: CallContext, retryMs: number): boolean {
    const id = context.hints[headerName.sessionId]
    // both are of this server: a call of a session carries its id
    if (id === undefined || !(context instanceof ServedContext)) return false
    if (this.sessionsOf(context.principal).revisionOf(id) === undefined) return false
    return this.#sessions.get(id).release(context.id, retryMs)
  }

  // the end

  drain(timeoutMs: number): Promise<void> {
    this.#draining ??= this.#drain(timeoutMs)
    return this.#draining
  }

  async close(): Promise<void> {
    void this.drain(0)
    this.#endNow()
    await this.#draining
  }

  async #drain(timeoutMs: number): Promise<void> {
    const reason = shuttingDown()
    for (const context of this.#listens.openCalls) {
      ;(context.host as ServedExchange).endListen(context, this.#listens, reason)
    }
    const finished = Promise.all([this.#calls.idle(), this.#sessions.idle()])
    await within(finished, timeoutMs, this.#options.clock)
    this.#endNow()
  }

  #endNow(): void {
    const reason = shuttingDown()
    for (const runner of [this.#calls, this.#listens]) {
      for (const context of runner.openCalls) refuseUnfinished(context, runner, reason)
    }
    this.#sessions.endAll(reason)
    this.#options.beats.clear()
  }

  // one request

  #request(
    exchange: HttpExchange,
    message: RpcRequest,
    verdict: Exclude<Admitted, { readonly kind: 'accepted' }>,
  ): void {
    if (this.isDraining) {
      answerShuttingDown(exchange, message)
      return
    }
    switch (verdict.kind) {
      case 'session':
        this.#sessions.get(verdict.sessionId).request(message, exchange, this.#formsFor(exchange))
        return
      case 'initialize':
        this.#openSession(exchange, message)
        return
      case 'sessionless':
        throw new Error('unreachable: legacy requests have sessions here')
    }
  }

  #openSession(exchange: HttpExchange, message: RpcRequest): void {
    if (!this.#sessions.reserve()) {
      answerUnavailable(exchange, 'Too many sessions', message.id)
      return
    }
    const session = new HttpSession(this.#options.createSessionId(), exchange.principal, this.#sessionHost)
    session.request(message, exchange, this.#formsFor(exchange))
  }

  #formsFor({ headers }: HttpExchange): AnswerForms {
    return this.#formsOf(headers['accept'] ?? '*/*')
  }

  /** One codec for each revision, made anew when the dispatcher calls itself something else. */
  #codecOf(revision: string, info: Implementation): WireCodec {
    const known = this.#codecs.get(revision)
    if (known?.info === info) return known.codec
    const codec = createModernCodec({ revision, serverInfo: this.#options.nameServer ? info : undefined })
    this.#codecs.set(revision, { info, codec })
    return codec
  }
}

function answerShuttingDown(exchange: HttpExchange, { id }: RpcRequest): void {
  answerUnavailable(exchange, 'The server is shutting down', id)
}

function shuttingDown(): DOMException {
  return new DOMException('The server is shutting down', 'AbortError')
}

function refuseUnfinished(context: ServedContext, runner: CallRunner, reason: unknown): void {
  context.host.refuse(
    context,
    new RpcError(rpcCode.internalError, 'The server shut down before this call was finished'),
  )
  runner.cancel(context, reason)
}
