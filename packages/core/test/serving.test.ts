import { type JsonObject, type Principal, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type CreateCoreOptions,
  type HandlerContext,
  ToolError,
  ask,
  createCore,
  createMessage,
  definePrompt,
  defineTool,
  elicitForm,
  elicitUrl,
  listRoots,
} from '../src/index.ts'
import { type Wire, modernMeta, openWire } from './_util/wire.ts'

const info = { name: 'test', version: '1' }
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const resultIn = (answer: JsonObject): JsonObject => {
  if (answer.result === undefined) throw new Error(`no result: ${JSON.stringify(answer)}`)
  return answer.result as JsonObject
}
const errorIn = (answer: JsonObject): JsonObject => answer.error as JsonObject
const textIn = (answer: JsonObject): string =>
  ((resultIn(answer).content as readonly JsonObject[])[0] as { text: string }).text

describe('an application session', () => {
  /** A core that writes down what happens, in order. */
  function recording() {
    const order: string[] = []
    const enter = (session: HandlerContext['session']): void => {
      session.defer(async () => {
        await tick()
        order.push('closed')
      })
    }
    const core = createCore({
      info,
      tools: [
        defineTool({ name: 'good', handler: (_args, { session }) => enter(session) }),
        defineTool({
          name: 'bad',
          handler(_args, { session }) {
            enter(session)
            throw new ToolError('bad')
          },
        }),
        defineTool({
          name: 'worse',
          async handler(_args, { session }) {
            enter(session)
            await tick()
            throw new Error('worse')
          },
        }),
        defineTool({
          name: 'asks',
          handler(_args, { session }) {
            enter(session)
            return ask({ roots: listRoots() }, { state: 1 })
          },
        }),
        defineTool({
          name: 'waits',
          async handler(_args, { session, signal }) {
            enter(session)
            order.push('waiting')
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            order.push('aborted')
            throw signal.reason
          },
        }),
      ],
    })
    return { core, order }
  }

  test.each(['good', 'bad', 'worse', 'asks'])('is closed before the response of %s is written', async (name) => {
    const { core, order } = recording()
    await using wire = openWire(core)
    const answered = wire.modern('tools/call', { name }, modernMeta({ roots: {} })).then(() => order.push('answered'))
    await answered
    expect(order).toEqual(['closed', 'answered'])
  })

  test('is closed on cancel, after which nothing is written', async () => {
    const { core, order } = recording()
    await using wire = openWire(core)
    wire.send({ id: 'c', method: 'tools/call', params: { name: 'waits', _meta: modernMeta() } })
    while (order.length === 0) await tick()
    wire.send({ method: 'notifications/cancelled', params: { requestId: 'c' } })
    while (!order.includes('closed')) await tick()
    await wire.modern('tools/list')
    expect(order).toEqual(['waiting', 'aborted', 'closed'])
    expect(wire.heard.some(({ id }) => id === 'c')).toBe(false)
  })

  test('B13, C23: is closed when the client disconnects', async () => {
    const { core, order } = recording()
    const wire = openWire(core, { flushTimeoutMs: 0 })
    wire.send({ id: 'c', method: 'tools/call', params: { name: 'waits', _meta: modernMeta() } })
    while (order.length === 0) await tick()
    await wire[Symbol.asyncDispose]()
    expect(order).toEqual(['waiting', 'aborted', 'closed'])
  })

  test('MC-STL-06, MC-STL-01: is one for each modern dispatch, and one for a legacy connection', async () => {
    const count = defineTool({
      name: 'count',
      handler(_args, { session, client }) {
        const before = (session.state.get('n') as number | undefined) ?? 0
        session.state.set('n', before + 1)
        return `${before + 1} ${client.name ?? '?'}`
      },
    })
    await using wire = openWire(createCore({ info, tools: [count] }))
    const modern = async () => textIn(await wire.modern('tools/call', { name: 'count' }))
    expect([await modern(), await modern()]).toEqual(['1 wire', '1 wire'])
    await wire.initialize()
    const legacy = async () => textIn(await wire.ask('tools/call', { name: 'count' }))
    expect([await legacy(), await legacy(), await modern()]).toEqual(['1 wire', '2 wire', '1 wire'])
  })
})

