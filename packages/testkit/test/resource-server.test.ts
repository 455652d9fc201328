import { createCore } from '@atenea/core'
import { createRevisionPolicy, type JsonObject, legacyRevision, type Principal } from '@atenea/mcpcompat'
import { listenHttp } from '@atenea/transport-http/node'
import { type CreateResourceServerOptions, createResourceServer } from '@atenea/transport-http/resource-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AuthorizationServer, frontClient } from './_util/authorization-server.ts'
import { type HttpCarrier, overFetch, overNode } from './_util/http-carriers.ts'
import { askModern, messageOf, openSession } from './_util/http-client.ts'

const resource = 'https://mcp.example.com/mcp'
const elsewhere = 'https://files.example.com/mcp'
const resources = { [resource]: ['notes', 'notes.write'], [elsewhere]: ['notes'] }

let signing: AuthorizationServer
let asked: AuthorizationServer
let stranger: AuthorizationServer
beforeAll(async () => {
  const start = AuthorizationServer.start
  signing = await start({ resources, format: 'jwt' })
  stranger = await start({ resources, format: 'jwt' })
  asked = await start({ resources, format: 'opaque' })
})
afterAll(async () => {
  for (const server of [signing, stranger, asked]) await server[Symbol.asyncDispose]()
})

/** Whoever may write sees a tool more. */
function notes() {
  const readers = { tools: { allow: ['whoami'] } }
  const writers = {}
  return createCore({
    info: { name: 'notes', version: '1' },
    tools: [
      { name: 'whoami', handler: (_args: unknown, { principal }) => principal.id },
      { name: 'write', handler: () => 'written' },
    ],
    policy: ({ scopes = [] }: Principal) => (scopes.includes('notes.write') ? writers : readers),
    cacheHints: { tools: { ttlMs: 60_000, cacheScope: 'public' } },
  })
}

