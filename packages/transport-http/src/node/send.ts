import type { ClientRequest, RequestOptions } from 'node:http'
import { type AbortWatcher, TransportError, type WireHints } from '@atenea/mcpcompat'
import { systemClock } from '@atenea/mcpcompat/transport'
import { safeUrl } from '../safe-url.ts'
import type { Ending, HttpAnswer, HttpRequest, HttpSend } from '../send.ts'
import { type AgentOf, createAgents } from './agents.ts'
import { codeText, NodeBody } from './node-body.ts'
import { SignalEnding } from './signal-ending.ts'

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
    const ending = request.ending ?? new SignalEnding(request.signal)
    if (ending.isAborted) throw ending.reason
    if (disposed) throw new TransportError('closed', 'This way to make requests has been closed')
    const found = agents.of(request.url)
    const way = found instanceof Promise ? await found : found
    try {
      return await attempt({ request, way, ending, connectTimeoutMs })
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      // The others of the pool are as old.
      way.closeIdle()
      try {
        return await attempt({ request, way, ending, connectTimeoutMs })
      } catch (second) {
        throw second instanceof StaleConnection ? second.failure : second
      }
    }
  }
  return Object.assign(send, {
    hearsEnding: true as const,
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

interface AttemptOptions {
  readonly request: HttpRequest
  readonly way: AgentOf
  readonly ending: Ending
  readonly connectTimeoutMs: number
}

function attempt(options: AttemptOptions): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => new Attempt(options, resolve, reject))
}

/** One request on its way until its answer begins, which is the business of a `NodeBody` from then on. */
class Attempt implements AbortWatcher {
  readonly #options: AttemptOptions
  readonly #outgoing: ClientRequest
  readonly #reject: (error: unknown) => void
  #answered = false
  #connected = false
  #writtenBefore = -1
  #timer: Disposable | undefined

  constructor(options: AttemptOptions, resolve: (answer: HttpAnswer) => void, reject: (error: unknown) => void) {
    const { request, way, ending } = options
    const { url, body } = request
    this.#options = options
    this.#reject = reject
    const outgoing = way.request(optionsOf(request, way))
    this.#outgoing = outgoing
    // A proxy on the way connects before there is a socket.
    if (way.proxy !== undefined) this.#limitConnecting()
    outgoing.once('socket', (socket) => {
      this.#writtenBefore = socket.bytesWritten
      if (outgoing.reusedSocket || !socket.connecting) {
        this.#onConnect()
        return
      }
      this.#limitConnecting()
      socket.once(way.isTls ? 'secureConnect' : 'connect', () => this.#onConnect())
    })
    outgoing.once('response', (incoming) => {
      this.#answered = true
      this.#timer?.[Symbol.dispose]()
      const { statusCode = 0, headers } = incoming
      const coding = headers['content-encoding'] ?? 'identity'
      if (coding !== 'identity') {
        ending.unwatch(this)
        reject(compressed(url, coding))
        outgoing.destroy()
        return
      }
      // It watches in our place.
      resolve({
        status: statusCode,
        headers: headers as WireHints,
        body: new NodeBody({ incoming, outgoing, url, ending }),
      })
    })
    outgoing.on('error', (error) => {
      if (!this.#answered) this.#failed(error) // else the body tells
    })
    ending.watch(this)
    if (body === undefined) outgoing.end()
    else outgoing.end(body)
  }

  aborted(reason: unknown): void {
    this.#timer?.[Symbol.dispose]()
    this.#reject(reason)
    this.#outgoing.destroy()
  }

  #limitConnecting(): void {
    const { connectTimeoutMs } = this.#options
    const late = (): void =>
      void this.#outgoing.destroy(new ConnectTimeout(`no connection within ${connectTimeoutMs} ms`))
    // the clock takes any delay; a bare timer runs at once for one that it cannot hold
    this.#timer ??= systemClock.after(connectTimeoutMs, late, { holdsProcess: true })
  }

  #onConnect(): void {
    this.#connected = true
    this.#timer?.[Symbol.dispose]()
  }

  #failed(error: Error): void {
    const { request, ending } = this.#options
    const { url, repeatable } = request
    this.#timer?.[Symbol.dispose]()
    ending.unwatch(this)
    if (ending.isAborted) {
      this.#reject(ending.reason)
      return
    }
    const { socket, reusedSocket } = this.#outgoing
    const wrote = this.#connected && socket !== null && socket.bytesWritten > this.#writtenBefore
    const failure = failureOf(error, url, wrote, repeatable)
    const wasStale = (reusedSocket || this.#writtenBefore === -1) && isReset(error) && (!wrote || repeatable)
    this.#reject(wasStale ? new StaleConnection(failure) : failure)
  }
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

function optionsOf(
  { method, url, headers, body }: HttpRequest,
  { agent, isTls }: AgentOf,
): RequestOptions & { servername?: string } {
  const { hostname, port, path } = partsOf(url)
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  return {
    method,
    hostname,
    path,
    agent,
    // Without it a server may compress as it likes (RFC 9110, 12.5.3).
    headers: { 'accept-encoding': 'identity', ...headers, ...length },
    ...(port !== '' && { port }),
    // Otherwise it is worked out for every request, from a header, also where there is no TLS that would say it.
    ...(!isTls && { servername: '' }),
  }
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

function compressed(url: string, coding: string): TransportError {
  const text = `${safeUrl(url)} answered with compressed bytes (${coding.slice(0, 40)}), though it was asked for plain ones. Switch that off in the server, or in what stands before it.`
  return new TransportError('protocol', text)
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
