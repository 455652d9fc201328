import { createRevisionPolicy, type Dispatcher, type Principal, toObject } from '@atenea/mcpcompat'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import {
  type Authenticate,
  connectHttp,
  createBearerAuthenticator,
  createFetchSend,
  createHttpHandler,
  type HttpHandler,
} from '@atenea/transport-http'
import {
  createDeviceFlow,
  createOAuthAuthorizer,
  createMemorySignInStore,
  type OAuthAuthorizer,
} from '@atenea/transport-http/oauth'
import { createResourceServer, type ResourceServer } from '@atenea/transport-http/resource-server'

const dispatcher: Dispatcher = {
  call: (_call, { principal }) => ({ kind: 'result', value: { content: [{ type: 'text', text: principal.id }] } }),
  notify: () => undefined,
  view: () => ({
    info: { name: 'usage', version: '1' },
    capabilities: { tools: {} },
    has: (method) => method === 'tools/call',
    headerPlan: () => undefined,
  }),
  drain: async () => {},
}

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}

const policy = createRevisionPolicy()
const anna: Principal = { id: 'anna', authenticated: true }
const authenticate: Authenticate = createBearerAuthenticator((token) => (token === 'secret' ? anna : undefined))
const handler: HttpHandler = createHttpHandler(dispatcher, {
  policy,
  authenticate,
  allowedOrigins: ['https://example.com'],
})

// a client for each era, straight into the handler
const send = createFetchSend({ fetch: (url, init) => handler.fetch(new Request(url, init)) })
for (const mode of ['modern', 'legacy'] as const) {
  const info = { name: 'usage', version: '1' }
  const authorization = (): string => 'Bearer secret'
  const client = await connectHttp('http://127.0.0.1/mcp', { policy, info, mode, send, authorization })
  const outcome = await client.call({ method: 'tools/call', params: { name: 'who' } }, createCallerContext({}))
  if (outcome.kind !== 'result') throw new Error(outcome.kind)
  expectEqual(toObject(outcome.value as object as Parameters<typeof toObject>[0])['content'], [
    { type: 'text', text: 'anna' },
  ])
  await client[Symbol.asyncDispose]()
}

// who signs in elsewhere is led there
const server: ResourceServer = createResourceServer({
  issuer: 'https://auth.example.com',
  audience: 'https://mcp.example.com/mcp',
  requiredScopes: ['mcp'],
})
const { authenticate: byIssuer, protectedResource } = server
const guarded = createHttpHandler(dispatcher, { policy, authenticate: byIssuer, protectedResource })
const challenge = await guarded.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', body: '{}' }))
expectEqual(
  [challenge.status, challenge.headers.get('www-authenticate')?.includes('/.well-known/oauth-protected-resource/mcp')],
  [401, true],
)
const forged = await guarded.fetch(
  new Request('http://127.0.0.1/mcp', { method: 'POST', headers: { authorization: 'Bearer a.b.c' }, body: '{}' }),
)
expectEqual(forged.status, 401)
await guarded[Symbol.asyncDispose]()

// who signs in with another device
const prompts: string[] = []
const authorizer: OAuthAuthorizer = createOAuthAuthorizer('https://mcp.example.com/mcp', {
  identity: { name: 'usage', clients: [{ clientId: 'usage', issuer: 'https://auth.example.com' }] },
  flow: createDeviceFlow({ show: ({ url, code }) => void prompts.push(`${url} ${code}`) }),
  store: createMemorySignInStore(),
})
expectEqual(await authorizer.fields({ method: 'POST', url: 'https://mcp.example.com/mcp' }, {}), {})
authorizer[Symbol.dispose]()

// what is not let in
const origin = 'https://example.org'
const refused = await handler.fetch(
  new Request('http://127.0.0.1/mcp', { method: 'POST', headers: { origin }, body: '{}' }),
)
expectEqual(refused.status, 403)
const health = await handler.fetch(new Request('http://127.0.0.1/healthz'))
expectEqual([health.status, await health.text()], [200, 'ok\n'])
await handler[Symbol.asyncDispose]()

console.log('ok')
