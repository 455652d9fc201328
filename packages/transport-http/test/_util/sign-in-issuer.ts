import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@atenea/mcpcompat'

/** One request as it arrived. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

export type Route = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void

/** An authorization server, and what it protects, on one port; each path does what a test says. */
export interface Issuer extends AsyncDisposable {
  readonly origin: string
  /** Of the protected resource. */
  readonly url: string
  readonly asked: readonly Asked[]
  /** What was asked at a path. */
  at(path: string): readonly Asked[]
  /** Answers a path differently from now on. */
  route(path: string, route: Route): void
  /** Changes members of the metadata of the authorization server. */
  metadata: JsonObject
}

export const answer = (response: ServerResponse, status: number, value: JsonObject): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** By default everything is right: a browser that comes to `/authorize` is sent back at once. */
export async function startIssuer(): Promise<Issuer> {
  const asked: Asked[] = []
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let tokens = 0
  const issuer: Issuer = {
    origin,
    url: `${origin}/mcp`,
    asked,
    at: (path) => asked.filter((one) => one.path === path),
    route: (path, route) => routes.set(path, route),
    metadata: {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  const routes = new Map<string, Route>([
    [
      '/.well-known/oauth-protected-resource/mcp',
      (_asked, response) => answer(response, 200, { resource: issuer.url, authorization_servers: [origin] }),
    ],
    [
      '/.well-known/oauth-authorization-server',
      (_asked, response) =>
        answer(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          ...issuer.metadata,
        }),
    ],
    ['/register', (_asked, response) => answer(response, 201, { client_id: 'made' })],
    [
      '/authorize',
      (_asked, response, request) => {
        const { searchParams } = new URL(request.url ?? '', origin)
        const back = new URL(searchParams.get('redirect_uri') ?? '')
        back.searchParams.set('code', 'the-code')
        back.searchParams.set('state', searchParams.get('state') ?? '')
        response.writeHead(302, { location: back.href }).end()
      },
    ],
    [
      '/token',
      (_asked, response) =>
        answer(response, 200, { access_token: `token-${++tokens}-0123456789`, token_type: 'Bearer', expires_in: 3600 }),
    ],
    ['/mcp', (_asked, response) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()],
  ])
  server.on('request', (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      const one = { method: request.method ?? '', path, authorization: request.headers.authorization, body }
      asked.push(one)
      const route = routes.get(path)
      if (route === undefined) response.writeHead(404).end()
      else route(one, response, request)
    })
  })
  return issuer
}
