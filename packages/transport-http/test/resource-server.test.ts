import { createHmac } from 'node:crypto'
import type { Diagnostic, Principal } from '@atenea/mcpcompat'
import { exportJWK, exportSPKI, generateKeyPair, importJWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuthUnavailable, Challenge } from '../src/auth/authenticate.ts'
import { type CreateResourceServerOptions, createResourceServer, type ResourceServer } from '../src/resource-server.ts'
import { audience, createKey, HandTime, Issuer, type IssuerKey } from './_util/issuer.ts'

let issuer: Issuer
let key: IssuerKey
let other: IssuerKey
let time: HandTime
let diagnostics: Diagnostic[]

beforeAll(async () => {
  issuer = await Issuer.start()
  key = await createKey('one')
  other = await createKey('two')
})
afterAll(async () => await issuer[Symbol.asyncDispose]())
beforeEach(() => {
  Object.assign(issuer, { keys: [key.jwk], metadata: {}, broken: undefined })
  issuer.metadataPath = '/.well-known/oauth-authorization-server'
  issuer.asked.length = 0
  time = new HandTime()
  diagnostics = []
})

function serverOf(options: Partial<CreateResourceServerOptions> = {}): ResourceServer {
  const { clock, now } = time
  const onDiagnostic = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  return createResourceServer({ issuer: issuer.url, audience, clock, now, onDiagnostic, ...options })
}

/** What is answered to a request with this token. */
async function ask(server: ResourceServer, token?: string): Promise<Principal | Challenge | AuthUnavailable> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return await server.authenticate({ method: 'POST', target: '/mcp', headers })
}

const alice = (): Principal => ({ id: `${issuer.url}#alice`, authenticated: true, scopes: [] })

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

function payload(claims: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { iss: issuer.url, aud: audience, sub: 'mallory', exp: Math.floor(Date.now() / 1000) + 300, ...claims }
}

const refused = (description: string): Challenge => ({ status: 401, error: 'invalid_token', description })
const invalid = refused('The access token is not valid')

