import { type IncomingMessage, request as nodeRequest } from 'node:http'
import type { Dispatcher } from '@atenea/mcpcompat'
import { type CreateHttpHandlerOptions, createHttpHandler, type HttpHandler } from '@atenea/transport-http'
import { listenHttp } from '@atenea/transport-http/node'

export interface HttpAsk {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Whether the rest of the body never comes. */
  readonly unfinished?: boolean
  /** Goes away when it aborts, whether an answer has begun or not. */
  readonly signal?: AbortSignal | undefined
}

/** An answer whose body is read as it comes. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The next piece of the body; `undefined` at its end. */
  next(): Promise<string | undefined>
  /** The whole rest. */
  text(): Promise<string>
  /** Goes away without reading on. */
  leave(): void
}

/** The server under test, as its clients reach it. */
export interface HttpCarrier extends AsyncDisposable {
  readonly handler: HttpHandler
  ask(ask: HttpAsk): Promise<HttpAnswer>
}

export type OpenCarrier = (dispatcher: Dispatcher, options: CreateHttpHandlerOptions) => Promise<HttpCarrier>

/** Real sockets and `node:http`. */
export const overNode: OpenCarrier = async (dispatcher, options) => {
  const listener = await listenHttp(dispatcher, { bodyTimeoutMs: 30_000, ...options })
  return {
    handler: listener.handler,
    ask: askAt(listener.url),
    [Symbol.asyncDispose]: async () => await listener.close({ timeoutMs: 0 }),
  }
}

/** Asks whoever listens there, on a connection of its own each time. */
export function askAt(url: string): HttpCarrier['ask'] {
  const { hostname, port } = new URL(url)
  return ({ method = 'POST', path = '/mcp', headers = {}, body, unfinished = false, signal }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined || unfinished ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const req = nodeRequest({ hostname, port, path, method, headers: { ...length, ...headers }, agent: false })
      signal?.addEventListener('abort', () => req.destroy())
      req.on('error', reject)
      req.on('response', (res) => resolve(nodeAnswer(res, () => req.destroy())))
      if (unfinished) req.write(body ?? '')
      else req.end(body)
    })
}

function nodeAnswer(res: IncomingMessage, leave: () => void): HttpAnswer {
  res.setEncoding('utf8')
  const chunks = res[Symbol.asyncIterator]() as AsyncIterator<string>
  return answer(res.statusCode ?? 0, res.headers as Record<string, string>, leave, async () => {
    const { done, value } = await chunks.next()
    return done === true ? undefined : value
  })
}

/** The handler for servers of the web platform, called as such a server calls it. */
export const overFetch: OpenCarrier = async (dispatcher, options) => {
  const handler = createHttpHandler(dispatcher, { allowedOrigins: ['http://127.0.0.1:8420'], ...options })
  await Promise.resolve()
  return {
    handler,
    async ask({ method = 'POST', path = '/mcp', headers = {}, body, unfinished = false, signal }) {
      const away = new AbortController()
      signal?.addEventListener('abort', () => away.abort())
      const { host = '127.0.0.1:8420', ...fields } = headers
      const response = await handler.fetch(
        new Request(`http://${host}${path}`, {
          method,
          headers: fields,
          signal: away.signal,
          ...(body !== undefined && {
            body: unfinished ? endless(body) : (body as NonNullable<RequestInit['body']>),
            duplex: 'half',
          }),
        }),
      )
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      const leave = (): void => {
        away.abort()
        reader?.cancel().catch(() => undefined)
      }
      return answer(response.status, Object.fromEntries(response.headers), leave, async () => {
        const read = await reader?.read()
        return read === undefined || read.done ? undefined : read.value
      })
    },
    [Symbol.asyncDispose]: async () => await handler[Symbol.asyncDispose](),
  }
}

function endless(start: string | Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(typeof start === 'string' ? new TextEncoder().encode(start) : start),
  })
}

function answer(
  status: number,
  headers: Readonly<Record<string, string>>,
  leave: () => void,
  next: HttpAnswer['next'],
): HttpAnswer {
  return {
    status,
    headers,
    next,
    leave,
    async text() {
      let text = ''
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) text += chunk
      return text
    },
  }
}
