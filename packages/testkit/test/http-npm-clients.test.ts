import { createRevisionPolicy, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { type HttpListener, listenHttp } from '@atenea/transport-http/node'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { until } from './_util/processes.ts'

let listener: HttpListener
let aborted = 0
beforeEach(async () => {
  aborted = 0
  const core = createServedCore({ onAborted: () => (aborted += 1) })
  listener = await listenHttp(core, { policy: createRevisionPolicy() })
})
afterEach(async () => {
  await listener.close({ timeoutMs: 0 })
  const { sessions, openCalls } = listener.handler
  if (sessions + openCalls > 0) throw new Error(`${sessions} sessions and ${openCalls} calls were left open`)
})

const info = { name: 'npm', version: '1' }
const capabilities = { elicitation: {}, sampling: {}, roots: {} }
const elicited = { action: 'accept' as const, content: { name: 'Ada' } }
const sampled = { role: 'assistant' as const, model: 'm-1', content: { type: 'text' as const, text: 'Hi' } }
const listed = { roots: [{ uri: 'file:///home' }] }
const asks = { name: 'asks', arguments: { greeting: 'Hello' } }
const answered = { content: [{ type: 'text', text: 'Hello, Ada of file:///home, says m-1' }] }

describe('SDK 1.32', () => {
  async function connected(): Promise<{ client: Client1; transport: Transport1 }> {
    const transport = new Transport1(new URL(listener.url))
    const client = new Client1(info, { capabilities })
    client.setRequestHandler(ElicitRequestSchema, () => elicited)
    client.setRequestHandler(CreateMessageRequestSchema, () => sampled)
    client.setRequestHandler(ListRootsRequestSchema, () => listed)
    await client.connect(transport)
    return { client, transport }
  }

  test('LG-GET-01: calls, reads, asks back, and hears of progress and changes', async () => {
    const { client, transport } = await connected()
    expect(transport.protocolVersion).toBe(legacyRevision)
    expect(await client.callTool(asks)).toMatchObject(answered)
    const steps: unknown[] = []
    await client.callTool({ name: 'works' }, undefined, { onprogress: ({ progress }) => steps.push(progress) })
    expect(steps).toEqual([1, 2])
    expect(await client.readResource({ uri: 'note:///today' })).toMatchObject({ contents: [{ text: 'Tuesday' }] })
    const heard: string[] = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void heard.push(method))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri))
    await client.subscribeResource({ uri: 'note:///other' })
    await client.callTool({ name: 'changes' })
    await until(() => heard.length === 2)
    expect(heard.sort()).toEqual(['note:///other', 'notifications/tools/list_changed'])
    await transport.terminateSession()
    expect(listener.handler.sessions).toBe(0)
    await client.close()
  })

  test('LG-CANC-01: cancels a call', async () => {
    const { client } = await connected()
    const away = new AbortController()
    const call = client.callTool({ name: 'sleep', arguments: { ms: 60_000 } }, undefined, { signal: away.signal })
    setTimeout(() => away.abort('enough'), 50)
    await expect(call).rejects.toThrow(/enough|abort/i)
    await until(() => aborted === 1)
    await client.close()
  })
})

describe.each([
  ['legacy', 'legacy', 'legacy'],
  ['auto', 'auto', 'modern'],
  ['modern', { pin: modernRevision }, 'modern'],
] as const)('SDK client 2.4, %s', (_name, mode, era) => {
  test('MC-MRTR-16: calls, reads, asks back, and hears of progress and changes', async () => {
    const heard: unknown[] = []
    const client = new Client(info, {
      capabilities,
      versionNegotiation: { mode },
      listChanged: { tools: { autoRefresh: false, onChanged: () => void heard.push('tools') } },
    })
    client.setRequestHandler('elicitation/create', () => elicited)
    client.setRequestHandler('sampling/createMessage', () => sampled)
    client.setRequestHandler('roots/list', () => listed)
    await client.connect(new StreamableHTTPClientTransport(new URL(listener.url)))
    expect(client.getProtocolEra()).toBe(era)
    expect(await client.callTool(asks)).toMatchObject(answered)
    const steps: unknown[] = []
    await client.callTool({ name: 'works' }, { onprogress: ({ progress }) => void steps.push(progress) })
    expect(steps).toEqual([1, 2])
    expect(await client.readResource({ uri: 'note:///today' })).toMatchObject({ contents: [{ text: 'Tuesday' }] })
    expect((await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })).messages).toHaveLength(1)
    await client.callTool({ name: 'changes' })
    await until(() => heard.length > 0)
    const away = new AbortController()
    const call = client.callTool({ name: 'sleep', arguments: { ms: 60_000 } }, { signal: away.signal })
    setTimeout(() => away.abort('enough'), 50)
    await expect(call).rejects.toThrow(/enough|abort/i)
    await until(() => aborted === 1)
    await client.close()
  })
})
