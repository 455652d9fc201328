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
  CallRunner,
  type Clock,
  createHttpLadder,
  createModernCodec,
  headerName,
  type HttpLadder,
  type HttpVerdict,
  parseMessage,
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
import { type AuthUnavailable, type Challenge, isPrincipal } from './auth/authenticate.ts'
import { challengeField, type ResourceMetadata, resourceMetadata } from './auth/protected-resource.ts'
import {
  answerAccepted,
  answerError,
  answerJson,
  answerRefusal,
  answerText,
  answerUnavailable,
} from './carrier/answers.ts'
import type { BodyFault, BodySink, HttpExchange } from './carrier/http-exchange.ts'
import type { Payload } from './answer.ts'
import { answerPreflight, corsFields, isPreflight } from './cors.ts'
import { type ExchangeHostOptions, ServedExchange } from './exchange/serve.ts'
import type { CreateHttpHandlerOptions } from './handler.ts'
import { answerReadiness } from './readiness.ts'
import type { EventLogOptions } from './session/event-log.ts'
import { HttpSession, type HttpSessionHost } from './session/serve.ts'
import { Sessions } from './session/sessions.ts'
import type { Wheel } from './wheel.ts'

/** The options of a handler, complete. */
export interface HttpServerOptions extends Omit<CreateHttpHandlerOptions, 'anonymous' | 'allowedHosts'> {
  readonly path: string
  readonly clock: Clock
  readonly anonymous: Principal
  readonly allowedOrigins: readonly string[]
  readonly allowedHosts: readonly string[] | undefined
  readonly payload: Payload
  readonly maxBodyBytes: number
  readonly maxInFlight: number
  readonly maxListens: number
  readonly maxSessions: number
  readonly sessionIdleTimeoutMs: number
  readonly log: EventLogOptions
  readonly beats: Wheel
  readonly slowBodies: Wheel
  readonly maxUnsentBytes: number
  readonly createSessionId: () => string
  readonly nameServer: boolean
}

const healthPath = '/healthz'
const readyPath = '/readyz'

/** What a handler is made of: each request goes down the ladder, and whoever serves its kind answers it. */
export class HttpServer implements BodySink {
  readonly #dispatcher: Dispatcher
  readonly #options: HttpServerOptions
  readonly #ladder: HttpLadder
  readonly #hasSessions: boolean
  readonly #metadata: ResourceMetadata | undefined
  readonly #corsOf = remembered(corsFields)
  readonly #formsOf = remembered(acceptedForms)
  readonly #exchangeHost: ExchangeHostOptions
  readonly #calls: CallRunner
  readonly #listens: CallRunner
  readonly #sessions: Sessions
  readonly #sessionsOfAnonymous: SessionLookup
  readonly #sessionHost: HttpSessionHost
  readonly #codecs = new Map<string, { readonly info: Implementation; readonly codec: WireCodec }>()
  #draining: Promise<void> | undefined

