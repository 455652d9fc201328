import { TransportError } from '@atenea/mcpcompat'
import type { HttpAnswer, HttpRequest, HttpSend } from '../send.ts'
import { Exchange } from './http1/exchange.ts'
import { Ways } from './http1/ways.ts'
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
 * Makes requests in HTTP/1.1 over connections that are kept alive, through the proxies that `HTTP_PROXY`, `HTTPS_PROXY` and
 * `ALL_PROXY` name, less what `NO_PROXY` exempts. Certificates that
 * `NODE_EXTRA_CA_CERTS` names are trusted, as Node does. Nothing of Node's network is loaded before the first request.
 *
 * A request that met a connection which the server had just closed is sent again over a new one when none of it had left, or when it is
 * one that changes nothing. Anything else is never sent twice (F11).
 */
export function createNodeSend(options: CreateNodeSendOptions = {}): NodeSend {
  const { connectTimeoutMs = 10_000, idleTimeoutMs = 4_000 } = options
  const ways = new Ways({ connectTimeoutMs, idleTimeoutMs })
  let disposed = false

  const send = (request: HttpRequest): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const ending = request.ending ?? new SignalEnding(request.signal)
      const way = ways.of(request.url)
      const begin = (found: Awaited<typeof way>): void => {
        if (disposed) reject(new TransportError('closed', 'This way to make requests has been closed'))
        else new Exchange(request, ending, found, resolve, reject).begin()
      }
      if (way instanceof Promise) way.then(begin).catch(reject)
      else begin(way)
    })
  return Object.assign(send, {
    hearsEnding: true as const,
    [Symbol.dispose](): void {
      disposed = true
      ways.close()
    },
  })
}