const liveOptions = (): CreateCoreOptions => ({
  info,
  instructions: 'Use it well.',
  tools: [
    defineTool({ name: 'echo', inputSchema: z.object({ text: z.string() }), handler: ({ text }) => text }),
    defineTool({ name: 'number', outputSchema: { type: 'integer' }, handler: () => 7 }),
    defineTool({
      name: 'progress',
      handler: async (_args, { progress, log }) => {
        for (const step of [0, 50, 100]) await progress(step, 100)
        for (const step of ['started', 'processing', 'completed']) await log('info', step)
        return 'done'
      },
    }),
  ],
  prompts: [definePrompt({ name: 'p', arguments: { a: { required: true } }, handler: ({ a }) => a })],
  resources: [{ uri: 'x:1', name: 'x', mimeType: 'text/plain', read: () => 'one' }],
  resourceTemplates: [{ uriTemplate: 'y:{id}', name: 'y', read: () => undefined }],
  completions: ({ argument }) => [argument],
  listChanged: { tools: true, prompts: true, resources: true },
  subscribe: true,
  logging: true,
})

describe('the modern revision', () => {
  test('A8, MC-VER-03, MC-STL-01: discovery pins nothing, and each message stands for itself', async () => {
    await using wire = openWire(createCore(liveOptions()))
    for (let n = 0; n < 2; n++) {
      expect(resultIn(await wire.modern('server/discover'))).toMatchObject({
        resultType: 'complete',
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          completions: {},
          logging: {},
        },
        instructions: 'Use it well.',
        ttlMs: 0,
        cacheScope: 'private',
      })
    }
    expect(resultIn(await wire.initialize()).protocolVersion).toBe(legacyRevision)
    expect(textIn(await wire.ask('tools/call', { name: 'echo', arguments: { text: 'old' } }))).toBe('old')
    expect(textIn(await wire.modern('tools/call', { name: 'echo', arguments: { text: 'new' } }))).toBe('new')
  })

  test('B1, MC-RT-01, MC-CACHE-01: every result is complete, and what may be cached says so', async () => {
    await using wire = openWire(createCore(liveOptions()))
    const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    for (const [method, params] of [
      ['tools/list', {}],
      ['prompts/list', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: 'x:1' }],
    ] as const) {
      expect(resultIn(await wire.modern(method, params))).toMatchObject(cached)
    }
    const ref = { type: 'ref/prompt', name: 'p' }
    const plain = [
      await wire.modern('tools/call', { name: 'echo', arguments: { text: 'x' } }),
      await wire.modern('prompts/get', { name: 'p', arguments: { a: 'x' } }),
      await wire.modern('completion/complete', { ref, argument: { name: 'a', value: '' } }),
    ]
    for (const answer of plain) {
      expect(resultIn(answer)).toMatchObject({ resultType: 'complete', _meta: { [metaKey.serverInfo]: info } })
      expect(resultIn(answer)).not.toHaveProperty('ttlMs')
    }
  })

  test('MC-PROG-03, MC-PROG-08, MC-LOG-04: progress and logs belong to their request and come before its answer', async () => {
    await using wire = openWire(createCore(liveOptions()))
    const listening = wire.modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    listening.catch(() => undefined)
    await wire.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    const meta = { ...modernMeta(), progressToken: 'tok-1', [metaKey.logLevel]: 'info' }
    await wire.modern('tools/call', { name: 'progress' }, meta)
    const about = wire.heard.slice(1)
    expect(about.map(({ method }) => method)).toEqual([
      ...Array<string>(3).fill('notifications/progress'),
      ...Array<string>(3).fill('notifications/message'),
      undefined,
    ])
    expect(about.slice(0, 3).map(({ params }) => (params as JsonObject).progressToken)).toEqual([
      'tok-1',
      'tok-1',
      'tok-1',
    ])
    expect(JSON.stringify(about)).not.toContain(metaKey.subscriptionId)
    wire.heard.length = 0
    await wire.modern('tools/call', { name: 'progress' })
    expect(wire.heard).toHaveLength(1)
  })

  test('MC-SUB-07, MC-META-09, MC-SUB-12, MC-CANC-12: a subscription is tagged, and ended with a result', async () => {
    const core = createCore(liveOptions())
    const controller = new AbortController()
    await using wire = openWire(core, { signal: controller.signal })
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['x:1', 'x:none'] }
    wire.send({ id: 'sub', method: 'subscriptions/listen', params: { notifications, _meta: modernMeta() } })
    const tag = { [metaKey.subscriptionId]: 'sub' }
    expect(await wire.next(({ method }) => method === 'notifications/subscriptions/acknowledged')).toMatchObject({
      params: { _meta: tag, notifications: { toolsListChanged: true, resourceSubscriptions: ['x:1'] } },
    })
    core.addTool({ name: 'new', handler: () => '' })
    core.notifyPromptsChanged()
    core.resourceUpdated('x:1')
    await wire.next(({ method }) => method === 'notifications/tools/list_changed')
    await wire.next(({ method }) => method === 'notifications/resources/updated')
    controller.abort()
    expect(await wire.next(({ id }) => id === 'sub')).toMatchObject({ result: { resultType: 'complete', _meta: tag } })
    expect(wire.heard.filter(({ params }) => params !== undefined)).toSatisfy((notices: JsonObject[]) =>
      notices.every(
        ({ method, params }) => method === 'notifications/cancelled' || JSON.stringify(params).includes('"sub"'),
      ),
    )
    expect(wire.heard.some(({ method }) => method === 'notifications/prompts/list_changed')).toBe(false)
  })

  test('MC-SUB-18, MC-SUB-14: a subscription belongs to its request, and another connection starts without any', async () => {
    const core = createCore(liveOptions())
    const first = openWire(core)
    const notifications = { toolsListChanged: true }
    first.send({ id: 1, method: 'subscriptions/listen', params: { notifications, _meta: modernMeta() } })
    await first.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    await first[Symbol.asyncDispose]()
    await using second = openWire(core)
    await second.modern('tools/list')
    core.notifyToolsChanged()
    await tick()
    await second.modern('tools/list')
    expect(second.heard.every(({ method }) => method === undefined)).toBe(true)
  })

  test('MC-MSG-09, MC-MRTR-01, MC-MRTR-18: input is asked for in results, and comes with another request', async () => {
    const who = elicitForm({ message: 'Who?', schema: z.object({ name: z.string() }) })
    const greet = defineTool({
      name: 'greet',
      handler: (_args, { input }) => {
        const answer = input.get('who', who)
        return answer?.action === 'accept' ? `Hello, ${answer.content.name}!` : ask({ who }, { state: 'asked' })
      },
    })
    await using wire = openWire(createCore({ info, tools: [greet] }))
    const meta = modernMeta({ elicitation: {} })
    const asked = resultIn(await wire.modern('tools/call', { name: 'greet' }, meta))
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params: { mode: 'form', message: 'Who?' } } },
    })
    expect(asked).not.toHaveProperty('ttlMs')
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } }
    const retry = { name: 'greet', inputResponses, requestState: asked.requestState as string }
    expect(textIn(await wire.modern('tools/call', retry, meta))).toBe('Hello, Ada!')
    expect(
      errorIn(await wire.modern('tools/call', { ...retry, requestState: `${retry.requestState}-TAMPERED` }, meta)),
    ).toMatchObject({ code: -32_602 })
    expect(errorIn(await wire.modern('tools/call', { name: 'greet', inputResponses: null }, meta))).toMatchObject({
      code: -32_602,
    })
    expect(errorIn(await wire.modern('tools/call', { name: 'greet' }))).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
    expect(wire.heard.every(({ method }) => method === undefined)).toBe(true)
  })

  test('E8, MC-CANC-07, MC-CANC-10, MS-CANC-02: nothing is written for a call after its cancel', async () => {
    const seen: HandlerContext[] = []
    const slow = defineTool({
      name: 'slow',
      async handler(_args, context) {
        seen.push(context)
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
        await context.progress(1)
        await context.log('error', 'late')
        return 'late'
      },
    })
    await using wire = openWire(createCore({ info, tools: [slow], logging: true }))
    const meta = { ...modernMeta(), progressToken: 1, [metaKey.logLevel]: 'debug' }
    wire.send({ id: 's', method: 'tools/call', params: { name: 'slow', _meta: meta } })
    while (seen.length === 0) await tick()
    wire.send({ method: 'notifications/cancelled', params: { requestId: 's', reason: 'enough' } })
    wire.send({ method: 'notifications/cancelled', params: { requestId: 's' } })
    wire.send({ method: 'notifications/cancelled', params: { requestId: 'unknown' } })
    await wire.modern('tools/list')
    expect(seen[0]?.signal.aborted).toBe(true)
    for (let n = 0; n < 5; n++) await tick()
    await wire.modern('tools/list')
    expect(wire.heard.map(({ id }) => id)).toEqual([1, 2])
  })

  test('C20: an id may be used again once its call has ended', async () => {
    await using wire = openWire(createCore(liveOptions()))
    for (const text of ['a', 'b']) {
      wire.heard.length = 0
      wire.send({ id: 5, method: 'tools/call', params: { name: 'echo', arguments: { text }, _meta: modernMeta() } })
      expect(textIn(await wire.next(({ id }) => id === 5))).toBe(text)
    }
  })

  test('MC-EXT-02, MC-DEP-03: extensions that a client declares change nothing, and tasks are none of ours', async () => {
    await using wire = openWire(createCore(liveOptions()))
    const extended = modernMeta({ extensions: { 'io.modelcontextprotocol/tasks': {}, 'com.example/x': { a: 1 } } })
    const call = { name: 'echo', arguments: { text: 'x' }, task: { ttl: 1000 } }
    expect(resultIn(await wire.modern('tools/call', call, extended))).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'x' }],
    })
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel', 'tasks/list', 'tasks/result']) {
      expect(errorIn(await wire.modern(method, {}, extended))).toMatchObject({ code: -32_601 })
    }
    expect(resultIn(await wire.modern('server/discover', {}, extended)).capabilities).not.toHaveProperty('extensions')
  })

  test('MC-ROOT-04, MC-ELIC-17: notifications of earlier revisions do nothing, and are not sent', async () => {
    await using wire = openWire(createCore(liveOptions()))
    wire.send({ method: 'notifications/roots/list_changed', params: { _meta: modernMeta() } })
    wire.send({ method: 'notifications/elicitation/complete', params: { elicitationId: '1', _meta: modernMeta() } })
    await wire.modern('tools/list')
    expect(wire.heard).toHaveLength(1)
    const link = elicitUrl({ message: 'Sign in', url: 'https://example.com/' })
    const sign = defineTool({
      name: 'sign',
      handler: (_args, { input }) => input.get('link', link)?.action ?? ask({ link }),
    })
    await using other = openWire(createCore({ info, tools: [sign] }))
    const meta = modernMeta({ elicitation: { url: {} } })
    const asked = await other.modern('tools/call', { name: 'sign' }, meta)
    expect(JSON.stringify(asked)).not.toContain('elicitationId')
    await other.modern('tools/call', { name: 'sign', inputResponses: { link: { action: 'accept' } } }, meta)
    expect(other.heard).toHaveLength(2)
  })

  test('E4, E5, MC-ERR-12: what is no request of ours runs nothing', async () => {
    await using wire = openWire(createCore(liveOptions()))
    expect(errorIn(await wire.modern('ping'))).toMatchObject({ code: -32_601 })
    expect(errorIn(await wire.modern('tools/call', { name: 'nope' }))).toEqual({
      code: -32_602,
      message: 'Unknown tool: nope',
    })
  })
})

