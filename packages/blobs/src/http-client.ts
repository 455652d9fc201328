import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { BlobError } from './blob-error.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import type { EndpointGuard, ResolvedAddress } from './endpoint-guard.ts'
import type { AbortOptions } from './abort.ts'
import { tooLarge } from './read-chunks.ts'
import { type HttpBody, readBody, sendBody } from './http-body.ts'
import { isBrokenConnection, networkError } from './network-error.ts'

/** A request to a host that the guard lets through. */
export interface HttpRequest extends AbortOptions {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: URL
  /** In lower case. With `authorization`, no redirect is followed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent on a connection of its own, and only once. */
  readonly body?: HttpBody | undefined
  /** Redirects that are followed, for GET and HEAD. */
  readonly maxRedirects: number
  /** Bytes that the body of the answer may have. */
  readonly maxBytes: number
  /** Milliseconds for all of it, until the last byte was taken. */
  readonly timeoutMs: number
  /** Milliseconds between two signs of life of the other side. */
  readonly idleMs: number
}

/** An answer whose body is still to come. Read it to its end, leave its loop, or dispose of it. */
export interface HttpResponse extends Disposable {
  readonly status: number
  /** A header by its name in lower case. */
  header(name: string): string | undefined
  /** Where it came from, after redirects. */
  readonly url: URL
  readonly redirects: number
  /** At most `maxBytes`. Throws unless all of it came. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends requests. Failures are `BlobError`s; an abort rejects with its reason. */
export interface HttpClient extends Disposable {
  request(request: HttpRequest): Promise<HttpResponse>
}

export interface CreateHttpClientOptions {
  readonly guard: EndpointGuard
  /** Other certificate authorities than those of Node, in PEM, or another port to dial, by URL. */
  readonly connect?: ((url: URL) => { readonly ca?: string; readonly port?: number }) | undefined
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])
/** Idle connections kept for the next request to the same host. */
const keptConnections = 8
const keptMs = 15_000

/**
 * An HTTP client on `node:http` and `node:https` that dials only what the guard lets through: it judges each URL, redirects
 * included, resolves the name itself and hands on exactly the addresses that were judged, and looks at the address again when
 * the connection stands. Bodies are asked for and taken as they are, without compression. No proxy of the environment is used.
 */
