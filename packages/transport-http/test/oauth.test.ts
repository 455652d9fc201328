import { createRevisionPolicy, method, TransportError } from '@atenea/mcpcompat'
import { type ClientConnection, createCallerContext } from '@atenea/mcpcompat/transport'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectHttp, type ConnectHttpOptions, createVerdictStore, HttpAuthError } from '../src/index.ts'
import { createNodeSend } from '../src/node.ts'
import {
  type CreateOAuthAuthorizerOptions,
  createBrowserFlow,
  createClientCredentialsFlow,
  createMemorySignInStore,
  createOAuthAuthorizer,
  type Flow,
  type OAuthAuthorizer,
  OAuthError,
} from '../src/oauth.ts'
import { createLoopbackReceiver } from '../src/oauth/node.ts'
import { answer, type Issuer, type Route, startIssuer } from './_util/sign-in-issuer.ts'
import { discovery } from './_util/servers.ts'

let issuer: Issuer
let shown: string[]
const connections: ClientConnection[] = []
beforeEach(async () => {
  issuer = await startIssuer()
  shown = []
})
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
})

function browser(visit: (url: string) => Promise<unknown> = async (url) => await fetch(url)): Flow {
  return createBrowserFlow({
    timeoutMs: 5_000,
    listen: async (preferred) => await createLoopbackReceiver({ preferred }),
    open: (url) => {
      shown.push(url)
      void visit(url).catch(() => undefined)
    },
  })
}

function authorizerOf(options: Partial<CreateOAuthAuthorizerOptions> = {}): OAuthAuthorizer {
  return createOAuthAuthorizer(issuer.url, { identity: { name: 'Test' }, flow: browser(), ...options })
}

async function connect(
  authorization: ConnectHttpOptions['authorization'],
  options: Partial<ConnectHttpOptions> = {},
): Promise<ClientConnection> {
  const connection = await connectHttp(issuer.url, {
    policy: createRevisionPolicy(),
    info: { name: 'test', version: '1' },
    send: createNodeSend(),
    authorization,
    ...options,
  })
  connections.push(connection)
  return connection
}

/** Lets in whoever has a token, and leaves calls to the test. */
function protect(call: Route, accepts: (token: string) => boolean = () => true): void {
  issuer.route('/mcp', (asked, response, request) => {
    const token = asked.authorization?.replace('Bearer ', '')
    if (token === undefined || !accepts(token)) {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
      return
    }
    const { id, method: name } = JSON.parse(asked.body) as { readonly id: number; readonly method: string }
    if (name === method.discover) answer(response, 200, { jsonrpc: '2.0', id, result: discovery })
    else call(asked, response, request)
  })
}

const result: Route = ({ body }, response) => {
  const { id } = JSON.parse(body) as { readonly id: number }
  answer(response, 200, { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } })
}

async function call(connection: ClientConnection): Promise<unknown> {
  return await connection.call(
    { method: method.callTool, params: { name: 'x', arguments: {} } },
    createCallerContext({ peer: { capabilities: {} } }),
  )
}

async function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(() => undefined).catch((reason: unknown) => reason)
  if (!TransportError.is(error)) throw new Error(`no TransportError: ${String(error)}`)
  return error
}

