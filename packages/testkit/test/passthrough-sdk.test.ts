import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { mark } from './_util/fixtures.ts'
import { startHttpFixture } from './_util/http-servers.ts'
import { processesWith, until } from './_util/processes.ts'
import { backendOn, httpConnector, httpFront, Opened, passthroughTo } from './_util/proxied.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let opened = new Opened()
beforeEach(() => {
  opened = new Opened()
})
afterEach(async () => {
  await opened[Symbol.asyncDispose]()
  await until(() => processesWith(mark).length === 0)
})

interface SdkClient {
  call(text: string): Promise<unknown>
  tools(): Promise<string[]>
  missing(): Promise<unknown>
  close(): Promise<void>
  readonly revision: string | undefined
}

const info = { name: 'npm', version: '1' }

async function legacyClient(url: string): Promise<SdkClient> {
  const transport = new Transport1(new URL(url))
  const client = new Client1(info)
  await client.connect(transport)
  return {
    call: async (text) => (await client.callTool({ name: 'echo', arguments: { text } })).content,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    missing: async () => await client.getPrompt({ name: 'none' }).catch((error: unknown) => error),
    close: async () => await client.close(),
    revision: transport.protocolVersion,
  }
}

async function modernClient(url: string): Promise<SdkClient> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: modernRevision } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return {
    call: async (text) => (await client.callTool({ name: 'echo', arguments: { text } })).content,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    missing: async () => await client.getPrompt({ name: 'none' }).catch((error: unknown) => error),
    close: async () => await client.close(),
    revision: modernRevision,
  }
}

/** SDK 1.32 speaks legacy only, 2.4 both; the latter is pinned to modern here. */
const clients = [
  ['SDK client 1.32', legacyClient, legacyRevision],
  ['SDK client 2.4', modernClient, modernRevision],
] as const
const servers = [
  ['SDK server 1.32', 'sdk-v1', 'legacy', legacyRevision],
  ['SDK server 2.4', 'sdk-v2', 'modern', modernRevision],
] as const
const cells = clients.flatMap((client) => servers.map((server) => [client[0], server[0], client, server] as const))

describe.each(cells)('%s, %s', (_client, _server, [, connect, spoken], [, fixture, mode, revision]) => {
  test.each(['stdio', 'http'] as const)(
    'BR-101, BR-105, BR-201, BR-204, BR-301, BR-307: lists, calls, fails; the server over %s',
    async (carrier) => {
      const backend =
        carrier === 'stdio'
          ? await backendOn('stdio', mode, opened, { name: 'back', fixture })
          : { name: 'back', mode, connect: httpConnector((await started(fixture)).url, opened) }
      const passthrough = passthroughTo([backend], opened)
      const { url } = await httpFront(passthrough, opened)
      const client = await connect(url)
      opened.later(() => client.close())
      expect(client.revision).toBe(spoken)
      expect(await client.tools()).toContain('echo')
      expect(await client.call('Grüße 👋')).toEqual([{ type: 'text', text: 'Grüße 👋' }])
      const many = await Promise.all(Array.from({ length: 20 }, async (_, n) => await client.call(`n${n}`)))
      expect(many).toEqual(Array.from({ length: 20 }, (_, n) => [{ type: 'text', text: `n${n}` }]))
      expect(await client.call('x'.repeat(200_000))).toEqual([{ type: 'text', text: 'x'.repeat(200_000) }])
      expect(await client.missing()).toMatchObject({ message: expect.stringMatching(/not found|does not support/i) })
      expect(passthrough.status().backends[0]).toMatchObject({ state: 'ready', observed: revision, restarts: 0 })
    },
  )
})

async function started(name: string): ReturnType<typeof startHttpFixture> {
  const server = await startHttpFixture(name)
  opened.later(() => server[Symbol.asyncDispose]())
  return server
}
