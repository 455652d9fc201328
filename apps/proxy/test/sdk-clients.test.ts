import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { binPath, ProxyProcess, privateHome } from './_util/proxy-process.ts'
import { type StartedServer, startHttpServer, stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-sdk-'))
const home = privateHome()

/** How a client reaches the proxy: what it starts, or where it asks. */
type Front = { readonly args: readonly string[] } | { readonly url: string }

type AnyClient = ClientV1 | ClientV2

async function connectV1(front: Front): Promise<AnyClient> {
  const client = new ClientV1({ name: 'v1', version: '1' })
  if ('url' in front) await client.connect(new HttpV1(new URL(front.url)))
  else await client.connect(new StdioV1(spawned(front.args)))
  return client
}

async function connectV2(front: Front, mode: 'legacy' | 'auto' | { pin: string }): Promise<AnyClient> {
  const client = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode } })
  if ('url' in front) await client.connect(new HttpV2(new URL(front.url)))
  else await client.connect(new StdioV2(spawned(front.args)))
  expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'legacy' ? legacyRevision : modernRevision)
  return client
}

function spawned(args: readonly string[]): {
  command: string
  args: string[]
  env: Record<string, string>
  stderr: 'ignore'
} {
  const { PATH = '' } = process.env
  return { command: process.execPath, args: [binPath, ...args], env: { PATH, ...home.environment }, stderr: 'ignore' }
}

/** Clients from npm. */
const clients: readonly (readonly [name: string, connect: (front: Front) => Promise<AnyClient>])[] = [
  ['SDK 1.32', connectV1],
  ['SDK 2.4, legacy', async (front) => await connectV2(front, 'legacy')],
  ['SDK 2.4, auto', async (front) => await connectV2(front, 'auto')],
  ['SDK 2.4, modern', async (front) => await connectV2(front, { pin: modernRevision })],
]

async function expectWorks(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('echo')
  for (const text of ['hello', '読🎉\u2028', 'y'.repeat(100_000)]) {
    const { content, isError } = await client.callTool({ name: 'echo', arguments: { text } })
    expect(content).toEqual([{ type: 'text', text }])
    expect(isError).toBeFalsy()
  }
}

const started: AsyncDisposable[] = []
/** Words that name each kind of server to the proxy. */
const servers: Record<string, readonly string[]> = {
  'a child, SDK 1.32': ['--', ...stdioServer('sdk-v1')],
  'a child, SDK 2.4': ['--', ...stdioServer('sdk-v2')],
}

async function startHttp(kind: 'sdk-v1' | 'sdk-v2' | 'sse-sdk-v1'): Promise<StartedServer> {
  const server = await startHttpServer(kind)
  started.push(server)
  return server
}

async function startProxy(...args: readonly string[]): Promise<ProxyProcess> {
  const proxy = new ProxyProcess(args, home.environment)
  started.push(proxy)
  await proxy.says('listening')
  return proxy
}

beforeAll(async () => {
  servers['HTTP, SDK 1.32'] = [(await startHttp('sdk-v1')).url]
  servers['HTTP, SDK 2.4'] = [(await startHttp('sdk-v2')).url]
  servers['HTTP+SSE, SDK 1.32'] = ['--http-sse', (await startHttp('sse-sdk-v1')).url]
  // A socket is served by another proxy, since no SDK does that.
  const socket = join(folder, 'server.sock')
  await startProxy('--socket', socket, '--', ...stdioServer('sdk-v2'))
  servers['a unix socket'] = [`unix:${socket}`]
})

afterAll(async () => {
  await Promise.all(started.map(async (one) => await one[Symbol.asyncDispose]()))
  rmSync(folder, { recursive: true, force: true })
  home[Symbol.dispose]()
})

describe.each([
  'a child, SDK 1.32',
  'a child, SDK 2.4',
  'HTTP, SDK 1.32',
  'HTTP, SDK 2.4',
  'HTTP+SSE, SDK 1.32',
  'a unix socket',
])('in front of %s', (server) => {
  test.each(clients)('%s, over stdio', async (_name, connect) => {
    const client = await connect({ args: servers[server] ?? [] })
    await expectWorks(client)
    await client.close()
  })

  test('A19: every client over HTTP and a socket, all fronts of one proxy at once', async () => {
    const socket = join(folder, `front-${Math.random()}.sock`)
    const proxy = await startProxy('--http', '0', '--socket', socket, ...(servers[server] ?? []))
    const url = await proxy.until('it listens', () => /listening url=(\S+)/.exec(proxy.stderr)?.[1])
    const fronts: readonly Front[] = [{ url }, { args: ['connect', socket] }]
    const all = fronts.flatMap((front) => clients.map(async ([, connect]) => await connect(front)))
    const connected = await Promise.all(all)
    await Promise.all(connected.map(expectWorks))
    await Promise.all(connected.map(async (client) => await client.close()))
    proxy.child.kill('SIGTERM')
    expect(await proxy.ended).toEqual({ code: 0, signal: null })
  })
})
