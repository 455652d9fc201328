import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dispatcher, TransportError } from '@atenea/mcpcompat'
import { type CreateHttpHandlerOptions, createHttpHandler, type DrainOptions, type HttpHandler } from '../handler.ts'
import { directRequests } from './direct-request.ts'
import { createSessionIds } from './session-ids.ts'

export interface ListenHttpOptions extends CreateHttpHandlerOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined
  /** Address to bind. Default `127.0.0.1` (MH-EP-04). On another than a loopback address use `authenticate`. */
  readonly host?: string | undefined
  /** How long the head of a request may take to arrive, in milliseconds. Default 10,000. */
  readonly headersTimeoutMs?: number | undefined
  /** Largest head of a request, in bytes; beyond it is answered with 431. Default 32 KiB. */
  readonly maxHeaderBytes?: number | undefined
}

export interface HttpListener extends AsyncDisposable {
  /** The endpoint, as a client on this machine can reach it. */
  readonly url: string
  readonly port: number
  readonly handler: HttpHandler
  /**
   * Accepts nothing new, ends subscriptions with their result, lets requests in flight finish for a bounded time, and ends
   * sessions. Resolves when every connection is closed. Same as `asyncDispose`.
   */
  close(options?: DrainOptions): Promise<void>
}

/** An IPv6 address as it is bound: in a URL it stands in brackets. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const bare = withoutBrackets(host).toLowerCase()
  return bare === 'localhost' || bare === '::1' || /^127(?:\.\d{1,3}){3}$/.test(bare)
}

/**
 * Listens with `node:http`. On a loopback address only the names of the loopback interface may be asked for, and pages that
 * this very listener would serve may ask; name others in `allowedOrigins`. On any other address no name is refused unless
 * `allowedHosts` says which are good. Rejects with a `TransportError` of kind `unreachable` when the address cannot be used.
 */
export async function listenHttp(dispatcher: Dispatcher, options: ListenHttpOptions): Promise<HttpListener> {
  const { host = '127.0.0.1', port = 0, headersTimeoutMs = 10_000, maxHeaderBytes = 32 * 1024 } = options
  const loopback = isLoopback(host)
  // not imported: loading it as a module reads every export of it, and with them half of the web platform
  const http = process.getBuiltinModule('node:http')
  const server = http.createServer({
    IncomingMessage: directRequests(http.IncomingMessage),
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // bodies have a time limit of their own, after which the client gets a JSON-RPC error
    requestTimeout: (options.bodyTimeoutMs ?? 30_000) + headersTimeoutMs + 5_000,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 5_000),
    // a connection whose other end has vanished is found out by the system
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    noDelay: true,
  })
  // sockets that keep a stream have no time limit
  server.timeout = 0
  // longer than the proxies in front of a server keep theirs, or they would send a request into a connection that ends
  server.keepAliveTimeout = 65_000
  await listening(server, host, port)
  const bound = server.address() as AddressInfo
  const handler = createHttpHandler(dispatcher, {
    ...options,
    allowedHosts: options.allowedHosts ?? (loopback ? undefined : 'any'),
    allowedOrigins: [...(options.allowedOrigins ?? []), ...(loopback ? ownOrigins(bound.port) : [])],
    anonymous: options.anonymous ?? `anonymous@${host}:${bound.port}`,
    createSessionId: options.createSessionId ?? createSessionIds(),
  })
  server.on('request', (req: IncomingMessage, res: ServerResponse) => handler.node(req, res))
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => handler.checkContinue(req, res))
  server.on('error', (cause) => {
    options.onDiagnostic?.({ level: 'error', code: 'listener-failed', message: `cannot accept at ${host}`, cause })
  })

  let closing: Promise<void> | undefined
  const close = async (drain?: DrainOptions): Promise<void> => {
    closing ??= (async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      await handler.drain(drain)
      await handler[Symbol.asyncDispose]()
      // answers that were written last are on their way; what then still holds a connection is cut off
      const idle = setInterval(() => server.closeIdleConnections(), 10)
      const held = setTimeout(() => server.closeAllConnections(), lastWordsMs)
      server.closeIdleConnections()
      await closed
      clearInterval(idle)
      clearTimeout(held)
    })()
    await closing
  }
  const bare = withoutBrackets(host)
  const shown = loopback ? bare : bare === '::' || bare === '0.0.0.0' ? '127.0.0.1' : bare
  const url = `http://${shown.includes(':') ? `[${shown}]` : shown}:${bound.port}${options.path ?? '/mcp'}`
  return { url, port: bound.port, handler, close, [Symbol.asyncDispose]: async () => await close() }
}

/** How long connections may take to carry the last answers away, in milliseconds. */
const lastWordsMs = 500

function ownOrigins(port: number): string[] {
  return ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:${port}`)
}

function listening(server: import('node:http').Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error & { code?: string }): void => {
      const reason = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message
      reject(new TransportError('unreachable', `cannot listen on ${host}:${port}: ${reason}`, { cause }))
    }
    server.once('error', onError)
    const onListening = (): void => {
      server.off('error', onError)
      resolve()
    }
    try {
      const bound = bind(host, port)
      if (bound === undefined) server.listen({ host: withoutBrackets(host), port }, onListening)
      else server.listen(bound, onListening)
    } catch (error) {
      onError(error as Error)
    }
  })
}

/** What newer versions of `node:net` have. */
interface Binding {
  readonly BoundSocket?: new (options: { readonly host: string; readonly port: number }) => object
}

/**
 * A socket that is bound to an IPv4 address, for a server to adopt; `undefined` where `listen` has to bind. That looks every
 * address up as if it were a name, and compiles a large pattern to see whether it is one of IPv6, which takes 3 ms of a start.
 * A worker of a cluster gets its socket from the primary, for which only `listen` asks.
 */
function bind(host: string, port: number): object | undefined {
  const net: typeof import('node:net') & Binding = process.getBuiltinModule('node:net')
  if (net.BoundSocket === undefined || !net.isIPv4(host)) return undefined
  return isWorker() ? undefined : new net.BoundSocket({ host, port })
}

/** Whether this is a worker of a cluster, which has a channel to its primary; others need not load what makes workers, for 1 ms. */
function isWorker(): boolean {
  if (process.send === undefined) return false
  const cluster = process.getBuiltinModule('node:cluster') as unknown as import('node:cluster').Cluster
  return cluster.isWorker
}