/** What became of connecting, by the code of its error. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await failureOf(promise)
  if (!OAuthError.is(error)) throw error
  return error.code
}

const calls = () => issuer.at('/mcp').filter(({ body }) => body.includes(method.callTool))

describe('A7: a server that asks for credentials on the probe', () => {
  test('is asked again with a token, keeps its era, and is not remembered before', async () => {
    protect(result)
    const verdicts = createVerdictStore()
    const connection = await connect(authorizerOf(), { verdicts })
    expect(connection.observed).toBe(createRevisionPolicy().modern[0])
    expect(issuer.at('/mcp').map(({ authorization }) => authorization)).toEqual([
      undefined,
      'Bearer token-1-0123456789',
    ])
    expect((await verdicts.get(issuer.url))?.era).toBe('modern')
  })

  test('is neither downgraded nor remembered while nobody signs in', async () => {
    const verdicts = createVerdictStore()
    const failure = await failureOf(connect(authorizerOf({ flow: undefined, advice: 'Do so.' }), { verdicts }))
    expect(failure).toMatchObject({ kind: 'auth', code: 'sign-in-needed', retryable: false })
    expect(failure.message).toMatch(/wants a sign-in at .* Do so\.$/)
    expect(issuer.at('/mcp')).toHaveLength(1)
    expect(await verdicts.get(issuer.url)).toBeUndefined()
  })

  test('gives a person time that is not the time of the probe or of the handshake', async () => {
    protect(result)
    const slow = browser(async (url) => {
      await new Promise((resolve) => void setTimeout(resolve, 1_000))
      await fetch(url)
    })
    const connection = await connect(authorizerOf({ flow: slow }), { probeTimeoutMs: 800 })
    expect(connection.observed).toBeDefined()
  })

  test('with a pin on legacy: the handshake waits for the sign-in as well', async () => {
    issuer.route('/mcp', ({ authorization, body, method: verb }, response) => {
      if (authorization === undefined) {
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      } else if (verb !== 'POST') response.writeHead(405).end()
      else {
        const { id } = JSON.parse(body) as { readonly id?: number }
        const [protocolVersion] = createRevisionPolicy().legacy
        const initialized = {
          protocolVersion: protocolVersion ?? '',
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        }
        if (id === undefined) response.writeHead(202).end()
        else answer(response, 200, { jsonrpc: '2.0', id, result: initialized })
      }
    })
    const slow = browser(async (url) => {
      await new Promise((resolve) => void setTimeout(resolve, 1_000))
      await fetch(url)
    })
    const connection = await connect(authorizerOf({ flow: slow }), { mode: 'legacy', handshakeTimeoutMs: 800 })
    expect(connection.observed).toBe(createRevisionPolicy().legacy[0])
    expect(shown).toHaveLength(1)
  })
})

describe('a call that was refused', () => {
  test('is made again after the sign-in, and carried out once', async () => {
    let good = 'token-1-0123456789'
    protect(result, (token) => token === good)
    const connection = await connect(authorizerOf())
    good = 'token-2-0123456789'
    await call(connection)
    expect(calls().map(({ authorization }) => authorization)).toEqual([
      'Bearer token-1-0123456789',
      'Bearer token-2-0123456789',
    ])
  })

  test('F11: of which nobody knows what became is not made again, whatever credentials there are', async () => {
    protect((_asked, _response, request) => request.socket.destroy())
    const connection = await connect(authorizerOf())
    expect(await failureOf(call(connection))).toMatchObject({ kind: 'unknown-outcome' })
    expect(calls()).toHaveLength(1)
    expect(shown).toHaveLength(1)
  })

  test('a server that takes no token at all shows nobody a page twice', async () => {
    protect(result, () => false)
    expect(await codeOf(connect(authorizerOf()))).toBe('refused')
    expect(shown).toHaveLength(1)
    expect(issuer.at('/mcp')).toHaveLength(2)
  })

  test('403 without insufficient_scope is no reason to sign in', async () => {
    protect(
      (_asked, response) => void response.writeHead(403, { 'www-authenticate': 'Bearer error="invalid_token"' }).end(),
    )
    const connection = await connect(authorizerOf())
    const failure = await failureOf(call(connection))
    expect(HttpAuthError.is(failure)).toBe(true)
    expect(shown).toHaveLength(1)
  })

  test('several at once share one sign-in', async () => {
    let good = 'token-1-0123456789'
    protect(result, (token) => token === good)
    const connection = await connect(authorizerOf())
    good = 'token-2-0123456789'
    await Promise.all(Array.from({ length: 8 }, async () => await call(connection)))
    expect(shown).toHaveLength(2)
    expect(issuer.at('/token')).toHaveLength(2)
  })

  test('one that is given up leaves the others their sign-in', async () => {
    let good = 'token-1-0123456789'
    protect(result, (token) => token === good)
    let goOn: () => void = () => undefined
    const person = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let first = true
    const flow = browser(async (url) => {
      if (!first) await person
      first = false
      await fetch(url)
    })
    const connection = await connect(authorizerOf({ flow }))
    good = 'token-2-0123456789'
    const given = new AbortController()
    const context = createCallerContext({ peer: { capabilities: {} }, signal: given.signal })
    const one = connection.call({ method: method.callTool, params: { name: 'x', arguments: {} } }, context)
    const other = call(connection)
    while (shown.length < 2) await new Promise((resolve) => void setTimeout(resolve, 5))
    given.abort(new Error('not needed any more'))
    await expect(one).rejects.toThrow('not needed any more')
    goOn()
    expect(await other).toMatchObject({ kind: 'result' })
    expect(shown).toHaveLength(2)
  })
})

describe('C19: a token stays at the server that it was issued for', () => {
  test('a redirect to another origin gets neither the request nor the token', async () => {
    await using elsewhere = await startIssuer()
    protect((_asked, response) => void response.writeHead(307, { location: elsewhere.url }).end())
    const connection = await connect(authorizerOf())
    expect(await failureOf(call(connection))).toMatchObject({ name: 'HttpRedirectError' })
    expect(elsewhere.asked).toEqual([])
  })

  test('requests to anything but the resource carry none', async () => {
    protect(result)
    const authorizer = authorizerOf()
    await connect(authorizer)
    const options = {}
    expect(await authorizer.fields({ method: 'POST', url: issuer.url }, options)).toEqual({
      authorization: 'Bearer token-1-0123456789',
    })
    expect(await authorizer.fields({ method: 'POST', url: `${issuer.origin}/other` }, options)).toEqual({})
    expect(await authorizer.fields({ method: 'POST', url: 'https://evil.example/mcp' }, options)).toEqual({})
    // Documents and the token endpoint never see it.
    expect(issuer.asked.filter(({ path, authorization }) => path !== '/mcp' && authorization !== undefined)).toEqual([])
  })

  test('a token endpoint that redirects gets no code to another place', async () => {
    await using elsewhere = await startIssuer()
    protect(result)
    issuer.route(
      '/token',
      (_asked, response) => void response.writeHead(307, { location: `${elsewhere.origin}/token` }).end(),
    )
    expect(await codeOf(connect(authorizerOf()))).toBe('invalid-response')
    expect(elsewhere.asked).toEqual([])
  })
})

describe('metadata', () => {
  const resourcePath = '/.well-known/oauth-protected-resource/mcp'

  test.each<readonly [string, () => void, string]>([
    [
      'the authorization server supports no PKCE',
      () => (issuer.metadata = { code_challenge_methods_supported: ['plain'] }),
      'no-pkce',
    ],
    ['it says nothing of PKCE', () => (issuer.metadata = { code_challenge_methods_supported: null }), 'no-pkce'],
    ['it has another name', () => (issuer.metadata = { issuer: `${issuer.origin}/` }), 'issuer-mismatch'],
    [
      'its token endpoint is not https',
      () => (issuer.metadata = { token_endpoint: 'http://as.example/t' }),
      'forbidden-url',
    ],
    ['it has no page to sign in', () => (issuer.metadata = { authorization_endpoint: null }), 'metadata'],
    ['nobody can register', () => (issuer.metadata = { registration_endpoint: undefined }), 'no-registration'],
    [
      'they are of another server',
      () =>
        issuer.route(resourcePath, (_asked, response) =>
          answer(response, 200, { resource: 'https://evil.example', authorization_servers: [issuer.origin] }),
        ),
      'resource-mismatch',
    ],
    [
      'they are no JSON object',
      () => issuer.route(resourcePath, (_asked, response) => void response.writeHead(200).end('[]')),
      'metadata',
    ],
    [
      'they do not come',
      () => issuer.route(resourcePath, (_asked, response) => void response.writeHead(503).end()),
      'unreachable',
    ],
    [
      'they are endless',
      () =>
        issuer.route(resourcePath, (_asked, response) => {
          response.writeHead(200)
          const write = (): void => {
            while (response.write('x'.repeat(65_536)));
          }
          response.on('drain', write)
          write()
        }),
      'metadata',
    ],
    [
      'they are at another origin',
      () =>
        issuer.route(
          resourcePath,
          (_asked, response) => void response.writeHead(302, { location: 'https://evil.example/' }).end(),
        ),
      'metadata',
    ],
    [
      'they go round in circles',
      () =>
        issuer.route(
          resourcePath,
          (_asked, response) => void response.writeHead(302, { location: resourcePath }).end(),
        ),
      'metadata',
    ],
  ])('%s: nobody is shown a page', async (_title, spoil, code) => {
    spoil()
    expect(await codeOf(connect(authorizerOf()))).toBe(code)
    expect(shown).toEqual([])
    expect(issuer.at('/token')).toEqual([])
  })

  test('are followed within their origin, and looked for where a server that knows no JSON answers with a page', async () => {
    protect(result)
    issuer.route(
      resourcePath,
      (_asked, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
    )
    issuer.route(
      '/.well-known/oauth-protected-resource',
      (_asked, response) => void response.writeHead(301, { location: '/moved' }).end(),
    )
    issuer.route('/moved', (_asked, response) =>
      answer(response, 200, { resource: issuer.url, authorization_servers: [issuer.origin] }),
    )
    await connect(authorizerOf())
    expect(issuer.at('/moved')).toHaveLength(1)
  })

  test('the second authorization server is taken where the first cannot be used', async () => {
    protect(result)
    issuer.route(resourcePath, (_asked, response) =>
      answer(response, 200, {
        resource: issuer.url,
        authorization_servers: ['http://not.https.example', issuer.origin],
      }),
    )
    expect((await connect(authorizerOf())).observed).toBeDefined()
  })
})

describe('MC-AUTH-07: credentials belong to one authorization server', () => {
  test('a configured client that was used with one is not shown to another', async () => {
    await using other = await startIssuer()
    let good = 'token-1-0123456789'
    protect(result, (token) => token === good)
    const clients = [{ clientId: 'by-hand', clientSecret: 'secret-of-hand' }]
    issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] }
    const connection = await connect(authorizerOf({ identity: { name: 'Test', clients } }))
    issuer.route('/.well-known/oauth-protected-resource/mcp', (_asked, response) =>
      answer(response, 200, { resource: issuer.url, authorization_servers: [other.origin] }),
    )
    good = 'none'
    expect(await codeOf(call(connection))).toBe('foreign-client')
    expect(other.asked.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server'])
  })

  test('one that names its issuer is used there only', async () => {
    protect(result)
    const clients = [{ clientId: 'by-hand', issuer: 'https://as.example' }]
    expect(await codeOf(connect(authorizerOf({ identity: { name: 'Test', clients } })))).toBe('foreign-client')
    expect(issuer.at('/register')).toEqual([])
    expect(shown).toEqual([])
  })

  test('a program without credentials says what is missing', async () => {
    protect(result)
    expect(await codeOf(connect(authorizerOf({ flow: createClientCredentialsFlow() })))).toBe('no-registration')
  })

  test('a registered client is used again by whoever shares the store, and its secret is renewed when it has ended', async () => {
    protect(result)
    const store = createMemorySignInStore()
    await connect(authorizerOf({ store }))
    await store.delete(issuer.url)
    await connect(authorizerOf({ store }))
    const made = await store.getClient(issuer.origin)
    expect(issuer.at('/register')).toHaveLength(1)
    await store.setClient({
      issuer: issuer.origin,
      clientId: made?.clientId ?? '',
      authMethod: 'none',
      secretExpiresAt: 1,
    })
    const before = issuer.at('/register').length
    await store.delete(issuer.url)
    await connect(authorizerOf({ store }))
    expect(issuer.at('/register')).toHaveLength(before + 1)
  })
})

describe('MC-AUTH-06: the answer of a browser', () => {
  test('requests with another state, another path or another method change nothing', async () => {
    protect(result)
    const statuses: number[] = []
    let page: Response | undefined
    const flow = browser(async (url) => {
      const { searchParams } = new URL(url)
      const back = searchParams.get('redirect_uri') ?? ''
      const state = searchParams.get('state') ?? ''
      for (const [stray, verb] of [
        [`${back}?code=stolen&state=guessed`, 'GET'],
        [`${back}?code=stolen`, 'GET'],
        [`${new URL(back).origin}/favicon.ico`, 'GET'],
        [`${back}?code=stolen&state=${state}`, 'POST'],
      ] as const) {
        statuses.push((await fetch(stray, { method: verb })).status)
      }
      page = await fetch(url)
    })
    await connect(authorizerOf({ flow }))
    expect(statuses).toEqual([404, 404, 404, 404])
    expect(new URLSearchParams(issuer.at('/token')[0]?.body).get('code')).toBe('the-code')
    expect(issuer.at('/token')).toHaveLength(1)
    expect(page?.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await page?.text()).toContain('You are signed in')
    // Nobody listens any more.
    const back = new URL(shown[0] ?? '').searchParams.get('redirect_uri') ?? ''
    await expect(fetch(back)).rejects.toThrow('fetch failed')
  })

  test('the verifier is that of the challenge, and a new one each time', async () => {
    let good = 'token-1-0123456789'
    protect(result, (token) => token === good)
    const connection = await connect(authorizerOf())
    good = 'token-2-0123456789'
    await call(connection)
    const verifiers = issuer.at('/token').map(({ body }) => new URLSearchParams(body).get('code_verifier') ?? '')
    const challenges = shown.map((url) => new URL(url).searchParams.get('code_challenge'))
    expect(new Set(verifiers).size).toBe(2)
    for (const [index, verifier] of verifiers.entries()) {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
      expect(Buffer.from(digest).toString('base64url')).toBe(challenges[index])
    }
  })

  test('one that says no is an error in its words, of one line', async () => {
    protect(result)
    issuer.route('/authorize', (_asked, response, request) => {
      const { searchParams } = new URL(request.url ?? '', issuer.origin)
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('error', 'access_denied')
      back.searchParams.set('error_description', 'Not\ntoday')
      back.searchParams.set('state', searchParams.get('state') ?? '')
      response.writeHead(302, { location: back.href }).end()
    })
    const failure = await failureOf(connect(authorizerOf()))
    expect(failure).toMatchObject({ code: 'denied', reason: 'access_denied' })
    expect(failure.message).toContain('Not today')
    expect(issuer.at('/token')).toEqual([])
  })
})

test('tokens that are bound to a key are used with it by every process, also when they are refreshed', async () => {
  issuer.metadata = { dpop_signing_alg_values_supported: ['ES256'] }
  const proofs: { readonly path: string; readonly proof: string }[] = []
  const take = (path: string, proof: string | string[] | undefined): void => {
    if (typeof proof === 'string') proofs.push({ path, proof })
  }
  let tokens = 0
  issuer.route('/token', (_asked, response, request) => {
    take('/token', request.headers['dpop'])
    answer(response, 200, {
      access_token: `bound-${++tokens}`,
      token_type: 'DPoP',
      expires_in: 3600,
      refresh_token: 'r',
    })
  })
  issuer.route('/mcp', (asked, response, request) => {
    take('/mcp', request.headers['dpop'])
    if (asked.authorization !== `DPoP bound-${tokens}`) {
      response.writeHead(401, { 'www-authenticate': 'DPoP algs="ES256"' }).end()
      return
    }
    const { id, method: name } = JSON.parse(asked.body) as { readonly id: number; readonly method: string }
    if (name === method.discover) answer(response, 200, { jsonrpc: '2.0', id, result: discovery })
    else result(asked, response, request)
  })
  const store = createMemorySignInStore()
  const begun = Date.now()
  await call(await connect(authorizerOf({ store })))
  // Another process, an hour later.
  await call(await connect(authorizerOf({ store, flow: undefined, now: () => begun + 3_600_000 })))
  expect(issuer.at('/token').map(({ body }) => new URLSearchParams(body).get('grant_type'))).toEqual([
    'authorization_code',
    'refresh_token',
  ])
  const keys = new Set(proofs.map(({ proof }) => JSON.stringify(decodeProtectedHeader(proof).jwk)))
  expect(keys.size).toBe(1)
  expect(proofs.filter(({ path }) => path === '/token')).toHaveLength(2)
  expect(new Set(proofs.map(({ proof }) => decodeJwt(proof).jti)).size).toBe(proofs.length)
  expect(shown).toHaveLength(1)
})
