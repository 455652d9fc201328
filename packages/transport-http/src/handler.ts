import type { CallContext, Dispatcher, LogLevel, OnDiagnostic, Principal, RevisionPolicy } from '@atenea/mcpcompat'
import { type Clock, loopbackHosts, safeDiagnostics, systemClock } from '@atenea/mcpcompat/transport'
import type { Payload } from './answer.ts'
import type { Authenticate } from './auth/authenticate.ts'
import type { ProtectedResource } from './auth/protected-resource.ts'
import { FetchExchange } from './carrier/fetch-exchange.ts'
import { NodeExchange, type NodeRequest, type NodeResponse } from './carrier/node-exchange.ts'
import { HttpServer } from './http-server.ts'
import type { Readiness } from './readiness.ts'
import { Wheel } from './wheel.ts'

export interface CreateHttpHandlerOptions {
  /** Which revisions are served. Legacy clients get sessions, modern ones stateless exchanges, on the same URL. */
  readonly policy: RevisionPolicy
  /** Path of the endpoint. Default `/mcp`. */
  readonly path?: string | undefined
  /** Origins of web pages that may ask, such as `https://example.com`. Default none: requests of pages are refused (MH-EP-02). */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * Host names under which the endpoint may be asked for, without ports. Default: those of the loopback interface. `any` switches
   * the check off, which leaves a listener that everybody on this machine can reach open to DNS rebinding.
   */
  readonly allowedHosts?: readonly string[] | 'any' | undefined
  /** Tells who sends a request. Absent: everybody is `anonymous`, and all of them share workflows and states. */
  readonly authenticate?: Authenticate | undefined
  /** Who everybody is when nobody is authenticated. Default `anonymous@http`; tell listeners apart when there are several. */
  readonly anonymous?: string | undefined
  /** Serves the metadata document that leads clients to an authorization server, and names it in challenges. */
  readonly protectedResource?: ProtectedResource | undefined
  /** How the payload of messages is wanted; `text` by dispatchers that pass it on. Default `parsed`. */
  readonly payload?: Payload | undefined
  /** Largest body that is read, in bytes. Default 16 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How long a body may take to arrive, in milliseconds. Default 30,000. */
  readonly bodyTimeoutMs?: number | undefined
  /** Modern calls that may run at the same time, and legacy ones in each session. Default 1,024; one more is answered with -32603. */
  readonly maxInFlight?: number | undefined
  /** Subscriptions that may be open at the same time. Default 16,384. */
  readonly maxListens?: number | undefined
  /** Legacy sessions that are kept at the same time. Default 10,000; idle ones make room for new ones. */
  readonly maxSessions?: number | undefined
  /** How long a legacy session is kept without a message of its client, in milliseconds. Default 8 hours. */
  readonly sessionIdleTimeoutMs?: number | undefined
  /** What is kept of the streams of one session for clients that come back. Default 1,000 events, 1 Mi characters. */
  readonly maxLoggedEvents?: number | undefined
  readonly maxLoggedLength?: number | undefined
  /** Time after which a stream gets a sign of life, in milliseconds. Default 15,000. */
  readonly keepAliveMs?: number | undefined
  /** Most bytes that wait for a client that reads slowly; beyond it is cut off. Default 4 MiB. */
  readonly maxUnsentBytes?: number | undefined
  /** Makes the id of a legacy session: visible ASCII that nobody can guess. Default 128 random bits. */
  readonly createSessionId?: (() => string) | undefined
  /** See `CreateServerSessionOptions` of mcpcompat. */
  readonly defaultLogLevel?: LogLevel | undefined
  readonly answerTimeoutMs?: number | undefined
  readonly maxAskingMs?: number | undefined
  /** Whether results name the server (MC-META-10). Default true. */
  readonly nameServer?: boolean | undefined
  /** Makes `GET /readyz` tell whether what the server depends on is there. Absent: not found. `GET /healthz` needs nothing. */
  readonly readiness?: Readiness | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
}