  constructor(dispatcher: Dispatcher, options: HttpServerOptions) {
    const { policy, clock, onDiagnostic, beats, maxUnsentBytes } = options
    this.#dispatcher = dispatcher
    this.#options = options
    this.#hasSessions = policy.legacy.length > 0
    this.#ladder = createHttpLadder({ ...options, revisions: policy, sessions: this.#hasSessions })
    this.#metadata = options.protectedResource && resourceMetadata(options.protectedResource)
    this.#exchangeHost = {
      dispatcher: withDiscovery(dispatcher, policy),
      streams: { beats, maxUnsentBytes },
      onDiagnostic,
    }
    this.#calls = new CallRunner({ maxInFlight: options.maxInFlight, onDiagnostic })
    this.#listens = new CallRunner({ maxInFlight: options.maxListens, onDiagnostic })
    const { maxSessions, sessionIdleTimeoutMs: idleTimeoutMs } = options
    this.#sessions = new Sessions({ clock, maxSessions, idleTimeoutMs })
    this.#sessionsOfAnonymous = this.#sessions.of(options.anonymous)
    const { maxInFlight, defaultLogLevel, answerTimeoutMs } = options
    this.#sessionHost = {
      dispatcher,
      session: {
        policy,
        maxInFlight,
        onDiagnostic,
        ...(defaultLogLevel !== undefined && { defaultLogLevel }),
        ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
      },
      streams: this.#exchangeHost.streams,
      log: options.log,
      onOpened: (opened) => this.#sessions.add(opened),
    }
  }

  get sessions(): number {
    return this.#sessions.size
  }

  get openCalls(): number {
    return this.#calls.openCalls.length + this.#listens.openCalls.length
  }

  /** Takes one request. Never throws: whatever happens is an answer. */
  take(exchange: HttpExchange): void {
    try {
      this.#take(exchange)
    } catch (error) {
      this.#fail(exchange, error)
    }
  }

  // the body has arrived

  body(exchange: HttpExchange, text: string): void {
    try {
      const message = parseMessage(text, this.#options.payload)
      const view = this.#dispatcher.view(exchange.principal)
      if (view instanceof Promise) this.#receiveLater(exchange, message, view)
      else this.#receive(exchange, message, view)
    } catch (error) {
      this.#fail(exchange, error)
    }
  }

  bodyFault(exchange: HttpExchange, fault: BodyFault): void {
    switch (fault) {
      case 'too-large':
        answerRefusal(exchange, this.#ladder.tooLarge())
        return
      case 'not-text':
        answerError(exchange, 400, { code: rpcCode.parseError, message: 'Parse error: the body is not UTF-8' })
        return
      case 'too-slow': {
        const error = { code: rpcCode.invalidRequest, message: 'The body did not arrive in time.' }
        answerError(exchange, 408, error, undefined, ['Connection', 'close'])
      }
    }
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

  releaseStream(context: CallContext, retryMs: number): boolean {
    const id = context.hints[headerName.sessionId]
    // both are of this server: a call of a session carries its id
    if (id === undefined || !(context instanceof ServedContext)) return false
    if (this.#lookupOf(context.principal).revisionOf(id) === undefined) return false
    return this.#sessions.get(id).release(context.id, retryMs)
  }

  // the ladder

  #take(exchange: HttpExchange): void {
    if (!this.#isEndpoint(exchange.target)) {
      this.#elsewhere(exchange)
      return
    }
    // step 1
    const refused = this.#ladder.source(exchange)
    if (refused !== undefined) {
      this.#report('request-refused', `A request was refused: ${refused.error?.message}`)
      answerRefusal(exchange, refused)
      return
    }
    const { origin } = exchange.headers
    if (origin !== undefined) {
      exchange.commonFields = this.#corsOf(origin)
      if (isPreflight(exchange)) {
        answerPreflight(exchange)
        return
      }
    }
    // Nothing to GET or DELETE here: that is told without asking who it is, so that nobody signs in for it again and again (C7).
    if (exchange.method !== 'POST' && !this.#hasSessions) {
      const verdict = this.#ladder.head(exchange, this.#sessionsOfAnonymous)
      if (verdict?.kind === 'reject') answerRefusal(exchange, verdict)
      return
    }
    // step 2
    const { authenticate } = this.#options
    if (authenticate === undefined) {
      this.#admit(exchange, this.#options.anonymous)
      return
    }
    const answer = authenticate(exchange)
    if (answer instanceof Promise) this.#admitLater(exchange, answer)
    else if (isPrincipal(answer)) this.#admit(exchange, answer)
    else this.#refuse(exchange, answer)
  }

  #admitLater(exchange: HttpExchange, answer: Promise<Principal | Challenge | AuthUnavailable>): void {
    answer
      .then((known) => {
        if (isPrincipal(known)) this.#admit(exchange, known)
        else this.#refuse(exchange, known)
      })
      .catch((error: unknown) => this.#fail(exchange, error))
  }

  /** Steps 3 to 6. */
  #admit(exchange: HttpExchange, principal: Principal): void {
    exchange.principal = principal
    const verdict = this.#ladder.head(exchange, this.#lookup(exchange))
    if (verdict === undefined) exchange.read(this.#options.maxBodyBytes, this)
    else if (verdict.kind === 'reject') answerRefusal(exchange, verdict)
    else if (verdict.kind === 'end') this.#endSession(exchange, verdict.sessionId)
    else if (this.#draining === undefined) {
      this.#sessions.get(verdict.sessionId).open(exchange, exchange.headers[headerName.lastEventId])
    } else answerUnavailable(exchange, 'The server is shutting down')
  }

  #endSession(exchange: HttpExchange, id: string): void {
    this.#sessions.end(this.#sessions.get(id), new DOMException('The client has ended the session', 'AbortError'))
    exchange.whole(204, [], '')
  }

  #receiveLater(exchange: HttpExchange, message: RpcMessage | RpcReject, view: Promise<ServerView>): void {
    view
      .then((offered) => this.#receive(exchange, message, offered))
      .catch((error: unknown) => {
        if (!RpcError.is(error)) {
          this.#fail(exchange, error)
          return
        }
        // Why a dispatcher has nothing to offer, such as a server behind a proxy that nobody is signed in at, is for the caller.
        const { code, message: text, data } = error
        const object = { code, message: text, ...(data !== undefined && { data }) }
        answerError(exchange, 500, object, message.kind === 'request' ? message.id : undefined)
      })
  }

  /** Steps 7 to 27. */
  #receive(exchange: HttpExchange, message: RpcMessage | RpcReject, view: ServerView): void {
    const verdict = this.#ladder.message(exchange, message, view, this.#lookup(exchange))
    if (verdict.kind === 'reject') answerRefusal(exchange, verdict)
    else if (verdict.kind === 'accepted') answerAccepted(exchange)
    else if (message.kind === 'request') this.#serve(exchange, message, verdict, view)
    else if (verdict.kind === 'session' && message.kind !== 'reject') {
      this.#sessions.get(verdict.sessionId).message(message, exchange)
      answerAccepted(exchange)
    }
  }

  #serve(
    exchange: HttpExchange,
    message: RpcRequest,
    verdict: Exclude<HttpVerdict, { readonly kind: 'reject' | 'accepted' }>,
    view: ServerView,
  ): void {
    if (this.#draining !== undefined) {
      answerUnavailable(exchange, 'The server is shutting down', message.id)
      return
    }
    switch (verdict.kind) {
      case 'dispatch': {
        const runner = message.method === method.listen ? this.#listens : this.#calls
        const codec = this.#codecOf(verdict.revision, view.info)
        new ServedExchange(exchange, codec, verdict.forms, this.#exchangeHost).run(message, runner)
        return
      }
      case 'session':
        this.#sessions
          .get(verdict.sessionId)
          .request(message, exchange, this.#formsOf(exchange.headers['accept'] ?? '*/*'))
        return
      case 'initialize':
        this.#openSession(exchange, message)
        return
      case 'sessionless':
        throw new Error('unreachable: legacy requests have sessions here')
    }
  }

  #openSession(exchange: HttpExchange, message: RpcRequest): void {
    if (!this.#sessions.makeRoom()) {
      answerUnavailable(exchange, 'Too many sessions', message.id)
      return
    }
    const session = new HttpSession(this.#options.createSessionId(), exchange.principal, this.#sessionHost)
    session.request(message, exchange, this.#formsOf(exchange.headers['accept'] ?? '*/*'))
  }

  #lookup({ principal }: HttpExchange): SessionLookup {
    return this.#lookupOf(principal)
  }

  #lookupOf(principal: Principal): SessionLookup {
    return principal === this.#options.anonymous ? this.#sessionsOfAnonymous : this.#sessions.of(principal)
  }

  /** One codec for each revision, made anew when the dispatcher calls itself something else. */
  #codecOf(revision: string, info: Implementation): WireCodec {
    const known = this.#codecs.get(revision)
    if (known?.info === info) return known.codec
    const codec = createModernCodec({ revision, serverInfo: this.#options.nameServer ? info : undefined })
    this.#codecs.set(revision, { info, codec })
    return codec
  }

  // what is not MCP

  #isEndpoint(target: string): boolean {
    const { path } = this.#options
    if (target === path) return true
    const found = pathOf(target)
    return found === path || found === `${path}/`
  }

  #elsewhere(exchange: HttpExchange): void {
    const path = pathOf(exchange.target)
    const { readiness, authenticate } = this.#options
    const reads = exchange.method === 'GET' || exchange.method === 'HEAD'
    if (path === healthPath && reads) {
      if (this.#draining === undefined) answerText(exchange, 200, 'ok\n')
      else answerText(exchange, 503, 'shutting down\n')
    } else if (path === readyPath && reads && readiness !== undefined) {
      if (this.#draining === undefined) {
        const mayUse = this.#ladder.source(exchange) === undefined
        answerReadiness(exchange, readiness, mayUse, authenticate).catch((error: unknown) =>
          this.#fail(exchange, error),
        )
      } else answerJson(exchange, 503, '{"ready":false}')
    } else if (this.#metadata?.paths.includes(path) === true && reads) {
      // public, and pages have to read it before they can sign in
      exchange.commonFields = ['Access-Control-Allow-Origin', '*']
      answerJson(exchange, 200, this.#metadata.document)
    } else answerText(exchange, 404, 'Not found\n')
  }

  #refuse(exchange: HttpExchange, challenge: Challenge | AuthUnavailable): void {
    if (challenge.status === 503) {
      answerUnavailable(exchange, challenge.description, undefined, challenge.retryAfterMs)
      return
    }
    const { status, description = status === 401 ? 'Authentication is needed' : 'This is not allowed' } = challenge
    const error = { code: rpcCode.invalidRequest, message: description }
    answerError(exchange, status, error, undefined, ['WWW-Authenticate', challengeField(challenge, this.#metadata)])
  }

  #fail(exchange: HttpExchange, cause: unknown): void {
    this.#options.onDiagnostic?.({
      level: 'error',
      code: 'request-failed',
      message: 'A request failed in a way that only its cause explains; the caller was told "Internal error".',
      cause,
    })
    answerError(exchange, 500, { code: rpcCode.internalError, message: 'Internal error' })
  }

  #report(code: string, message: string): void {
    this.#options.onDiagnostic?.({ level: 'debug', code, message })
  }
}

function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
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
