import {
  type Call,
  createRevisionPolicy,
  type Diagnostic,
  type JsonObject,
  legacyRevision,
  modernRevision,
  type Outcome,
  toObject,
} from '@atenea/mcpcompat'
import {
  type ClientConnection,
  createCallerContext,
  type CreateCallerContextOptions,
} from '@atenea/mcpcompat/transport'
import { type ConnectHttpOptions, connectHttp } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type StartedServer, startEverything, startHttpFixture } from './_util/http-servers.ts'

// Servers start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const capabilities: JsonObject = { elicitation: { form: {} }, sampling: {}, roots: {} }
const peer = { name: 'testkit', version: '1.0.0', capabilities }

interface Connected extends AsyncDisposable {
  readonly connection: ClientConnection
  readonly diagnostics: readonly Diagnostic[]
  call(method: string, params?: JsonObject, options?: CreateCallerContextOptions): Promise<Outcome>
  tool(name: string, args?: JsonObject, options?: CreateCallerContextOptions): Promise<JsonObject>
}

async function connect(url: string, mode: ConnectHttpOptions['mode'] = 'auto'): Promise<Connected> {
  const send = createNodeSend()
  const diagnostics: Diagnostic[] = []
  const connection = await connectHttp(url, {
    policy: createRevisionPolicy(),
    info: { name: 'testkit', version: '1.0.0' },
    capabilities,
    mode,
    send,
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
  })
  const call: Connected['call'] = async (method, params = {}, options = {}) =>
    await connection.call({ method, params }, createCallerContext({ peer, ...options }))
  return {
    connection,
    diagnostics,
    call,
    tool: async (name, args = {}, options) => resultOf(await call('tools/call', { name, arguments: args }, options)),
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]()
      send[Symbol.dispose]()
    },
  }
}

function resultOf(outcome: Outcome): JsonObject {
  if (outcome.kind !== 'result') throw new Error(`${outcome.kind} in place of a result`)
  return toObject(outcome.value)
}

describe.each([
  ['sdk-v2', modernRevision, 'H16'],
  ['sdk-v1', legacyRevision, undefined],
  ['tmcp', modernRevision, 'H16'],
  ['fastmcp', legacyRevision, undefined],
])('our client and the HTTP server of %s', (name, newest, row) => {
  let server: StartedServer
  beforeAll(async () => {
    server = await startHttpFixture(name)
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  test('find the right era, and talk', async () => {
    await using client = await connect(server.url)
    expect(client.connection).toMatchObject({ observed: newest, server: { info: { name } } })
    expect(row === undefined || client.connection.row === row).toBe(true)
    expect(resultOf(await client.call('tools/list'))['tools']).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'echo' })]),
    )
    for (const text of ['x', '読🎉\u2028', 'a\r\nb', 'y'.repeat(200_000)]) {
      expect(await client.tool('echo', { text })).toMatchObject({ content: [{ type: 'text', text }] })
    }
  })

  test('talk legacy when told to', async () => {
    await using client = await connect(server.url, 'legacy')
    expect(client.connection.observed).toBe(legacyRevision)
    expect(await client.tool('echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
  })

  test('many calls at once get their own answers', async () => {
    await using client = await connect(server.url)
    const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`)
    const answers = await Promise.all(texts.map(async (text) => await client.tool('echo', { text })))
    expect(answers.map((answer) => (answer['content'] as JsonObject[])[0]?.['text'])).toEqual(texts)
  })

  test('errors come through', async () => {
    await using client = await connect(server.url)
    const outcome = await client.tool('nothing').catch((error: unknown) => error)
    // Some say it as an error, some as a result that a model can read.
    const isError = (outcome as JsonObject)['isError'] === true
    expect(isError || (outcome as JsonObject)['code'] === -32_602 || (outcome as JsonObject)['code'] === -32_601).toBe(
      true,
    )
  })
})

describe('pins', () => {
  test.each(['sdk-v2', 'tmcp'])('modern holds with %s', async (name) => {
    await using server = await startHttpFixture(name)
    await using client = await connect(server.url, 'modern')
    expect(client.connection.observed).toBe(modernRevision)
  })

  test.each(['sdk-v1', 'fastmcp'])('modern is an error with %s', async (name) => {
    await using server = await startHttpFixture(name)
    await expect(connect(server.url, 'modern')).rejects.toMatchObject({ kind: 'protocol' })
  })
})

describe('sessions of the official SDK, version 1', () => {
  let server: StartedServer
  beforeAll(async () => {
    server = await startHttpFixture('sdk-v1')
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  test('a question in the middle of a call becomes an ask, and the answer ends the call', async () => {
    await using client = await connect(server.url)
    const params = { name: 'asks', arguments: {} }
    const asked = await client.call('tools/call', params)
    if (asked.kind !== 'ask' || asked.requestState === undefined) throw new Error(asked.kind)
    const [key = ''] = asked.inputRequests?.keys() ?? []
    const resume = { requestState: asked.requestState, inputResponses: { [key]: { action: 'decline' } } }
    expect(resultOf(await client.call('tools/call', params, { resume }))).toMatchObject({
      content: [{ text: 'decline' }],
    })
  })

  test('list changes come on the stream of the session', async () => {
    await using client = await connect(server.url)
    const notices: Call[] = []
    const stop = new AbortController()
    const listening = client.call(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { signal: stop.signal, onNotice: (notice) => void notices.push(notice) },
    )
    listening.catch(() => undefined)
    await vi.waitFor(() => expect(notices).toHaveLength(1))
    await client.tool('grows')
    await vi.waitFor(() => expect(notices.at(-1)).toMatchObject({ method: 'notifications/tools/list_changed' }))
    stop.abort(new Error('enough'))
    await expect(listening).rejects.toThrow('enough')
  })
})

describe('@modelcontextprotocol/server-everything over HTTP', () => {
  let server: StartedServer
  beforeAll(async () => {
    server = await startEverything()
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  test('is legacy; its tools, prompts and resources are listed, called and read', async () => {
    await using client = await connect(server.url)
    expect(client.connection.observed).toBe(legacyRevision)
    const tools = resultOf(await client.call('tools/list'))['tools'] as JsonObject[]
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(await client.tool('echo', { message: 'hi' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hi' }],
    })
    const prompts = resultOf(await client.call('prompts/list'))['prompts'] as JsonObject[]
    expect(prompts.length).toBeGreaterThan(0)
    const resources = resultOf(await client.call('resources/list'))['resources'] as JsonObject[]
    const uri = resources[0]?.['uri'] ?? ''
    expect(resultOf(await client.call('resources/read', { uri }))['contents']).toHaveLength(1)
  })

  test('its long operation tells of its progress', async () => {
    await using client = await connect(server.url)
    const notices: Call[] = []
    // This server asks for roots by itself, on the stream of the session; a caller that has none is not bothered with that.
    await client.tool(
      'trigger-long-running-operation',
      { duration: 1, steps: 4 },
      { peer: { ...peer, capabilities: {} }, progressToken: 'p', onNotice: (notice) => void notices.push(notice) },
    )
    expect(notices.map(({ params }) => toObject(params)['progress'])).toEqual([1, 2, 3, 4])
  })
})
