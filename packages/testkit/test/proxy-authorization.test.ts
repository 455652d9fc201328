import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRevisionPolicy, type JsonObject } from '@atenea/mcpcompat'
import { createHttpHandler } from '@atenea/transport-http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { AuthorizationServer } from './_util/authorization-server.ts'
import { Running } from './_util/running.ts'

const resource = 'https://mcp.example.com/mcp'
const resources = { [resource]: ['tools', 'more'] }

let folder: string
let signing: AuthorizationServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-sign-in-'))
  signing = await AuthorizationServer.start({ resources, format: 'jwt' })
})
afterAll(async () => {
  await signing[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** An HTTP backend that keeps the heads of all requests. */
class Backend implements AsyncDisposable {
  readonly heads: IncomingHttpHeaders[] = []
  readonly #handler = createHttpHandler(createServedCore(), { policy: createRevisionPolicy() })
  readonly #server = createServer((request: IncomingMessage, response: ServerResponse) => {
    this.heads.push(request.headers)
    this.#handler.node(request, response)
  })

  static async start(): Promise<Backend> {
    const backend = new Backend()
    await new Promise<void>((resolve) => backend.#server.listen(0, '127.0.0.1', resolve))
    return backend
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handler[Symbol.asyncDispose]()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}

function run(config: JsonObject): Running {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify(config))
  return new Running({ app: 'proxy', args: ['--config', file], folder })
}

const tokenOf = async (person: string, scope = 'tools'): Promise<string> =>
  await signing.tokenOf(person, { resource, scope })

describe('atenea-proxy with an HTTP front whose clients sign in', () => {
  test('MC-AUTH-01, MC-AUTH-03: leads clients to the issuer, and takes what it has issued for this front alone', async () => {
    await using backend = await Backend.start()
    await using proxy = run({
      mcpServers: { back: { url: backend.url } },
      atenea: { auth: { issuer: signing.issuer, audience: resource, scopes: ['tools'] } },
    })
    const refused = await proxy.ask(undefined, 'tools/list')
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'),
    ])
    const document = await fetch(new URL('/.well-known/oauth-protected-resource', await proxy.url()))
    expect(await document.json()).toMatchObject({ resource, authorization_servers: [signing.issuer] })
    expect((await proxy.ask(await tokenOf('alice', 'more'), 'tools/list')).status).toBe(403)
    // nobody who may not come in makes the proxy speak to anybody
    expect(backend.heads).toEqual([])
    expect((await proxy.tools(await tokenOf('alice'))).length).toBeGreaterThan(3)
  })

  test('MC-AUTH-04, LG-AUTH-01, BR-213: the token of a client stays at the front, in both eras', async () => {
    await using backend = await Backend.start()
    await using proxy = run({
      mcpServers: { back: { url: backend.url, headers: { authorization: 'Bearer of-the-backend' } } },
      atenea: { auth: { issuer: signing.issuer, audience: resource } },
    })
    const token = await tokenOf('alice')
    for (const mode of ['legacy', 'auto'] as const) {
      const client = new Client({ name: 'npm', version: '1' }, { versionNegotiation: { mode } })
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(await proxy.url()), { requestInit }))
      expect((await client.listTools()).tools.length).toBeGreaterThan(3)
      await client.callTool({ name: 'echo', arguments: { text: 'x' } })
      await client.close()
    }
    expect(backend.heads.length).toBeGreaterThan(2)
    expect(new Set(backend.heads.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer of-the-backend']))
    for (const part of token.split('.')) {
      expect(JSON.stringify(backend.heads)).not.toContain(part)
    }
    expect(proxy.stderr).not.toContain(token.split('.')[2])
  })

  test('MC-TOOL-02, MC-CACHE-14: rules by scope and subject decide lists and calls alike', async () => {
    await using backend = await Backend.start()
    await using proxy = run({
      mcpServers: { back: { url: backend.url } },
      atenea: {
        auth: { issuer: signing.issuer, audience: resource, offeredScopes: ['more'] },
        policy: [
          { enabledTools: ['echo'], enabledPrompts: [], enabledResources: [] },
          { scopes: ['more'], enabledTools: ['e*'] },
          { principals: [`${signing.issuer}#carol`] },
        ],
      },
    })
    const alice = await tokenOf('alice')
    const carol = await tokenOf('carol')
    const all = await proxy.tools(carol)
    expect(all.length).toBeGreaterThan(3)
    expect(await proxy.tools(alice)).toEqual(['echo'])
    expect(await proxy.tools(await tokenOf('alice', 'tools more'))).toEqual(all.filter((name) => name.startsWith('e')))
    const [denied = ''] = all.filter((name) => !name.startsWith('e'))
    expect(await proxy.call(alice, denied, {})).toBe(`Unknown tool: ${denied}`)
    expect(await proxy.call(alice, 'nothing-of-that-name', {})).toBe('Unknown tool: nothing-of-that-name')
    expect(await proxy.call(carol, denied, {})).not.toBe(`Unknown tool: ${denied}`)
    const list = (await (await proxy.ask(alice, 'tools/list')).json()) as { readonly result: JsonObject }
    expect(list.result['cacheScope']).toBe('private')
  })
})
