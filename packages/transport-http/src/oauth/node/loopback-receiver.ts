import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { abortable } from '@atenea/mcpcompat/transport'
import type { RedirectReceiver } from '../flows/browser-flow.ts'

export interface CreateLoopbackReceiverOptions {
  /** A redirect URI that was used before, to be listened at again if its port is free. */
  readonly preferred?: string | undefined
  /** Name of the program, for the page that ends the sign-in. */
  readonly name?: string | undefined
}

const path = '/callback'

/**
 * Waits on a port of this machine for the browser to come back (RFC 8252, section 7.3). The port is any free one, unless the preferred one
 * is free. It answers one sign-in, that of the state that is waited for; other requests get 404 and change nothing.
 */
export async function createLoopbackReceiver(options: CreateLoopbackReceiverOptions = {}): Promise<RedirectReceiver> {
  const place = preferredPlace(options.preferred)
  // As a module it would load all of the platform's fetch, whether somebody signs in or not.
  const server = process.getBuiltinModule('node:http').createServer()
  const listening = (place !== undefined && (await listen(server, place.port))) || (await listen(server, 0))
  if (!listening) throw new Error('No port of this machine is free.')
  const { port } = server.address() as AddressInfo
  const uri = place !== undefined && place.port === port ? place.uri : `http://127.0.0.1:${port}${path}`
  const pathname = new URL(uri).pathname
  return {
    uri,
    receive: async (state, judge, signal) =>
      await receive(server, { pathname, state, name: options.name }, judge, signal),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), 1_000).unref()
      await closed
    },
  }
}

function preferredPlace(uri: string | undefined): { readonly uri: string; readonly port: number } | undefined {
  if (uri === undefined || !URL.canParse(uri)) return undefined
  const { protocol, hostname, port } = new URL(uri)
  const isOurs = protocol === 'http:' && (hostname === '127.0.0.1' || hostname === 'localhost') && port !== ''
  return isOurs ? { uri, port: Number(port) } : undefined
}

function listen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const failed = (): void => resolve(false)
    server.once('error', failed)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', failed)
      resolve(true)
    })
  })
}

interface Expected {
  readonly pathname: string
  readonly state: string
  readonly name: string | undefined
}

async function receive<T>(
  server: Server,
  expected: Expected,
  judge: (answer: URLSearchParams) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let taken = false
  let finish: (outcome: Promise<T>) => void = () => undefined
  const outcome = new Promise<T>((resolve) => {
    finish = resolve
  })
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const searchParams = parametersOf(request, expected)
    if (searchParams === undefined || taken) {
      answer(response, 404, 'Not found', 'Nothing is waited for here.')
      return
    }
    taken = true
    const judged = judge(searchParams)
    finish(judged)
    judged.then(
      () => answer(response, 200, 'Signed in', `You are signed in${by(expected.name)}. You can close this window.`),
      () =>
        answer(response, 400, 'Not signed in', `The sign-in did not work. ${expected.name ?? 'The program'} says why.`),
    )
  }
  server.on('request', onRequest)
  try {
    return await abortable(outcome, signal)
  } finally {
    server.off('request', onRequest)
  }
}

/** What the browser brings back; `undefined` for any other request, which may be one that is no URL at all. */
function parametersOf(
  { method, url = '' }: IncomingMessage,
  { pathname, state }: Expected,
): URLSearchParams | undefined {
  const base = 'http://127.0.0.1'
  if (method !== 'GET' || !URL.canParse(url, base)) return undefined
  const asked = new URL(url, base)
  return asked.pathname === pathname && asked.searchParams.get('state') === state ? asked.searchParams : undefined
}

function by(name: string | undefined): string {
  return name === undefined ? '' : ` for ${name}`
}

function answer(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // The code in the address goes to nobody.
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    connection: 'close',
  })
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body style="font:1.1em system-ui;margin:4em auto;max-width:30em"><h1>${title}</h1><p>${safe}</p></body></html>\n`,
  )
}