const forIssuer = (issuer: string): CreateResourceServerOptions => ({
  issuer,
  audience: resource,
  requiredScopes: ['notes'],
  offeredScopes: ['notes.write'],
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe.each([
  ['node:http', overNode],
  ['fetch', overFetch],
] as const)('a resource server over %s, with tokens of oidc-provider', (_carrier, open) => {
  async function serving(options: CreateResourceServerOptions): Promise<HttpCarrier> {
    const { authenticate, protectedResource } = createResourceServer(options)
    return await open(notes(), { policy: createRevisionPolicy(), authenticate, protectedResource })
  }

  async function toolsOf(carrier: HttpCarrier, token: string): Promise<JsonObject> {
    const { result } = await messageOf(await askModern(carrier, 'tools/list', {}, { headers: bearer(token) }))
    return result as JsonObject
  }

  const names = (list: JsonObject): unknown => (list['tools'] as readonly JsonObject[]).map(({ name }) => name)

  test('MC-AUTH-03, LG-AUTH-01: leads from the challenge to the authorization server', async () => {
    await using carrier = await serving(forIssuer(signing.issuer))
    const refused = await askModern(carrier, 'tools/list')
    const metadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      `Bearer realm="mcp", scope="notes notes.write", resource_metadata="${metadataUrl}"`,
    ])
    for (const path of [new URL(metadataUrl).pathname, '/.well-known/oauth-protected-resource']) {
      const document = await carrier.ask({ method: 'GET', path })
      expect(JSON.parse(await document.text())).toEqual({
        resource,
        authorization_servers: [signing.issuer],
        bearer_methods_supported: ['header'],
        scopes_supported: ['notes', 'notes.write'],
      })
    }
  })

  test('MC-AUTH-03, MC-TOOL-02, MC-CACHE-14: lists and calls follow from the scopes of the token, and no list is shared', async () => {
    await using carrier = await serving(forIssuer(signing.issuer))
    const reader = await signing.token('anna', { resource, scope: 'notes' })
    const writer = await signing.token('anna', { resource, scope: 'notes notes.write' })
    const [few, all] = [await toolsOf(carrier, reader), await toolsOf(carrier, writer)]
    expect([names(few), few['cacheScope']]).toEqual([['whoami'], 'private'])
    expect([names(all), all['cacheScope']]).toEqual([['whoami', 'write'], 'private'])
    const write = async (token: string) =>
      await messageOf(await askModern(carrier, 'tools/call', { name: 'write' }, { headers: bearer(token) }))
    expect(await write(reader)).toMatchObject({ error: { code: -32_602, message: 'Unknown tool: write' } })
    expect(await write(writer)).toMatchObject({ result: { content: [{ text: 'written' }] } })
  })

  test('MC-AUTH-03: without the scope that is needed it is 403, which says what would do', async () => {
    await using carrier = await serving(forIssuer(signing.issuer))
    const none = await askModern(
      carrier,
      'tools/list',
      {},
      { headers: bearer(await signing.token('anna', { resource })) },
    )
    expect([none.status, none.headers['www-authenticate']]).toEqual([
      403,
      'Bearer realm="mcp", error="insufficient_scope", error_description="The access token lacks a scope that is needed here", ' +
        'scope="notes", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
    ])
  })

  test('MC-AUTH-03, LG-AUTH-01: a token for another resource, or of another issuer, is 401 in both eras', async () => {
    await using carrier = await serving(forIssuer(signing.issuer))
    const tokens = {
      'The access token is for another resource': await signing.token('anna', { resource: elsewhere, scope: 'notes' }),
      'The access token is of another issuer': await stranger.token('anna', { resource, scope: 'notes' }),
    }
    for (const [description, token] of Object.entries(tokens)) {
      const modern = await askModern(carrier, 'tools/list', {}, { headers: bearer(token) })
      const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: legacyRevision } }
      const legacy = await carrier.ask({
        headers: { 'content-type': 'application/json', ...bearer(token) },
        body: JSON.stringify(initialize),
      })
      for (const { status, headers } of [modern, legacy]) {
        expect([status, headers['www-authenticate']]).toEqual([
          401,
          expect.stringContaining(`error="invalid_token", error_description="${description}"`),
        ])
      }
    }
  })

  test('MC-AUTH-03: keys that the issuer has changed, and one that it has taken back', async () => {
    const moving = await AuthorizationServer.start({ resources, format: 'jwt' })
    await using _moving = moving
    await using carrier = await serving({
      ...forIssuer(moving.issuer),
      keyCooldownMs: 0,
      keyMaxAgeMs: 0,
      keyStaleMs: 0,
    })
    const first = await moving.token('anna', { resource, scope: 'notes' })
    expect(names(await toolsOf(carrier, first))).toEqual(['whoami'])
    await moving.rotate({ keepOld: true })
    const second = await moving.token('anna', { resource, scope: 'notes' })
    for (const token of [second, first]) expect(names(await toolsOf(carrier, token))).toEqual(['whoami'])
    await moving.rotate({ keepOld: false })
    for (const token of [first, second]) {
      expect((await askModern(carrier, 'tools/list', {}, { headers: bearer(token) })).status).toBe(401)
    }
  })

  test('MC-AUTH-03: tokens that say nothing are asked about, until they are revoked', async () => {
    await using carrier = await serving({
      ...forIssuer(asked.issuer),
      introspection: { ...frontClient, cacheMs: 0 },
    })
    const token = await asked.token('anna', { resource, scope: 'notes' })
    expect(token).not.toContain('.')
    expect(names(await toolsOf(carrier, token))).toEqual(['whoami'])
    const person = await asked.tokenOf('alice', { resource, scope: 'notes' })
    const who = await askModern(carrier, 'tools/call', { name: 'whoami' }, { headers: bearer(person) })
    expect(await messageOf(who)).toMatchObject({ result: { content: [{ text: `${asked.issuer}#alice` }] } })
    const narrow = await asked.token('anna', { resource: elsewhere, scope: 'notes' })
    expect((await askModern(carrier, 'tools/list', {}, { headers: bearer(narrow) })).status).toBe(401)
    await asked.revoke('anna', token)
    expect((await askModern(carrier, 'tools/list', {}, { headers: bearer(token) })).status).toBe(401)
  })

  test('C22: a session belongs to the subject: a new token of theirs goes on with it, another subject does not see it', async () => {
    await using carrier = await serving(forIssuer(signing.issuer))
    const alice = async () => bearer(await signing.tokenOf('alice', { resource, scope: 'notes' }))
    const session = await openSession(carrier, { headers: await alice() })
    const again = await session.ask('tools/call', { name: 'whoami' }, { headers: await alice() })
    expect(await messageOf(again)).toMatchObject({ result: { content: [{ text: `${signing.issuer}#alice` }] } })
    const bob = bearer(await signing.tokenOf('bob', { resource, scope: 'notes' }))
    expect((await session.ask('tools/list', {}, { headers: bob })).status).toBe(404)
    expect((await session.bare('DELETE', bob)).status).toBe(404)
    expect((await session.ask('tools/list', {}, { headers: await alice() })).status).toBe(200)
  })
})

describe('clients from npm with a token', () => {
  const info = { name: 'npm', version: '1' }

  test.each(['legacy', 'auto'] as const)('MC-AUTH-03: @modelcontextprotocol/client, %s', async (mode) => {
    const { authenticate, protectedResource } = createResourceServer(forIssuer(signing.issuer))
    await using listener = await listenHttp(notes(), {
      policy: createRevisionPolicy(),
      authenticate,
      protectedResource,
    })
    const token = await signing.tokenOf('alice', { resource, scope: 'notes' })
    expect(decodeJwt(token)).toMatchObject({ iss: signing.issuer, aud: resource, sub: 'alice' })
    const client = new Client(info, { versionNegotiation: { mode } })
    const requestInit = { headers: bearer(token) }
    await client.connect(new StreamableHTTPClientTransport(new URL(listener.url), { requestInit }))
    expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami'])
    expect(await client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ text: `${signing.issuer}#alice` }] })
    await client.close()
  })

  test('MC-AUTH-03: @modelcontextprotocol/sdk, and no token is an error that it knows', async () => {
    const { authenticate, protectedResource } = createResourceServer(forIssuer(signing.issuer))
    await using listener = await listenHttp(notes(), {
      policy: createRevisionPolicy(),
      authenticate,
      protectedResource,
    })
    const token = await signing.tokenOf('alice', { resource, scope: 'notes notes.write' })
    const client = new Client1(info)
    await client.connect(new Transport1(new URL(listener.url), { requestInit: { headers: bearer(token) } }))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami', 'write'])
    await client.close()
    await expect(new Client1(info).connect(new Transport1(new URL(listener.url)))).rejects.toThrow(
      /401|Unauthorized|Authentication/,
    )
  })
})
