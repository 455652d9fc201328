import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { TransportError, type WireHints } from '@atenea/mcpcompat'
import { type Channel, channel, systemClock } from '@atenea/mcpcompat/transport'
import { safeUrl } from '../safe-url.ts'
import type { HttpAnswer, HttpRequest, HttpSend } from '../send.ts'
import { type AgentOf, createAgents } from './agents.ts'

export interface CreateNodeSendOptions {
  /** How long connecting may take, TLS and a proxy on the way included. `Infinity`: as long as the system tries. Default 10,000 ms. */
  readonly connectTimeoutMs?: number
  /** How long an unused connection is kept. Below the 5 s of most servers, so that one is seldom used just as it is closed. Default 4,000 ms. */
  readonly idleTimeoutMs?: number
}

/** An `HttpSend` with connections of its own. Disposing it closes them; requests that are under way fail. */
export interface NodeSend extends HttpSend, Disposable {}

/**
 * Makes requests with `node:http` over connections that are kept alive, through the proxies that `HTTP_PROXY`, `HTTPS_PROXY` and
 * `ALL_PROXY` name, less what `NO_PROXY` exempts. Certificates that
 * `NODE_EXTRA_CA_CERTS` names are trusted, as Node does. Nothing of it is loaded before the first request.
 *
 * A request that met a connection which the server had just closed is sent again over a new one when none of it had left, or when it is
 * one that changes nothing. Anything else is never sent twice (F11).
 */
export function createNodeSend(options: CreateNodeSendOptions = {}): NodeSend {
  const { connectTimeoutMs = 10_000, idleTimeoutMs = 4_000 } = options
  const agents = createAgents({ idleTimeoutMs })
  let disposed = false

  const send: HttpSend = async (request) => {
    request.signal.throwIfAborted()
    if (disposed) throw new TransportError('closed', 'This way to make requests has been closed')
    const found = agents.of(request.url)
    const way = found instanceof Promise ? await found : found
    try {
      return await attempt(request, way, connectTimeoutMs)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      // The others of the pool are as old.
      way.closeIdle()
      try {
        return await attempt(request, way, connectTimeoutMs)
      } catch (second) {
        throw second instanceof StaleConnection ? second.failure : second
      }
    }
  }
  return Object.assign(send, {
    [Symbol.dispose](): void {
      disposed = true
      agents.close()
    },
  })
}

/** The connection was closed under a request that may be sent again. Never leaves this file. */
class StaleConnection extends Error {
  readonly failure: TransportError

  constructor(failure: TransportError) {
    super(failure.message)
    this.failure = failure
  }
}

function attempt(request: HttpRequest, way: AgentOf, connectTimeoutMs: number): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { url, signal, body } = request
    const outgoing = way.request(optionsOf(request, way.agent))
    let answered = false
    let connected = false
    let writtenBefore = -1

    const late = (): void => void outgoing.destroy(new ConnectTimeout(`no connection within ${connectTimeoutMs} ms`))
    // the clock takes any delay; a bare timer runs at once for one that it cannot hold
    const timer = systemClock.after(connectTimeoutMs, late, { holdsProcess: true })
    const onAbort = (): void => {
      reject(signal.reason as Error)
      outgoing.destroy()
    }
    const settled = (): void => {
      timer[Symbol.dispose]()
      signal.removeEventListener('abort', onAbort)
    }

    outgoing.once('socket', (socket) => {
      writtenBefore = socket.bytesWritten
      const onConnect = (): void => {
        connected = true
        timer[Symbol.dispose]()
      }
      if (outgoing.reusedSocket || !socket.connecting) onConnect()
      else socket.once(way.isTls ? 'secureConnect' : 'connect', onConnect)
    })
    outgoing.once('response', (incoming) => {
      answered = true
      settled()
      resolve(answerOf(incoming, outgoing, request))
    })
    outgoing.on('error', (error) => {
      if (answered) return // the body tells
      settled()
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      const socket = outgoing.socket
      const wrote = connected && socket !== null && socket.bytesWritten > writtenBefore
      const failure = failureOf(error, url, wrote, request.repeatable)
      const wasStale =
        (outgoing.reusedSocket || writtenBefore === -1) && isReset(error) && (!wrote || request.repeatable)
      reject(wasStale ? new StaleConnection(failure) : failure)
    })
    signal.addEventListener('abort', onAbort, { once: true })
    if (body === undefined) outgoing.end()
    else outgoing.end(body)
  })
}

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'
}

let lastUrl = ''
let lastParts: { readonly hostname: string; readonly port: string; readonly path: string } | undefined

/** The parts of a URL; nearly all requests of a process go to one. */
function partsOf(url: string): NonNullable<typeof lastParts> {
  if (lastParts === undefined || lastUrl !== url) {
    const { hostname, port, pathname, search } = new URL(url)
    lastUrl = url
    lastParts = { hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, path: pathname + search }
  }
  return lastParts
}

function optionsOf({ method, url, headers, body }: HttpRequest, agent: Agent): RequestOptions {
  const { hostname, port, path } = partsOf(url)
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  return {
    method,
    hostname,
    path,
    agent,
    headers: { ...headers, ...length },
    ...(port !== '' && { port }),
  }
}

function answerOf(incoming: IncomingMessage, outgoing: ClientRequest, request: HttpRequest): HttpAnswer {
  const body: Channel<Uint8Array> = channel({
    waitAtBytes: 65_536,
    // What one read brings beyond that; reading has been stopped by then.
    maxBytes: 64 * 1_048_576,
    onStop: () => void outgoing.destroy(),
  })
  const { signal } = request
  const onAbort = (): void => {
    body.fail(signal.reason as Error)
    outgoing.destroy()
  }
  incoming.on('data', (chunk: Buffer) => {
    const full = body.push(chunk, chunk.length)
    if (full === undefined) return
    incoming.pause()
    void full.then(() => incoming.resume())
  })
  incoming.once('end', () => body.end())
  incoming.on('error', (error) => {
    const text = `The answer of ${safeUrl(request.url)} broke off${codeText(error)}`
    body.end(new TransportError('closed', text, { cause: error }))
  })
  incoming.once('close', () => {
    signal.removeEventListener('abort', onAbort)
    body.end(new TransportError('closed', `The answer of ${safeUrl(request.url)} broke off`))
  })
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return { status: incoming.statusCode ?? 0, headers: incoming.headers as WireHints, body }
}

function failureOf(error: Error, url: string, wrote: boolean, repeatable: boolean): TransportError {
  const name = safeUrl(url)
  if (wrote) {
    const text = repeatable
      ? `${name} closed the connection without an answer${codeText(error)}.`
      : `${name} closed the connection without an answer${codeText(error)}; the call may have been carried out.`
    return new TransportError('unknown-outcome', text, { cause: error, retryable: repeatable })
  }
  if (error instanceof ConnectTimeout) {
    return new TransportError('unreachable', `${name} cannot be reached: ${error.message}.`, {
      cause: error,
      retryable: true,
    })
  }
  return new TransportError('unreachable', `${name} cannot be reached${codeText(error)}. ${adviceFor(error)}`, {
    cause: error,
    retryable: true,
  })
}

function codeText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code === undefined ? '' : ` (${code})`
}

function adviceFor(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'ECONNREFUSED') return 'Is the server running, and on that port?'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'Its name cannot be resolved.'
  if (/CERT|SIGNED|TLS|SSL|ISSUER/.test(code))
    return 'Its certificate is not trusted; NODE_EXTRA_CA_CERTS names further authorities.'
  return 'Try again later.'
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}