describe('a signed token', () => {
  test('MC-AUTH-03: of the issuer and for us is of its subject, whose name says the issuer', async () => {
    const server = serverOf()
    expect(await ask(server, await issuer.sign(key))).toEqual(alice())
    const scoped = await issuer.sign(key, { scope: 'read  write read', aud: ['https://else.example', audience] })
    expect(await ask(server, scoped)).toMatchObject({ id: alice().id, scopes: ['read', 'write'] })
    expect(await ask(server, await issuer.sign(key, { scp: ['a', 'b'] }))).toMatchObject({ scopes: ['a', 'b'] })
    expect(await ask(server)).toEqual({ status: 401 })
  })

  test('of a program names the program, which no subject can be called', async () => {
    const server = serverOf()
    const program = await ask(server, await issuer.sign(key, { sub: undefined, client_id: 'robot' }))
    expect(program).toMatchObject({ id: `${issuer.url}?client=robot` })
    const named = await ask(server, await issuer.sign(key, { sub: 'robot', client_id: 'robot' }))
    expect(named).toMatchObject({ id: `${issuer.url}?client=robot` })
    const person = await ask(server, await issuer.sign(key, { sub: 'robot', client_id: 'browser' }))
    expect(person).toMatchObject({ id: `${issuer.url}#robot` })
    const subject = await ask(server, await issuer.sign(key, { sub: '?client=robot' }))
    expect(subject).toMatchObject({ id: `${issuer.url}#?client=robot` })
  })

  test.each<[string, (server: Issuer) => Promise<string>, string]>([
    ['of another issuer', async (it) => await it.sign(key, { iss: 'https://else.example' }), 'of another issuer'],
    ['whose issuer has a slash more', async (it) => await it.sign(key, { iss: `${it.url}/` }), 'of another issuer'],
    ['without an issuer', async (it) => await it.sign(key, { iss: undefined }), 'of another issuer'],
    [
      'for another resource',
      async (it) => await it.sign(key, { aud: 'https://else.example/mcp' }),
      'for another resource',
    ],
    ['for nobody', async (it) => await it.sign(key, { aud: undefined }), 'for another resource'],
    [
      'for a resource that ours begins with',
      async (it) => await it.sign(key, { aud: audience.slice(0, -1) }),
      'for another resource',
    ],
    ['that has expired', async (it) => await it.sign(key, { exp: Date.now() / 1000 - 61 }), 'has expired'],
    ['that never expires', async (it) => await it.sign(key, { exp: undefined }), 'when it expires'],
    ['from the future', async (it) => await it.sign(key, { nbf: Date.now() / 1000 + 90 }), 'not good yet'],
    ['of nobody', async (it) => await it.sign(key, { sub: undefined }), 'whose it is'],
    ['of an empty name', async (it) => await it.sign(key, { sub: '', client_id: 'x' }), 'whose it is'],
    ['that is bound to a key', async (it) => await it.sign(key, { cnf: { jkt: 'x' } }), 'bound to a key'],
    ['for signing out', async (it) => await it.sign(key, {}, { typ: 'logout+jwt' }), 'no access token'],
    ['for who signed in', async (it) => await it.sign(key, { nonce: 'n' }, { typ: 'JWT' }), 'no access token'],
    ['with a critical header', async () => await critical(), 'not valid'],
  ])('MC-AUTH-03: %s is 401', async (_what, token, description) => {
    const answer = await ask(serverOf(), await token(issuer))
    expect(answer).toMatchObject({
      status: 401,
      error: 'invalid_token',
      description: expect.stringContaining(description) as string,
    })
  })

  /** Signed, with a header that has to be understood and is not. */
  async function critical(): Promise<string> {
    const token = await issuer.sign(key)
    const [, body] = token.split('.')
    const head = base64url({ alg: 'ES256', kid: 'one', crit: ['unknown'], unknown: 1 })
    const { subtle } = globalThis.crypto
    const bytes = new TextEncoder().encode(`${head}.${body}`)
    const signature = await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, bytes)
    return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`
  }

  test('clocks may differ by a minute', async () => {
    const server = serverOf()
    const seconds = Date.now() / 1000
    expect(await ask(server, await issuer.sign(key, { exp: seconds - 50 }))).toEqual(alice())
    expect(await ask(server, await issuer.sign(key, { nbf: seconds + 50 }))).toEqual(alice())
  })

  test.each(['JWT', 'jwt', 'at+JWT', 'application/at+jwt', undefined])('may be called %s', async (typ) => {
    expect(await ask(serverOf(), await issuer.sign(key, {}, { typ }))).toEqual(alice())
  })

  test('is taken with each kind of signature that only its issuer can make', async () => {
    const keys = await Promise.all(
      ['RS256', 'PS512', 'ES384', 'EdDSA'].map(async (name) => await createKey(name, name)),
    )
    issuer.keys = keys.map(({ jwk }) => jwk)
    const server = serverOf()
    for (const one of keys) expect(await ask(server, await issuer.sign(one))).toEqual(alice())
    const narrow = serverOf({ algorithms: ['ES384'] })
    expect(await ask(narrow, await issuer.sign(keys[2] as IssuerKey))).toEqual(alice())
    expect(await ask(narrow, await issuer.sign(keys[0] as IssuerKey))).toMatchObject({ status: 401 })
  })

  test('without a key id is tried with the keys that fit', async () => {
    issuer.keys = [other.jwk, key.jwk]
    const server = serverOf()
    expect(await ask(server, await issuer.sign({ ...key, kid: undefined }))).toEqual(alice())
    const stranger = await createKey(undefined)
    expect(await ask(server, await issuer.sign(stranger))).toEqual(invalid)
  })
})

describe('MC-AUTH-03: a forged token is 401:', () => {
  test('unsigned, with alg none in every spelling', async () => {
    const server = serverOf()
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', undefined, 7]) {
      const head = base64url({ alg, typ: 'at+jwt', kid: 'one' })
      for (const signature of ['', 'AAAA']) {
        const answer = await ask(server, `${head}.${base64url(payload())}.${signature}`)
        expect([alg, answer]).toEqual([alg, expect.objectContaining({ status: 401 })])
      }
    }
  })

  test('HS256 with the public key as the secret, in each form that it is known in', async () => {
    const rsa = await createKey('rsa', 'RS256')
    issuer.keys = [rsa.jwk, { kty: 'oct', k: base64url('known to all'), kid: 'oct', alg: 'HS256' }]
    const server = serverOf()
    const publicKey = (await importJWK(rsa.jwk, 'RS256', { extractable: true })) as Parameters<typeof exportSPKI>[0]
    const pem = await exportSPKI(publicKey)
    const secrets = [pem, pem.trim(), JSON.stringify(rsa.jwk), String(rsa.jwk.n), 'known to all']
    for (const [index, secret] of secrets.entries()) {
      for (const kid of ['rsa', 'oct', undefined]) {
        const signed = `${base64url({ alg: 'HS256', kid })}.${base64url(payload())}`
        const mac = createHmac('sha256', secret).update(signed).digest('base64url')
        expect([index, await ask(server, `${signed}.${mac}`)]).toEqual([
          index,
          expect.objectContaining({ status: 401 }),
        ])
      }
    }
  })

  test('signed with a key of its own that it brings along', async () => {
    const server = serverOf()
    for (const header of [{ jwk: other.jwk }, { jku: `${issuer.url}/jwks-of-mallory` }, { x5u: issuer.url }]) {
      expect(await ask(server, await issuer.sign({ ...other, kid: 'one' }, {}, header))).toEqual(invalid)
    }
    expect(issuer.asked).not.toContain('/jwks-of-mallory')
  })

  test('changed after it was signed', async () => {
    const server = serverOf()
    const [head = '', , signature = ''] = (await issuer.sign(key)).split('.')
    expect(await ask(server, `${head}.${base64url(payload())}.${signature}`)).toEqual(invalid)
  })

  test.each(['opaque', 'a.b.c', '..', 'e30.e30.', `${'e30.'.repeat(5)}e30`, `${base64url('[]')}.${base64url('[]')}.`])(
    'no JSON web token at all (%s)',
    async (token) => {
      expect(await ask(serverOf(), token)).toMatchObject({ status: 401, error: 'invalid_token' })
      expect(issuer.asked).toEqual([])
    },
  )
})

describe('keys', () => {
  test('are asked for once by all who need them, and kept', async () => {
    const server = serverOf()
    const tokens = await Promise.all(
      Array.from({ length: 20 }, async (_, sub) => await issuer.sign(key, { sub: `s${sub}` })),
    )
    for (const answer of await Promise.all(tokens.map(async (token) => await ask(server, token)))) {
      expect(answer).toMatchObject({ authenticated: true })
    }
    time.pass(9 * 60_000)
    expect(await ask(server, await issuer.sign(key))).toEqual(alice())
    expect(issuer.count('/jwks')).toBe(1)
  })

  test('that are new are found when a token comes that is signed with one', async () => {
    const server = serverOf()
    expect(await ask(server, await issuer.sign(key))).toEqual(alice())
    time.pass(31_000)
    issuer.keys = [other.jwk, key.jwk]
    expect(await ask(server, await issuer.sign(other))).toEqual(alice())
    expect(await ask(server, await issuer.sign(key))).toEqual(alice())
    expect(issuer.count('/jwks')).toBe(2)
  })

  test('that nobody has are asked for no more than twice a minute, however many tokens name them', async () => {
    const server = serverOf()
    await ask(server, await issuer.sign(key))
    time.pass(31_000)
    const strangers = await Promise.all(
      Array.from({ length: 30 }, async (_, kid) => await issuer.sign({ ...other, kid: `k${kid}` })),
    )
    for (const token of strangers) {
      expect(await ask(server, token)).toEqual(
        refused('The access token is signed with a key that its issuer does not have'),
      )
    }
    expect(issuer.count('/jwks')).toBe(2)
    expect(await ask(server, await issuer.sign(key))).toEqual(alice())
  })

  test('that were removed are taken no longer than ten minutes, also where the token is known', async () => {
    const server = serverOf()
    const token = await issuer.sign(key, { exp: Math.floor(Date.now() / 1000) + 3600 })
    expect(await ask(server, token)).toEqual(alice())
    issuer.keys = [other.jwk]
    time.pass(9 * 60_000)
    expect(await ask(server, token)).toEqual(alice())
    time.pass(61_000)
    expect(await ask(server, token)).toMatchObject({ status: 401 })
  })

  test('that an issuer should not have published are of no use', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    issuer.keys = [{ ...(await exportJWK(privateKey)), kid: 'leaked' }]
    expect(await ask(serverOf(), await issuer.sign({ ...key, kid: 'leaked', privateKey }))).toEqual(alice())
    issuer.keys = [{ ...key.jwk, use: 'enc' }]
    expect(await ask(serverOf(), await issuer.sign(key))).toMatchObject({ status: 401 })
  })
})

describe('A7: an issuer that cannot be asked says nothing about a token:', () => {
  const unavailable: AuthUnavailable = {
    status: 503,
    description: 'The authorization server cannot be asked now',
    retryAfterMs: expect.closeTo(5000, -2) as number,
  }

  test('503 and no challenge at the start, until it is there', async () => {
    issuer.broken = 500
    const server = serverOf()
    const token = await issuer.sign(key)
    await server.prepare()
    expect(await ask(server, token)).toEqual(unavailable)
    const asked = issuer.asked.length
    for (let attempt = 0; attempt < 10; attempt++) expect(await ask(server, token)).toMatchObject({ status: 503 })
    expect(issuer.asked.length).toBe(asked)
    expect(diagnostics).toHaveLength(1)
    expect(diagnostics[0]).toMatchObject({ level: 'warning', code: 'issuer-unavailable' })
    // what needs no keys is known nonetheless
    expect(await ask(server, await issuer.sign(key, { aud: 'else' }))).toMatchObject({ status: 401 })
    issuer.broken = undefined
    time.pass(5_001)
    expect(await ask(server, token)).toEqual(alice())
  })

  test('its keys are used for an hour more, and then 503', async () => {
    const server = serverOf()
    const long = { exp: Math.floor(Date.now() / 1000) + 4 * 3600 }
    expect(await ask(server, await issuer.sign(key, long))).toEqual(alice())
    issuer.broken = 503
    time.pass(11 * 60_000)
    expect(await ask(server, await issuer.sign(key, { ...long, jti: '1' }))).toEqual(alice())
    const asked = issuer.asked.length
    expect(await ask(server, await issuer.sign(key, { ...long, jti: '2' }))).toEqual(alice())
    expect(issuer.asked.length).toBe(asked)
    // whether a key is new cannot be told now
    expect(await ask(server, await issuer.sign(other, long))).toMatchObject({ status: 503 })
    time.pass(60 * 60_000)
    expect(await ask(server, await issuer.sign(key, { ...long, jti: '3' }))).toMatchObject({ status: 503 })
    issuer.broken = undefined
    time.pass(5_001)
    expect(await ask(server, await issuer.sign(key, long))).toEqual(alice())
  })

  test('when it does not answer in time', async () => {
    const server = serverOf({
      timeoutMs: 50,
      send: async ({ signal }) =>
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    })
    expect(await ask(server, await issuer.sign(key))).toMatchObject({ status: 503 })
    expect(diagnostics[0]?.message).toMatch(/did not answer within 50 ms/)
  })
})

describe('the metadata of an issuer', () => {
  test.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
    'is found at %s',
    async (path) => {
      issuer.metadataPath = path
      expect(await ask(serverOf(), await issuer.sign(key))).toEqual(alice())
    },
  )

  test.each([
    ['is not used when it is of another issuer', { issuer: 'http://127.0.0.1' }, /is of the issuer/],
    ['is not used when it leads to keys over http', { jwks_uri: 'http://keys.example/jwks' }, /not https/],
    ['is not used when its keys are no URL', { jwks_uri: 7 }, /no URL/],
    ['has to name keys', { jwks_uri: undefined }, /names no jwks_uri/],
  ])('%s', async (_what, metadata, message) => {
    issuer.metadata = metadata
    expect(await ask(serverOf(), await issuer.sign(key))).toMatchObject({ status: 503 })
    expect(diagnostics[0]?.message).toMatch(message)
  })

  test('is not needed where the keys are named', async () => {
    const server = serverOf({ jwksUri: `${issuer.url}/jwks` })
    expect(await ask(server, await issuer.sign(key))).toEqual(alice())
    expect(issuer.asked).toEqual(['/jwks'])
  })
})

describe('scopes', () => {
  test('MC-AUTH-03: a token that lacks one is 403 and says which are needed, all at once', async () => {
    const server = serverOf({ requiredScopes: ['mcp', 'read'], offeredScopes: ['write'] })
    const challenge: Challenge = {
      status: 403,
      error: 'insufficient_scope',
      description: 'The access token lacks a scope that is needed here',
      scopes: ['mcp', 'read'],
    }
    expect(await ask(server, await issuer.sign(key, { scope: 'mcp' }))).toEqual(challenge)
    expect(await ask(server, await issuer.sign(key, { scope: 'MCP Read' }))).toEqual(challenge)
    expect(await ask(server, await issuer.sign(key, { scope: 'read mcp' }))).toMatchObject({ authenticated: true })
    expect(await ask(server)).toEqual({ status: 401, scopes: ['mcp', 'read', 'write'] })
    expect(await ask(server, 'nonsense')).toMatchObject({ status: 401, scopes: ['mcp', 'read', 'write'] })
    expect(server.protectedResource).toEqual({
      resource: audience,
      authorizationServers: [issuer.url],
      scopesSupported: ['mcp', 'read', 'write'],
    })
  })
})

describe('introspection (RFC 7662)', () => {
  const client = { clientId: 'resource server', clientSecret: 'a secret:/+ö' }
  const good = (): Record<string, unknown> => ({
    active: true,
    iss: issuer.url,
    aud: audience,
    sub: 'alice',
    exp: Math.floor(Date.now() / 1000) + 300,
    scope: 'read',
  })

  test('asks the issuer with our credentials, once in a while', async () => {
    const seen: unknown[] = []
    issuer.introspect = (form, { headers }) => {
      seen.push([Object.fromEntries(form), headers.authorization])
      return [200, good()]
    }
    const server = serverOf({ introspection: client })
    const [first, second] = await Promise.all([ask(server, 'opaque'), ask(server, 'opaque')])
    expect(first).toEqual({ ...alice(), scopes: ['read'] })
    expect(second).toEqual(first)
    const basic = `Basic ${Buffer.from('resource+server:a+secret%3A%2F%2B%C3%B6').toString('base64')}`
    expect(seen).toEqual([[{ token: 'opaque', token_type_hint: 'access_token' }, basic]])
    time.pass(10_001)
    issuer.introspect = () => [200, { active: false }]
    expect(await ask(server, 'opaque')).toMatchObject({ status: 401, error: 'invalid_token' })
  })

  test('sends the credentials in the form where nothing else is taken', async () => {
    issuer.metadata = { introspection_endpoint_auth_methods_supported: ['client_secret_post'] }
    issuer.introspect = (form, { headers }) => [
      200,
      { ...good(), active: form.get('client_secret') === client.clientSecret && headers.authorization === undefined },
    ]
    expect(await ask(serverOf({ introspection: client }), 'opaque')).toMatchObject({ id: alice().id })
  })

  test.each<[string, Record<string, unknown>]>([
    ['is not active', { active: false }],
    ['is for another resource', { aud: 'https://else.example' }],
    ['is for nobody in particular', { aud: undefined }],
    ['is of another issuer', { iss: 'https://else.example' }],
    ['has expired', { exp: 1 }],
    ['does not say when it expires', { exp: 'soon' }],
    ['is not good yet', { nbf: 4_000_000_000 }],
    ['is bound to a key', { cnf: { jkt: 'x' } }],
    ['is of nobody', { sub: undefined }],
  ])('MC-AUTH-03: a token that %s is 401', async (_what, claims) => {
    issuer.introspect = () => [200, { ...good(), ...claims }]
    expect(await ask(serverOf({ introspection: client }), 'opaque')).toMatchObject({
      status: 401,
      error: 'invalid_token',
    })
  })

  test.each<[string, number, unknown]>([
    ['refuses us', 401, { error: 'invalid_client' }],
    ['is down', 502, 'gateway'],
    ['answers nonsense', 200, { active: 'yes' }],
    ['redirects', 302, {}],
  ])('A7: an issuer that %s is 503, and no secret is told', async (_what, status, body) => {
    issuer.introspect = () => [status, body]
    expect(await ask(serverOf({ introspection: client }), 'opaque-token')).toMatchObject({ status: 503 })
    expect(diagnostics).toHaveLength(1)
    expect(JSON.stringify(diagnostics)).not.toMatch(/opaque-token|a secret/)
  })
})

describe('options that cannot work are a TypeError:', () => {
  test.each<[string, Partial<CreateResourceServerOptions>]>([
    ['an issuer over http', { issuer: 'http://auth.example' }],
    ['an issuer with a query', { issuer: 'https://auth.example/?a' }],
    ['an issuer with credentials', { issuer: 'https://a:b@auth.example' }],
    ['an issuer that is no URL', { issuer: 'auth.example' }],
    ['no audience', { audience: [] }],
    ['an empty audience', { audience: '' }],
    ['an audience that is no URL, and no resource', { audience: 'api' }],
    ['a resource with a fragment', { resource: 'https://mcp.example.com/mcp#x' }],
    ['keys over http', { jwksUri: 'http://keys.example' }],
    ['a symmetric algorithm', { algorithms: ['RS256', 'HS256'] }],
    ['no signature', { algorithms: ['none'] }],
    ['no algorithm', { algorithms: [] }],
    ['a scope with a blank', { requiredScopes: ['a b'] }],
    ['offline_access', { offeredScopes: ['offline_access'] }],
    ['introspection over http', { introspection: { clientId: 'a', clientSecret: 'b', endpoint: 'http://x.example' } }],
  ])('%s', (_what, options) => {
    expect(() => serverOf(options)).toThrow(TypeError)
  })

  test('an audience that is no URL is fine beside a resource', () => {
    const { protectedResource } = serverOf({ audience: 'api://mcp', resource: audience })
    expect(protectedResource.resource).toBe(audience)
  })
})
