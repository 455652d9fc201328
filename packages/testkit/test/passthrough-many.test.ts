import { createRevisionPolicy, modernRevision } from '@atenea/mcpcompat'
import { connectDuplex } from '@atenea/mcpcompat/transport'
import { type BackendOptions, createPassthrough, type Passthrough, type PassthroughEvent } from '@atenea/passthrough'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend, type HttpListener, listenHttp } from '@atenea/transport-http/node'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { mark, startFixture } from './_util/fixtures.ts'
import { type StartedServer, startHttpFixture } from './_util/http-servers.ts'
import { processesWith, until } from './_util/processes.ts'

// Six processes start at once on a machine that may be busy; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** Long enough for those that answer, on a machine that is busy. */
const waitMs = 6_000

let http: StartedServer
let send: ReturnType<typeof createNodeSend>
let passthrough: Passthrough
let listener: HttpListener
let events: PassthroughEvent[]

const stdio = (name: string, fixture: string, ...args: readonly string[]): BackendOptions => ({
  name,
  connect: (options) =>
    connectDuplex(async ({ signal }) => await startFixture(fixture, args, { signal, payload: 'text' }), options),
})

beforeAll(async () => {
  http = await startHttpFixture('sdk-v2')
  send = createNodeSend()
  events = []
  passthrough = createPassthrough({
    backends: [
      stdio('one', 'sdk-v1'),
      stdio('dead', 'no-such-server'),
      stdio('two', 'sdk-v2'),
      stdio('mute', 'silent-on-probe', 'always'),
      { name: 'web', connect: (options) => connectHttp(http.url, { ...options, send, payload: 'text' }) },
      stdio('odd', 'sdk-v1-odd'),
    ],
    policy: createRevisionPolicy(),
    info: { name: 'proxy', version: '0' },
    waitMs,
    onEvent: (event) => events.push(event),
  })
  listener = await listenHttp(passthrough, { policy: createRevisionPolicy(), payload: 'text' })
})

afterAll(async () => {
  await listener.close({ timeoutMs: 0 })
  await passthrough[Symbol.asyncDispose]()
  send[Symbol.dispose]()
  await http[Symbol.asyncDispose]()
  await until(() => processesWith(mark).length === 0)
})

const long = 'x'.repeat(70)
const listed = [
  'one__echo',
  'two__echo',
  'web__echo',
  'odd__odd',
  'odd__touch',
  expect.stringMatching(/^odd__x{48}_[0-9a-f]{10}$/),
]

/** What both versions of the SDK can do, in the same words. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<unknown>
  readResource(params: { uri: string }): Promise<unknown>
  complete(params: {
    ref: { type: 'ref/prompt'; name: string }
    argument: { name: string; value: string }
  }): Promise<unknown>
  getInstructions(): string | undefined
}

async function usesEverything(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  expect(names).toEqual(listed)
  for (const name of ['one__echo', 'two__echo', 'web__echo']) {
    const called = await client.callTool({ name, arguments: { text: `${name} 読🎉` } })
    expect(called).toMatchObject({ content: [{ type: 'text', text: `${name} 読🎉` }] })
  }
  const shortened = await client.callTool({ name: names.at(-1) as string, arguments: {} })
  expect(shortened).toMatchObject({ structuredContent: { name: long } })
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['odd__greet'])
  expect(await client.getPrompt({ name: 'odd__greet', arguments: { who: 'Ada' } })).toMatchObject({
    messages: [{ content: { text: 'greet Ada' } }],
  })
  expect(await client.readResource({ uri: 'odd://1' })).toMatchObject({
    contents: [{ uri: 'odd://1', blob: 'AAEC', mimeType: 'application/x-odd' }],
  })
  expect(await client.readResource({ uri: 'odd://by-template' })).toMatchObject({ contents: [{ blob: 'AAEC' }] })
  const ref = { type: 'ref/prompt' as const, name: 'odd__greet' }
  expect(await client.complete({ ref, argument: { name: 'who', value: 'A' } })).toMatchObject({
    completion: { values: ['greet:A'] },
  })
  expect(client.getInstructions()).toContain('# odd\n\nAsk for what is odd.')
  await expect(client.callTool({ name: 'one__nothing', arguments: {} })).rejects.toMatchObject({ code: -32_602 })
  await expect(client.callTool({ name: 'dead__echo', arguments: {} })).rejects.toMatchObject({ code: -32_603 })
}

function reportsWhatIsWrong(): void {
  const reported = events.flatMap((event) =>
    event.kind === 'list' ? [{ code: event.code, backend: event.backend }] : [],
  )
  expect(reported).toContainEqual({ code: 'backend-missing', backend: 'dead' })
  expect(reported).toContainEqual({ code: 'backend-missing', backend: 'mute' })
  expect(reported).toContainEqual({ code: 'tool-dropped', backend: 'odd' })
}

describe('BR-306, F13: servers of both eras and of three carriers as one, of which one is dead, one mute, and one has a bad tool', () => {
  test('SDK 1.32, which waits for the mute one once', async () => {
    const started = performance.now()
    const client = new Client1({ name: 'one', version: '1' })
    await client.connect(new Transport1(new URL(listener.url)))
    await usesEverything(client)
    expect(performance.now() - started).toBeLessThan(2 * waitMs)
    reportsWhatIsWrong()
    const heard: string[] = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void heard.push(method))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri))
    await client.subscribeResource({ uri: 'odd://1' })
    await client.callTool({ name: 'odd__touch', arguments: {} })
    await until(() => heard.length >= 2)
    expect(heard.toSorted()).toEqual(['notifications/tools/list_changed', 'odd://1'])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...listed, 'odd__new'])
    await client.close()
  })

  test('SDK 2.4', async () => {
    const heard: string[] = []
    const client = new Client(
      { name: 'two', version: '1' },
      {
        versionNegotiation: { mode: 'auto' },
        listChanged: { tools: { autoRefresh: false, onChanged: () => void heard.push('tools') } },
      },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(listener.url)))
    expect(client.getNegotiatedProtocolVersion()).toBe(modernRevision)
    await usesEverything(client)
    reportsWhatIsWrong()
    await client.callTool({ name: 'odd__touch', arguments: {} })
    await until(() => heard.length > 0)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...listed, 'odd__new'])
    await client.close()
  })
})
