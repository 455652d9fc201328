import { type Dispatcher, type Principal, RpcError, rpcCode, type ServerView } from '@atenea/mcpcompat'
import {
  type Clock,
  createHttpLadder,
  type HttpLadder,
  parseMessage,
  remembered,
  retryAfterOf,
  type RpcRequest,
  viewerOf,
} from '@atenea/mcpcompat/transport'
import type { Payload } from './answer.ts'
import { type AuthUnavailable, type Challenge, isPrincipal } from './auth/authenticate.ts'
import { challengeField, type ResourceMetadata, resourceMetadata } from './auth/protected-resource.ts'
import {
  answerError,
  answerJson,
  answerRefusal,
  answerText,
  answerUnavailable,
  retryAfterField,
} from './carrier/answers.ts'
import type { BodyFault, BodySink, HttpExchange } from './carrier/http-exchange.ts'
import { answerPreflight, corsFields, isPreflight } from './cors.ts'
import type { CreateHttpHandlerOptions } from './handler.ts'
import { answerReadiness } from './readiness.ts'
import { Serving } from './serving.ts'
import type { EventLogOptions } from './session/event-log.ts'
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

/** The way of a request: down the ladder, and to those who serve its kind. Whatever is refused on the way is answered here. */
export class HttpServer implements BodySink {
  readonly serving: Serving
  readonly #dispatcher: Dispatcher
  readonly #options: HttpServerOptions
  readonly #ladder: HttpLadder
  readonly #hasSessions: boolean
  readonly #metadata: ResourceMetadata | undefined
  readonly #corsOf = remembered(corsFields)

  constructor(dispatcher: Dispatcher, options: HttpServerOptions) {
    this.serving = new Serving(dispatcher, options)
    this.#dispatcher = dispatcher
    this.#options = options
    this.#hasSessions = options.policy.legacy.length > 0
    this.#ladder = createHttpLadder({ ...options, revisions: options.policy, sessions: this.#hasSessions })
    this.#metadata = options.protectedResource && resourceMetadata(options.protectedResource)
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
      const sessions = this.serving.sessionsOf(exchange.principal)
      const verdict = this.#ladder.message(exchange, message, sessions)
      if (verdict.kind === 'modern') this.#modern(exchange, verdict.request, verdict.revision)
      else if (verdict.kind === 'reject') answerRefusal(exchange, verdict)
      else this.serving.take(exchange, message, verdict)
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
      const verdict = this.#ladder.head(exchange, this.serving.sessionsOf(this.#options.anonymous))
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
    const verdict = this.#ladder.head(exchange, this.serving.sessionsOf(principal))
    if (verdict === undefined) exchange.read(this.#options.maxBodyBytes, this)
    else if (verdict.kind === 'reject') answerRefusal(exchange, verdict)
    else if (verdict.kind === 'end') this.serving.endSession(exchange, verdict.sessionId)
    else this.serving.openStream(exchange, verdict.sessionId)
  }

  /** Steps 23 to 27. Legacy clients get what is offered with their handshake; only here it decides what is served. */
  #modern(exchange: HttpExchange, message: RpcRequest, revision: string): void {
    const view = this.#dispatcher.view(exchange.principal, viewerOf(message))
    if (view instanceof Promise) this.#offerLater(exchange, message, revision, view)
    else this.#offer(exchange, message, revision, view)
  }

  #offerLater(exchange: HttpExchange, message: RpcRequest, revision: string, view: Promise<ServerView>): void {
    view
      .then((offered) => this.#offer(exchange, message, revision, offered))
      .catch((error: unknown) => {
        if (!RpcError.is(error)) {
          this.#fail(exchange, error)
          return
        }
        // Why a dispatcher has nothing to offer, such as a server behind a proxy that nobody is signed in at, is for the caller.
        const { code, message: text, data } = error
        const object = { code, message: text, ...(data !== undefined && { data }) }
        const afterMs = retryAfterOf(data)
        if (afterMs === undefined) answerError(exchange, 500, object, message.id)
        else answerError(exchange, 503, object, message.id, retryAfterField(afterMs))
      })
  }

  #offer(exchange: HttpExchange, message: RpcRequest, revision: string, view: ServerView): void {
    const verdict = this.#ladder.modern(exchange, message, revision, view)
    if (verdict.kind === 'reject') answerRefusal(exchange, verdict)
    else this.serving.dispatch(exchange, message, verdict, view)
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
      if (this.serving.isDraining) answerText(exchange, 503, 'shutting down\n')
      else answerText(exchange, 200, 'ok\n')
    } else if (path === readyPath && reads && readiness !== undefined) {
      if (this.serving.isDraining) answerJson(exchange, 503, '{"ready":false}')
      else {
        const mayUse = this.#ladder.source(exchange) === undefined
        answerReadiness(exchange, readiness, mayUse, authenticate).catch((error: unknown) =>
          this.#fail(exchange, error),
        )
      }
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