describe('the legacy revision', () => {
  test('LG-LIFE-02, LG-LIFE-09, LG-CAP-01: a handshake tells what is served', async () => {
    await using wire = openWire(createCore(liveOptions()))
    expect(resultIn(await wire.initialize())).toEqual({
      protocolVersion: legacyRevision,
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      serverInfo: info,
      instructions: 'Use it well.',
    })
  })

  test('B1, LG-TOOL-02, LG-TOOL-03, LG-RES-03: results have no members of the modern revision', async () => {
    await using wire = openWire(createCore(liveOptions()))
    await wire.initialize()
    const list = resultIn(await wire.ask('tools/list'))
    expect(list).not.toHaveProperty('ttlMs')
    expect(JSON.stringify([list, await wire.ask('resources/read', { uri: 'x:1' })])).not.toMatch(
      /resultType|cacheScope/,
    )
    expect(resultIn(await wire.ask('tools/call', { name: 'number' }))).toEqual({
      content: [{ type: 'text', text: '7' }],
      structuredContent: { result: 7 },
    })
    expect(errorIn(await wire.ask('resources/read', { uri: 'y:1' }))).toMatchObject({
      code: -32_002,
      data: { uri: 'y:1' },
    })
    expect(errorIn(await wire.ask('prompts/get', { name: 'p' }))).toMatchObject({ code: -32_602 })
    expect(errorIn(await wire.ask('tools/call', { name: 'nope' }))).toMatchObject({ code: -32_602 })
    expect(resultIn(await wire.ask('tools/call', { name: 'echo' })).isError).toBe(true)
  })

  test('LG-TOOL-01, LG-RES-02: changes are told without and with a subscription', async () => {
    const core = createCore(liveOptions())
    await using wire = openWire(core)
    await wire.initialize()
    await wire.ask('tools/list')
    core.addTool({ name: 'new', handler: () => '' })
    expect(await wire.next(({ method }) => method === 'notifications/tools/list_changed')).not.toHaveProperty('id')
    core.resourceUpdated('x:1')
    await tick()
    expect(resultIn(await wire.ask('resources/subscribe', { uri: 'x:1' }))).toEqual({})
    expect(errorIn(await wire.ask('resources/subscribe', { uri: 'x:none' }))).toMatchObject({ code: -32_602 })
    core.resourceUpdated('x:1')
    expect((await wire.next(({ method }) => method === 'notifications/resources/updated')).params).toEqual({
      uri: 'x:1',
    })
    expect(resultIn(await wire.ask('resources/unsubscribe', { uri: 'x:1' }))).toEqual({})
    await tick()
    core.resourceUpdated('x:1')
    await wire.ask('tools/list')
    expect(wire.heard.filter(({ method }) => method === 'notifications/resources/updated')).toHaveLength(1)
  })

  test('LG-ELIC-01, LG-SAMP-01, LG-ROOT-01: the same handler asks by requests to the client', async () => {
    const who = elicitForm({ message: 'Who?', schema: z.object({ name: z.string() }) })
    const poem = createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'A poem' } }],
      maxTokens: 9,
    })
    const all = defineTool({
      name: 'all',
      handler(_args, { input }) {
        const answers = [input.get('who', who), input.get('poem', poem), input.get('roots', listRoots())] as const
        if (answers.some((answer) => answer === undefined)) return ask({ who, poem, roots: listRoots() }, { state: 1 })
        return JSON.stringify([answers[0], answers[1]?.model, answers[2], input.state])
      },
    })
    await using wire = openWire(createCore({ info, tools: [all] }))
    await wire.initialize({ elicitation: {}, sampling: {}, roots: {} })
    const answers: Readonly<Record<string, JsonObject>> = {
      'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
      'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'Roses' }, model: 'm' },
      'roots/list': { roots: [{ uri: 'file:///test/root' }] },
    }
    const pending = wire.ask('tools/call', { name: 'all' })
    for (const [method, result] of Object.entries(answers)) {
      const { id } = await wire.next((message) => message.method === method)
      wire.send({ id, result })
    }
    expect(textIn(await pending)).toBe(
      '[{"action":"accept","content":{"name":"Ada"}},"m",[{"uri":"file:///test/root"}],1]',
    )
  })
})

