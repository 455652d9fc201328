import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, legacyRevision } from '@atenea/mcpcompat'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AuthorizationServer, frontClient } from './_util/authorization-server.ts'
import { Running } from './_util/running.ts'

const resource = 'https://mcp.example.com/mcp'
const elsewhere = 'https://files.example.com/mcp'
const resources = { [resource]: ['tools', 'upload'], [elsewhere]: ['tools'] }

let folder: string
let signing: AuthorizationServer
let asked: AuthorizationServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-sign-in-'))
  signing = await AuthorizationServer.start({ resources, format: 'jwt' })
  asked = await AuthorizationServer.start({ resources, format: 'opaque' })
})
afterAll(async () => {
  await signing[Symbol.asyncDispose]()
  await asked[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function run(args: readonly string[], environment?: Readonly<Record<string, string>>): Running {
  return new Running({ app: 'server', args, folder, ...(environment !== undefined && { environment }) })
}

const signedIn = (issuer: string, ...more: string[]): string[] => [
  '--auth-issuer',
  issuer,
  '--auth-audience',
  resource,
  ...more,
]

function configured(config: JsonObject): string[] {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify(config))
  return ['--config', file]
}

const account = { ATPROTO_IDENTIFIER: 'did:plc:aliceaaaaaaaaaaaaaaaaaaa', ATPROTO_APP_PASSWORD: 'abcd-efgh-ijkl-mnop' }

describe('atenea-server --auth-issuer', () => {
  test('MC-AUTH-01, MC-AUTH-03, LG-AUTH-01: takes the tokens that are for it, and leads everybody else to the issuer', async () => {
    await using server = run(signedIn(signing.issuer, '--auth-scope', 'tools'))
    const good = await signing.tokenOf('alice', { resource, scope: 'tools' })
    expect(await server.tools(good)).toContain('create_record_cid')
    const tokens: readonly (readonly [string | undefined, number])[] = [
      [undefined, 401],
      [await signing.tokenOf('alice', { resource: elsewhere, scope: 'tools' }), 401],
      [`${good.slice(0, -4)}AAAA`, 401],
      [`${btoa('{"alg":"none"}').replaceAll('=', '')}.${good.split('.')[1] ?? ''}.`, 401],
      [await signing.tokenOf('alice', { resource }), 403],
    ]
    const challenges = await Promise.all(tokens.map(async ([token]) => await server.ask(token, 'tools/list')))
    expect(challenges.map(({ status }) => status)).toEqual(tokens.map(([, status]) => status))
    for (const { headers } of challenges) {
      expect(headers.get('www-authenticate')).toContain(
        'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
      )
      expect(headers.get('www-authenticate')).toContain('scope="tools"')
    }
    const document = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', await server.url()))
    expect(await document.json()).toMatchObject({
      resource,
      authorization_servers: [signing.issuer],
      scopes_supported: ['tools'],
    })
    // what a token in the query would be worth
    const inQuery = await fetch(`${await server.url()}?access_token=${good}`, { method: 'POST', body: '{}' })
    expect(inQuery.status).toBe(401)
    expect(server.stderr).not.toContain(good.split('.')[2])
    expect(server.stderr).not.toContain('nobody signs in')
  })

  test.each(['legacy', 'auto'] as const)('MC-AUTH-03: a client from npm with a token, %s', async (mode) => {
    await using server = run(signedIn(signing.issuer))
    const headers = { authorization: `Bearer ${await signing.tokenOf('alice', { resource, scope: 'tools' })}` }
    const client = new Client({ name: 'npm', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(await server.url()), { requestInit: { headers } }))
    expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern')
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('create_record_cid')
    await client.close()
  })

  test('MC-TOOL-02, MC-RES-02, MC-PRM-02, MC-CACHE-14: rules by scope and subject decide lists and calls alike', async () => {
    const config = {
      auth: { issuer: signing.issuer, audience: resource, scopes: ['tools'], offeredScopes: ['upload'] },
      disabledTools: ['validate_*'],
      policy: [
        { enabledTools: ['parse_facets', 'validate_lexicon_schema'], enabledPrompts: [] },
        { scopes: ['upload'], enabledTools: ['*_blob_upload'], enabledPrompts: [] },
        { principals: [`${signing.issuer}#carol`], enabledTools: ['create_*'] },
      ],
    }
    await using server = run(configured(config))
    const alice = await signing.tokenOf('alice', { resource, scope: 'tools' })
    const uploader = await signing.tokenOf('alice', { resource, scope: 'tools upload' })
    const carol = await signing.tokenOf('carol', { resource, scope: 'tools' })
    expect(await server.tools(alice)).toEqual(['parse_facets'])
    expect(await server.tools(uploader)).toEqual([
      'parse_facets',
      'begin_blob_upload',
      'append_blob_upload',
      'finish_blob_upload',
    ])
    expect(await server.tools(carol)).toEqual(['create_record_cid', 'parse_facets'])
    const cid = { record: { $type: 'a.b.c' } }
    expect(await server.call(carol, 'create_record_cid', cid)).toMatchObject({
      cid: expect.stringMatching(/^bafyrei/) as string,
    })
    expect(await server.call(alice, 'create_record_cid', cid)).toBe('Unknown tool: create_record_cid')
    expect(await server.call(carol, 'validate_lexicon_schema', {})).toBe('Unknown tool: validate_lexicon_schema')
    const list = await server.ask(alice, 'tools/list')
    expect(await list.json()).toMatchObject({ result: { cacheScope: 'private' } })
    const prompts = await Promise.all(
      [alice, carol].map(
        async (token) =>
          (await (await server.ask(token, 'prompts/list')).json()) as {
            readonly result: { readonly prompts: readonly unknown[] }
          },
      ),
    )
    expect(prompts.map(({ result }) => result.prompts.length > 0)).toEqual([false, true])
    const challenge = await server.ask(undefined, 'tools/list')
    expect(challenge.headers.get('www-authenticate')).toContain('scope="tools upload"')
  })

  test('MC-ELIC-18: an upload in pieces belongs to the subject of the token, also after a restart', async () => {
    const args = signedIn(signing.issuer)
    const alice = async (): Promise<string> => await signing.tokenOf('alice', { resource, scope: 'tools' })
    const bob = await signing.tokenOf('bob', { resource, scope: 'tools' })
    const data = btoa('hello')
    let uploadId: string
    {
      await using server = run(args, account)
      const begun = await server.call(await alice(), 'begin_blob_upload', { mimeType: 'text/plain' })
      uploadId = (begun as { readonly uploadId: string }).uploadId
      await untouchable(server, bob, uploadId)
      expect(await server.call(await alice(), 'append_blob_upload', { uploadId, offset: 0, data })).toMatchObject({
        received: 5,
      })
    }
    await using server = run(args, account)
    await untouchable(server, bob, uploadId)
    expect(await server.call(await alice(), 'append_blob_upload', { uploadId, offset: 5, data })).toMatchObject({
      received: 10,
    })
  })

  test('A7: starts while the issuer is down, and answers 503 with a time until it is there', async () => {
    const late = await AuthorizationServer.start({ resources, format: 'jwt' })
    await using _late = late
    const token = await late.tokenOf('alice', { resource, scope: 'tools' })
    late.up = false
    await using server = run(signedIn(late.issuer))
    const refused = await server.ask(token, 'tools/list')
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([503, null])
    expect(refused.headers.get('retry-after')).toMatch(/^[1-5]$/)
    expect(server.stderr).toMatch(/issuer-unavailable/)
    expect((await server.ask(undefined, 'tools/list')).status).toBe(401)
    late.up = true
    let status = 503
    for (let attempt = 0; attempt < 100 && status === 503; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      status = (await server.ask(token, 'tools/list')).status
    }
    expect(status).toBe(200)
  })

  test('MC-AUTH-03: tokens that say nothing are asked about, and no secret is ever logged', async () => {
    const args = signedIn(asked.issuer, '--auth-client-id', frontClient.clientId)
    const file = join(folder, 'client-secret')
    writeFileSync(file, `${frontClient.clientSecret}\n`)
    for (const [more, environment] of [
      [['--auth-client-secret-file', file], {}],
      [[], { ATENEA_AUTH_CLIENT_SECRET: frontClient.clientSecret }],
    ] as const) {
      await using server = run([...args, ...more], environment)
      const token = await asked.tokenOf('alice', { resource, scope: 'tools' })
      expect(await server.tools(token)).toContain('create_record_cid')
      const foreign = await asked.tokenOf('alice', { resource: elsewhere, scope: 'tools' })
      expect((await server.ask(foreign, 'tools/list')).status).toBe(401)
      for (const secret of [token, foreign, frontClient.clientSecret]) expect(server.stderr).not.toContain(secret)
    }
    await using wrong = run([...args], { ATENEA_AUTH_CLIENT_SECRET: 'not-the-secret' })
    expect((await wrong.ask('some-token', 'tools/list')).status).toBe(503)
    expect(wrong.stderr).toMatch(/are the client id and the secret right\?/)
    expect(wrong.stderr).not.toMatch(/not-the-secret|some-token/)
  })

  test('tokens of a file are taken beside those of the issuer', async () => {
    const file = join(folder, 'tokens')
    writeFileSync(file, 'robot secret-of-the-robot\n')
    await using server = run(signedIn(signing.issuer, '--auth-scope', 'tools', '--bearer-token-file', file))
    expect(await server.tools('secret-of-the-robot')).toContain('create_record_cid')
    expect(await server.tools(await signing.tokenOf('alice', { resource, scope: 'tools' }))).toContain(
      'create_record_cid',
    )
    expect((await server.ask('secret-of-the-rowboat', 'tools/list')).status).toBe(401)
  })

  test('MH-EP-02: may be asked for by the name of its resource behind a reverse proxy, and by no other', async () => {
    await using server = run(signedIn(signing.issuer))
    const { port } = new URL(await server.url())
    const statusFor = async (host: string): Promise<number | undefined> =>
      await new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers: { host } }, ({ statusCode }) =>
          resolve(statusCode),
        )
          .on('error', reject)
          .end('{}')
      })
    expect(await statusFor('mcp.example.com')).toBe(401)
    expect(await statusFor('mcp.example.org')).toBe(403)
  })

  test.each<[string[], RegExp]>([
    [['--auth-issuer', 'https://auth.example.com'], /needs --auth-audience/],
    [['--auth-audience', resource], /--auth-audience needs an authorization server/],
    [['--auth-issuer', 'http://auth.example.com', '--auth-audience', resource], /the issuer must be an https URL/],
    [['--auth-issuer', 'https://auth.example.com', '--auth-audience', 'api'], /the resource must be/],
    [signedIn('https://auth.example.com', '--auth-scope', 'offline_access'), /offline_access/],
    [signedIn('https://auth.example.com', '--auth-client-id', 'x'), /ATENEA_AUTH_CLIENT_SECRET/],
  ])('%j is a usage error', async (args, message) => {
    await using server = run(args)
    expect([await server.ended, server.stderr]).toEqual([2, expect.stringMatching(message)])
  })
})