export function createHttpClient({ guard, connect }: CreateHttpClientOptions): HttpClient {
  const http = process.getBuiltinModule('node:http')
  const https = process.getBuiltinModule('node:https')
  const keeping = { keepAlive: true, maxFreeSockets: keptConnections, timeout: keptMs }
  const agents = { 'http:': new http.Agent(keeping), 'https:': new https.Agent(keeping) }

  function optionsFor(url: URL, request: HttpRequest): RequestOptions {
    const { body } = request
    return {
      method: request.method,
      headers: {
        'user-agent': 'atenea-blobs',
        ...request.headers,
        host: url.host,
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-length': String(body.size), connection: 'close' }),
      },
      // A server that refuses a body early leaves its connection in a state in which the next request would fail.
      agent: body === undefined ? agents[url.protocol === 'http:' ? 'http:' : 'https:'] : false,
      lookup: (_host, { all }, done) => void answerLookup(guard.resolve(url), all === true, done),
      ...connect?.(url),
    }
  }

  function send(url: URL, request: HttpRequest, deadline: Deadline): Promise<Sent> {
    return new Promise((resolve) => {
      const sent = (url.protocol === 'http:' ? http : https).request(url, optionsFor(url, request))
      const stop = (reason: unknown): void => void sent.destroy(reason instanceof Error ? reason : undefined)
      deadline.onEnd(stop)
      deadline.progress()
      sent.once('socket', (socket) => {
        if (!socket.connecting) return
        socket.once('connect', () => {
          try {
            guard.assertAddress(socket.remoteAddress, url)
          } catch (error) {
            stop(error)
          }
        })
      })
      sent.once('response', (answer) => resolve({ request: sent, answer }))
      // Stays for the whole life of the request: an error that comes when the answer has begun is told by its body as well.
      sent.on('error', (error) => resolve({ request: sent, error }))
      sendBody(sent, request.body, deadline).catch(stop)
    })
  }

  /** Sends a request; once more when the connection that was kept for it had been closed by the other side. */
  async function exchange(url: URL, request: HttpRequest, deadline: Deadline): Promise<Answered> {
    for (let isRepeated = false; ; isRepeated = true) {
      const sent = await send(url, request, deadline)
      if (deadline.ended !== undefined) throw deadline.ended.reason
      if ('answer' in sent) return sent
      const mayRepeat = request.method !== 'POST' && sent.request.reusedSocket && isBrokenConnection(sent.error)
      if (isRepeated || !mayRepeat) throw networkError(sent.error, url)
    }
  }

  return {
    async request(request) {
      const { signal, timeoutMs, idleMs, maxRedirects } = request
      signal?.throwIfAborted()
      const what = `${request.method} ${request.url.origin}${request.url.pathname}`
      const deadline = startDeadline({ signal, timeoutMs, idleMs, what })
      try {
        let from: URL | undefined
        let url = request.url
        for (let redirects = 0; ; redirects++) {
          guard.assertAllowed(url, from)
          const answered = await exchange(url, request, deadline)
          const target = redirectTarget(answered.answer, url)
          if (target === undefined) return respond(answered, { url, redirects, request, deadline })
          answered.answer.destroy()
          if (request.method === 'POST' || request.headers?.['authorization'] !== undefined) {
            throw badRedirect(url, 'answers with a redirect, which is not followed with credentials or a body')
          }
          if (redirects >= maxRedirects) throw badRedirect(url, `redirects once more after ${maxRedirects} redirects`)
          from = url
          url = target
        }
      } catch (error) {
        deadline.clear()
        throw error
      }
    },
    [Symbol.dispose]() {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

type LookupCallback = Parameters<NonNullable<RequestOptions['lookup']>>[2]

/** Gives Node the addresses that were judged, in the form that it asks for. */
async function answerLookup(
  found: Promise<readonly ResolvedAddress[]>,
  wantsAll: boolean,
  done: LookupCallback,
): Promise<void> {
  try {
    const addresses = await found
    const [first] = addresses
    if (first === undefined) throw new Error('the name has no address')
    if (wantsAll) done(null, [...addresses])
    else done(null, first.address, first.family)
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)), '', 4)
  }
}

interface Answered {
  readonly request: ClientRequest
  readonly answer: IncomingMessage
}

type Sent = Answered | { readonly request: ClientRequest; readonly error: Error }

/** Where an answer sends us, if it does. */
function redirectTarget({ statusCode = 0, headers: { location } }: IncomingMessage, url: URL): URL | undefined {
  if (!redirectStatuses.has(statusCode) || location === undefined) return undefined
  if (!URL.canParse(location, url.href)) throw badRedirect(url, 'redirects to something that is no URL')
  const target = new URL(location, url)
  target.hash = ''
  return target
}

function badRedirect(url: URL, what: string): BlobError {
  return new BlobError('bad-redirect', `${url.origin} ${what}`, { details: { source: url.origin } })
}

interface Exchanged {
  readonly url: URL
  readonly redirects: number
  readonly request: HttpRequest
  readonly deadline: Deadline
}

function respond({ request: sent, answer }: Answered, { url, redirects, request, deadline }: Exchanged): HttpResponse {
  const { maxBytes, method } = request
  const header = (name: string): string | undefined => {
    const value = answer.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  deadline.pause()
  deadline.onEnd((reason) => answer.destroy(reason instanceof Error ? reason : undefined))
  const close = (): void => {
    deadline.clear()
    answer.destroy()
    sent.destroy()
  }
  try {
    const encoding = header('content-encoding')?.trim().toLowerCase() ?? 'identity'
    if (method !== 'HEAD' && encoding !== 'identity') throw encoded(url, encoding)
    const length = Number(header('content-length') ?? 0)
    if (method !== 'HEAD' && length > maxBytes) throw tooLarge(maxBytes, length)
  } catch (error) {
    close()
    throw error
  }
  return {
    status: answer.statusCode ?? 0,
    header,
    url,
    redirects,
    body: readBody(answer, { request: sent, url, deadline, maxBytes }),
    [Symbol.dispose]: close,
  }
}

function encoded(url: URL, encoding: string): BlobError {
  const message = `${url.origin} answers with a body in ${JSON.stringify(encoding.slice(0, 40))}, though plain bytes were asked for`
  return new BlobError('encoded', message, { details: { source: url.origin } })
}