describe('F5, E4: the allow-list, on the wire', () => {
  const bob: Principal = { id: 'bob', authenticated: true }
  const options = (): CreateCoreOptions => ({
    info,
    tools: [
      { name: 'safe', handler: () => 'safe' },
      { name: 'danger', handler: () => 'danger' },
    ],
    policy: ({ id }) => (id === 'alice' ? {} : { tools: { deny: ['danger'] } }),
  })
  const names = (answer: JsonObject) => (resultIn(answer).tools as readonly JsonObject[]).map(({ name }) => name)

  const attempt = async (wire: Wire, era: 'modern' | 'legacy', meta?: JsonObject) => {
    const call = (method: string, params: JsonObject) =>
      era === 'modern' ? wire.modern(method, params, meta) : wire.ask(method, params)
    return [names(await call('tools/list', {})), errorIn(await call('tools/call', { name: 'danger' }))]
  }
  const refused = [['safe'], { code: -32_602, message: 'Unknown tool: danger' }]

  test('MC-META-11: who a client says it is widens nothing, in either era, on any connection', async () => {
    const core = createCore(options())
    for (let round = 0; round < 2; round++) {
      await using wire = openWire(core, { principal: bob })
      const claims = {
        ...modernMeta({ admin: {}, experimental: { tools: { allow: ['*'] } } }),
        [metaKey.clientInfo]: { name: 'alice', version: '1' },
        principal: 'alice',
      }
      expect(await attempt(wire, 'modern')).toEqual(refused)
      expect(await attempt(wire, 'modern', claims)).toEqual(refused)
      await wire.ask('initialize', {
        protocolVersion: legacyRevision,
        capabilities: { experimental: { admin: {} } },
        clientInfo: { name: 'alice', version: '1' },
      })
      wire.send({ method: 'notifications/initialized' })
      expect(await attempt(wire, 'legacy')).toEqual(refused)
      expect(await attempt(wire, 'modern')).toEqual(refused)
    }
    await using wire = openWire(core, { principal: { id: 'alice', authenticated: true } })
    expect(names(await wire.modern('tools/list'))).toEqual(['safe', 'danger'])
  })
})

test('MC-ERA-12, MC-VER-05: a modern-only server tells a legacy client which revision it speaks', async () => {
  await using wire = openWire(createCore(liveOptions()), { revisions: { legacy: [] } })
  const answer = errorIn(await wire.initialize())
  expect(answer).toMatchObject({ data: { supported: [modernRevision] } })
  expect(answer.message).toContain(modernRevision)
})