test('MC-ELIC-18: uploads of two bearer tokens are out of reach of each other, in both eras', async () => {
  const file = join(folder, 'two-tokens')
  writeFileSync(file, 'anna secret-of-anna-1234\nberta secret-of-berta-1234\n')
  await using server = run(['--bearer-token-file', file], account)
  const begun = await server.call('secret-of-anna-1234', 'begin_blob_upload', { mimeType: 'text/plain' })
  const { uploadId } = begun as { readonly uploadId: string }
  await untouchable(server, 'secret-of-berta-1234', uploadId)
  const client = new Client({ name: 'npm', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  const requestInit = { headers: { authorization: 'Bearer secret-of-berta-1234' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(await server.url()), { requestInit }))
  expect(client.getNegotiatedProtocolVersion()).toBe(legacyRevision)
  const args = { uploadId, offset: 0, data: btoa('x') }
  expect(await client.callTool({ name: 'append_blob_upload', arguments: args })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('no such workflow') as string }],
  })
  await client.close()
  expect(await server.call('secret-of-anna-1234', 'append_blob_upload', args)).toMatchObject({ received: 1 })
})

/** What is told of an upload of somebody else is what is told of one that never was. */
async function untouchable(server: Running, token: string, uploadId: string): Promise<void> {
  const unknown = `${uploadId.slice(0, -1)}${uploadId.endsWith('0') ? '1' : '0'}`
  const append = async (id: string) =>
    await server.call(token, 'append_blob_upload', { uploadId: id, offset: 0, data: btoa('x') })
  const finish = async (id: string) => await server.call(token, 'finish_blob_upload', { uploadId: id })
  expect(await append(uploadId)).toEqual(expect.stringContaining('no such workflow'))
  expect(await append(uploadId)).toBe(await append(unknown))
  expect(await finish(uploadId)).toBe(await finish(unknown))
}
