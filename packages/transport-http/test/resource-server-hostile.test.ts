import { generateKeyPairSync } from 'node:crypto'
import type { Diagnostic, Principal } from '@atenea/mcpcompat'
import type { JWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuthUnavailable, Challenge } from '../src/auth/authenticate.ts'
import { type CreateResourceServerOptions, createResourceServer, type ResourceServer } from '../src/resource-server.ts'
import { audience, createKey, HandTime, Issuer, type IssuerKey } from './_util/issuer.ts'

let issuer: Issuer
let key: IssuerKey
let time: HandTime
let diagnostics: Diagnostic[]

beforeAll(async () => {
  issuer = await Issuer.start()
  key = await createKey('one')
})
afterAll(async () => await issuer[Symbol.asyncDispose]())
beforeEach(() => {
  Object.assign(issuer, { keys: [key.jwk], metadata: {}, broken: undefined })
  issuer.asked.length = 0
  time = new HandTime()
  diagnostics = []
})

function serverOf(options: Partial<CreateResourceServerOptions> = {}): ResourceServer {
  const { clock, now } = time
  const onDiagnostic = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  return createResourceServer({ issuer: issuer.url, audience, clock, now, onDiagnostic, ...options })
}

async function ask(server: ResourceServer, field: string): Promise<Principal | Challenge | AuthUnavailable> {
  return await server.authenticate({ method: 'POST', target: '/mcp', headers: { authorization: field } })
}

const base64url = (value: string): string => Buffer.from(value).toString('base64url')
/** With the key of the issuer, whatever the two parts are. */
async function signed(head: string, body: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${head}.${body}`)
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, bytes)
  return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`
}

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

describe('MC-AUTH-03: a signed token', () => {
  test.each<Record<string, unknown>>([
    { crit: ['b64'], b64: false },
    { crit: ['exp'], exp: 1 },
    { crit: [] },
    { kid: '../../etc/passwd' },
    { kid: ['one'] },
    { alg: 'ES384' },
    { alg: ['ES256'] },
    { typ: ['at+jwt'] },
    { typ: 'dpop+jwt' },
  ])('whose header says %j is 401', async (header) => {
    const { alg = 'ES256', typ = 'at+jwt', kid = 'one', ...rest } = header
    const head = base64url(JSON.stringify({ alg, typ, kid, ...rest }))
    const body = base64url(JSON.stringify({ iss: issuer.url, aud: audience, sub: 'alice', exp: inAnHour() }))
    const found = await ask(serverOf(), `Bearer ${await signed(head, body)}`)
    expect(found).toMatchObject({ status: 401, error: 'invalid_token' })
    expect(diagnostics).toEqual([])
  })

  test.each<[string, unknown]>([
    ['exp', '9999999999'],
    ['exp', null],
    ['exp', [9999999999]],
    ['exp', true],
    ['nbf', '1'],
    ['nbf', 1e300],
    ['iss', ['x']],
    ['aud', [[audience]]],
    ['aud', { 0: audience }],
    ['aud', `${audience}/`],
    ['aud', audience.toUpperCase()],
    ['sub', ''],
    ['sub', 7],
    ['sub', ['alice']],
    ['sub', 'x'.repeat(1_001)],
  ])('whose %s is %j is 401', async (name, value) => {
    const token = await issuer.sign(key, { [name]: value })
    expect(await ask(serverOf(), `Bearer ${token}`)).toMatchObject({ status: 401, error: 'invalid_token' })
  })

  test('that says a claim twice is what the same reader says each time', async () => {
    const head = base64url(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: 'one' }))
    const body = base64url(
      `{"iss":"${issuer.url}","aud":"https://else.example","aud":"${audience}","sub":"alice","sub":"bob","exp":${inAnHour()}}`,
    )
    expect(await ask(serverOf(), `Bearer ${await signed(head, body)}`)).toMatchObject({ id: `${issuer.url}#bob` })
  })

  test('of a megabyte is judged, not remembered, and none of its text is told', async () => {
    const token = await issuer.sign(key, { pad: 'x'.repeat(1_000_000), aud: 'https://else.example' })
    expect(await ask(serverOf(), `Bearer ${token}`)).toMatchObject({
      status: 401,
      description: 'The access token is for another resource',
    })
  })
})

describe('an Authorization header', () => {
  test('has its scheme in any case, and one token', async () => {
    const token = await issuer.sign(key)
    const server = serverOf()
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect(await ask(server, `${scheme} ${token}`)).toMatchObject({ authenticated: true })
    }
    for (const field of [`Bearer ${token}, Bearer ${token}`, `Bearer ${token} x`, `Bearer "${token}"`, 'Bearer']) {
      expect(await ask(server, field)).toMatchObject({ status: 400, error: 'invalid_request' })
    }
    for (const field of [`Basic ${token}`, `Bearerx ${token}`, token, '']) {
      expect(await ask(server, field)).toEqual({ status: 401 })
    }
  })

  test('MC-AUTH-02: a token in the query is not looked at', async () => {
    const token = await issuer.sign(key)
    const target = `/mcp?access_token=${token}`
    expect(await serverOf().authenticate({ method: 'POST', target, headers: {} })).toEqual({ status: 401 })
  })
})

describe('keys of an issuer', () => {
  const unusable: readonly [string, JWK][] = [
    ['without its numbers', { kty: 'RSA', kid: 'bad', alg: 'RS256' }],
    ['too short', weakRsa()],
    ['not on the curve', { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'bad' }],
    ['of another curve', { kty: 'OKP', crv: 'X25519', x: 'AAAA', kid: 'bad' }],
  ]

  test.each(unusable)(
    'that are %s are good for no token, are told to the operator once, and do no harm to others',
    async (_what, jwk) => {
      issuer.keys = [jwk, key.jwk]
      const server = serverOf()
      const algorithm = jwk.kty === 'RSA' ? 'RS256' : jwk.kty === 'EC' ? 'ES256' : 'EdDSA'
      const signer = await createKey('bad', algorithm)
      for (let count = 0; count < 3; count++) {
        expect(await ask(server, `Bearer ${await issuer.sign(signer)}`)).toMatchObject({ status: 401 })
      }
      // One that is of another kind is not looked at.
      expect(diagnostics.map(({ code }) => code)).toEqual(jwk.crv === 'X25519' ? [] : ['issuer-unavailable'])
      expect(await ask(server, `Bearer ${await issuer.sign(key)}`)).toMatchObject({ authenticated: true })
    },
  )

  test('are a hundred at the most, whatever it publishes', async () => {
    issuer.keys = [...Array.from({ length: 1_500 }, () => ({ kty: 'oct', k: 'AAAA' })), key.jwk]
    expect(await ask(serverOf(), `Bearer ${await issuer.sign(key)}`)).toMatchObject({ authenticated: true })
    issuer.keys = [...Array.from({ length: 100 }, () => ({ ...key.jwk, kid: 'x' })), key.jwk]
    expect(await ask(serverOf(), `Bearer ${await issuer.sign(key)}`)).toMatchObject({ status: 401 })
  })
})

function weakRsa(): JWK {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  return { ...(publicKey.export({ format: 'jwk' }) as JWK), kid: 'bad', alg: 'RS256' }
}