export interface DrainOptions {
  /** How long requests in flight may take to finish, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined
}

/** A server for one dispatcher. Disposing it ends everything at once; `drain` first ends it in order. */
export interface HttpHandler extends AsyncDisposable {
  /** For `http.createServer`: the fast path. Needs no `this`. */
  readonly node: (req: NodeRequest, res: NodeResponse) => void
  /**
   * For its `checkContinue` event, if you like: a client that sends `Expect: 100-continue` is then told to send its body only after the
   * request has been let in. Without a listener Node tells every client to go on.
   */
  readonly checkContinue: (req: NodeRequest, res: NodeResponse) => void
  /** For servers of the web platform. Needs no `this`. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Takes no new requests, ends subscriptions with their result, and gives requests in flight their time; what is left is then
   * answered with an error. Legacy sessions end last. The dispatcher may be shared, so it is never drained here.
   */
  drain(options?: DrainOptions): Promise<void>
  /**
   * Ends the response of a legacy call before its answer, for calls that take long: the client comes back for the answer after a
   * time, in milliseconds. False when its revision does not know that, or when this is no call of a session here.
   */
  releaseStream(context: CallContext, retryMs: number): boolean
  /** Legacy sessions that are open. */
  readonly sessions: number
  /** Modern calls and subscriptions that are not answered yet. */
  readonly openCalls: number
}

/**
 * Serves MCP over Streamable HTTP: both eras on one URL, chosen for each request by what it says. The guards come before
 * anything of the body is read, in the order of the ladder (decisions 2.1, 2.2).
 */
export function createHttpHandler(dispatcher: Dispatcher, options: CreateHttpHandlerOptions): HttpHandler {
  const { allowedHosts = loopbackHosts } = options
  const clock = options.clock ?? systemClock
  const anonymous: Principal = { id: options.anonymous ?? 'anonymous@http', authenticated: false }
  const slowBodies = new Wheel(clock, options.bodyTimeoutMs ?? 30_000)
  const server = new HttpServer(dispatcher, {
    ...options,
    clock,
    anonymous,
    slowBodies,
    onDiagnostic: safeDiagnostics(options.onDiagnostic),
    payload: options.payload ?? 'parsed',
    path: options.path ?? '/mcp',
    allowedOrigins: options.allowedOrigins ?? [],
    allowedHosts: allowedHosts === 'any' ? undefined : allowedHosts,
    maxBodyBytes: options.maxBodyBytes ?? 16 * 1024 * 1024,
    maxInFlight: options.maxInFlight ?? 1_024,
    maxListens: options.maxListens ?? 16_384,
    maxSessions: options.maxSessions ?? 10_000,
    sessionIdleTimeoutMs: options.sessionIdleTimeoutMs ?? 8 * 60 * 60 * 1_000,
    log: { maxEvents: options.maxLoggedEvents ?? 1_000, maxLength: options.maxLoggedLength ?? 1024 * 1024 },
    beats: new Wheel(clock, options.keepAliveMs ?? 15_000),
    maxUnsentBytes: options.maxUnsentBytes ?? 4 * 1024 * 1024,
    createSessionId: options.createSessionId ?? (() => crypto.randomUUID()),
    nameServer: options.nameServer ?? true,
  })
  return {
    node: (req, res) => server.take(new NodeExchange(req, res, slowBodies, false)),
    checkContinue: (req, res) => server.take(new NodeExchange(req, res, slowBodies, true)),
    fetch: (request) => {
      const exchange = new FetchExchange(request, slowBodies)
      server.take(exchange)
      return exchange.response
    },
    drain: async ({ timeoutMs = 10_000 } = {}) => await server.serving.drain(timeoutMs),
    releaseStream: (context, retryMs) => server.serving.releaseStream(context, retryMs),
    [Symbol.asyncDispose]: async () => await server.serving.close(),
    get sessions() {
      return server.serving.sessions
    },
    get openCalls() {
      return server.serving.openCalls
    },
  }
}
