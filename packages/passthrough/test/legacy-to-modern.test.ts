import { type JsonObject, modernRevision } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { connected, createBackend, createRig, endAll, errorOf, resultOf, metaIn } from './_util/rig.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

/** A session whose subscription to changes of lists is in force; `listen` is its id at the backend. */
async function connect(
  options: Parameters<typeof connected>[2] = {},
): Promise<Awaited<ReturnType<typeof connected>> & { readonly listen: number }> {
  const backend = { acknowledges: false, ...options.backend }
  const rig = await connected('legacy', 'modern', { ...options, backend })
  return { ...rig, listen: hasLists(backend.capabilities) ? await listening(rig.backend) : 0 }
}

function hasLists(capabilities: JsonObject | undefined): boolean {
  return capabilities === undefined
}

const notification = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', method, params })

/** What the proxy listens to for its client. */
async function listening(backend: ReturnType<typeof createBackend>, granted?: JsonObject): Promise<number> {
  const listen = await backend.request('subscriptions/listen')
  const id = listen.value.id as number
  const notifications = granted ?? (listen.value.params?.['notifications'] as JsonObject)
  backend.wire.write(
    notification('notifications/subscriptions/acknowledged', {
      notifications,
      _meta: { [metaKey.subscriptionId]: id },
    }),
  )
  return id
}

describe('the session', () => {
  test('BR-101: the handshake shows what discovery showed, without what only the modern era has', async () => {
    const backend = createBackend({ kind: 'modern', capabilities: { tools: {}, extensions: { 'a.b/c': {} } } })
    const rig = createRig([backend])
    const client = await rig.client('modern')
    await client.ask('server/discover')
    const legacy = await rig.client('legacy')
    const answer = await legacy.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    })
    expect(answer.value.result).toEqual({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'fake', version: '1', title: 'Fake' },
      instructions: 'Use it well.',
    })
    expect(backend.wires).toHaveLength(1)
  })

  test('BR-102, BR-129: one internal listen for the advertised types, whose acknowledgement stays here', async () => {
    const { client, backend } = await connected('legacy', 'modern', { backend: { acknowledges: false } })
    const listen = await backend.request('subscriptions/listen')
    expect(listen.value.params?.['notifications']).toEqual({ toolsListChanged: true, resourcesListChanged: true })
    backend.wire.write(
      notification('notifications/subscriptions/acknowledged', {
        notifications: { toolsListChanged: true },
        _meta: { [metaKey.subscriptionId]: listen.value.id },
      }),
    )
    expect(await client.rest()).toEqual([])
  })

  test('BR-102: calls wait until changes are followed, since what they are told could change unheard; but not for long', async () => {
    const { client, backend } = await connected('legacy', 'modern', { backend: { acknowledges: false } })
    client.send('tools/list')
    client.send('ping')
    await turn()
    expect((await backend.wire.rest()).map(({ method }) => method)).toEqual(['subscriptions/listen'])
    expect((await client.rest()).map(({ result }) => result)).toEqual([{}])
    // Never acknowledged.
    expect((await backend.request('tools/list')).value.method).toBe('tools/list')
    const other = await connected('legacy', 'modern', { backend: { acknowledges: false } })
    const id = other.client.send('tools/list')
    await listening(other.backend)
    await turn()
    const [list] = await other.backend.wire.rest()
    expect(list).toMatchObject({ method: 'tools/list' })
    other.backend.wire.write(resultOf(list?.id, { resultType: 'complete', tools: [] }))
    expect((await other.client.answerTo(id)).value.result).toEqual({ tools: [] })
  })

  test('BR-103: ping never reaches the backend', async () => {
    const { client, backend } = await connect()
    expect((await client.ask('ping')).value.result).toEqual({})
    expect(await backend.wire.rest()).toEqual([])
  })

  test('BR-116: the end of the session cancels its calls and its listen, and leaves the channel to others', async () => {
    const { rig, client, backend, listen } = await connect()
    client.send('tools/call', { name: 'slow', arguments: {} })
    const call = await backend.request('tools/call')
    client.break()
    const first = await backend.request('notifications/cancelled')
    const second = await backend.request('notifications/cancelled')
    expect(new Set([first.value.params?.['requestId'], second.value.params?.['requestId']])).toEqual(
      new Set([listen, call.value.id]),
    )
    const other = await rig.client('legacy')
    await listening(backend)
    const id = other.send('tools/call', { name: 'a', arguments: {} })
    const again = await backend.request('tools/call')
    backend.wire.write(resultOf(again.value.id, { resultType: 'complete', content: [] }))
    expect((await other.answerTo(id)).value.result).toEqual({ content: [] })
    expect(backend.wires).toHaveLength(1)
  })

  test('BR-117: an unknown method is -32601, and with the switch passed on with what every request carries', async () => {
    const { client, backend } = await connect()
    expect((await client.ask('x/y', {})).value.error?.code).toBe(-32_601)
    expect(await backend.wire.rest()).toEqual([])
    const open = await connect({ passthrough: { passExtensions: true } })
    const id = open.client.send('x/y', { a: 1 })
    const request = await open.backend.request('x/y')
    expect(request.value.params).toMatchObject({ a: 1, _meta: { [metaKey.clientCapabilities]: {} } })
    open.backend.wire.write(resultOf(request.value.id, { resultType: 'complete', b: 2 }))
    expect((await open.client.answerTo(id)).value.result).toEqual({ b: 2 })
  })

  test('BR-118: a batch is refused', async () => {
    const { client } = await connect()
    client.write('[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
    expect((await client.next(({ error }) => error !== undefined)).value.error?.code).toBe(-32_600)
  })
})

describe('results', () => {
  const tool = {
    name: 't',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'integer' } }, 'x-1': 1 },
  }

  test('BR-104, LG-MSG-06: lists lose the modern members, keep the cursor, and output schemas get an object at their root', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/list', { cursor: 'c1' })
    const request = await backend.request('tools/list')
    expect(request.value.params?.['cursor']).toBe('c1')
    backend.wire.write(
      resultOf(request.value.id, {
        resultType: 'complete',
        ttlMs: 1,
        cacheScope: 'public',
        nextCursor: '',
        tools: [tool],
      }),
    )
    expect((await client.answerTo(id)).value.result).toEqual({
      nextCursor: '',
      tools: [
        {
          ...tool,
          outputSchema: {
            type: 'object',
            properties: {
              result: {
                type: 'array',
                items: { $ref: '#/properties/result/$defs/x' },
                $defs: { x: { type: 'integer' } },
                'x-1': 1,
              },
            },
            required: ['result'],
          },
        },
      ],
    })
  })

  test('BR-105: structured content becomes an object, and a text block tells it to those who know no other', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(
      `{"jsonrpc":"2.0","id":${String(request.value.id)},"result":{"resultType":"complete","content":[],"structuredContent":[9007199254740993]}}`,
    )
    const { text } = await client.answerTo(id)
    expect(text).toContain('"structuredContent":{"result":[9007199254740993]}')
    expect(text).toContain('{"type":"text","text":"[9007199254740993]"}')
    expect(text).not.toContain('resultType')
  })

  test.each([
    ['prompts/get', { name: 'p' }, { messages: [] }],
    ['resources/read', { uri: 'a:b' }, { contents: [] }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
      { completion: { values: [] } },
    ],
  ])('BR-106: %s loses the modern members', async (method, params, result) => {
    const { client, backend } = await connect()
    const id = client.send(method, params)
    const request = await backend.request(method)
    backend.wire.write(
      resultOf(request.value.id, { resultType: 'complete', ttlMs: 5, cacheScope: 'public', ...result }),
    )
    expect((await client.answerTo(id)).value.result).toEqual(result)
  })

  test.each([
    ['tools/call', { name: 't', arguments: {} }, { result: { isError: true } }],
    ['prompts/get', { name: 'p' }, { error: { code: -32_603 } }],
  ])('BR-125: a result of a type that nobody knows is no result of %s', async (method, params, answer) => {
    const { client, backend } = await connect()
    const id = client.send(method, params)
    const request = await backend.request(method)
    backend.wire.write(resultOf(request.value.id, { resultType: 'later', content: [] }))
    expect((await client.answerTo(id)).value).toMatchObject(answer)
  })

  test('BR-132: other keys of _meta arrive', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(resultOf(request.value.id, { resultType: 'complete', content: [], _meta: { 'a.b/c': 1 } }))
    expect((await client.answerTo(id)).value.result?.['_meta']).toMatchObject({ 'a.b/c': 1 })
  })
})

describe('within a call', () => {
  test('BR-112, BR-126: progress comes back with the token of the client, its type kept, and only as it grows', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} }, { progressToken: 'mine' })
    const request = await backend.request('tools/call')
    const token = metaIn(request)['progressToken']
    expect(token).not.toBe('mine')
    const progress = (value: number): void =>
      backend.wire.write(notification('notifications/progress', { progressToken: token, progress: value, 'x-1': 1 }))
    progress(1)
    progress(1)
    progress(0.5)
    progress(2)
    backend.wire.write(resultOf(request.value.id, { resultType: 'complete', content: [] }))
    progress(3)
    await client.answerTo(id)
    expect((await client.rest()).map(({ params }) => params)).toEqual([
      { progress: 1, 'x-1': 1, progressToken: 'mine' },
      { progress: 2, 'x-1': 1, progressToken: 'mine' },
    ])
  })

  test('BR-109, BR-126: the level of the session goes with every later request, and what is below it stays here', async () => {
    const { client, backend } = await connect()
    expect((await client.ask('logging/setLevel', { level: 'warning' })).value.result).toEqual({})
    expect((await client.ask('logging/setLevel', { level: 'loud' })).value.error?.code).toBe(-32_602)
    expect(await backend.wire.rest()).toEqual([])
    client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    expect(metaIn(request)[metaKey.logLevel]).toBe('warning')
    const log = (level: string): void =>
      backend.wire.write(notification('notifications/message', { level, data: { big: level } }))
    log('info')
    log('error')
    expect((await client.rest()).map(({ params }) => params?.['level'])).toEqual(['error'])
  })

  test('BR-109: a backend without logging has no level', async () => {
    const { client } = await connect({ backend: { capabilities: { tools: {} } } })
    expect((await client.ask('logging/setLevel', { level: 'info' })).value.error?.code).toBe(-32_601)
  })

  test('BR-110, BR-303: a cancel goes on with the id of the backend, and nothing is answered', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    client.notify('notifications/cancelled', { requestId: id, reason: 'enough' })
    const cancel = await backend.request('notifications/cancelled')
    expect(cancel.value.params?.['requestId']).toBe(request.value.id)
    backend.wire.write(resultOf(request.value.id, { resultType: 'complete', content: [] }))
    expect(await client.rest()).toEqual([])
  })

  test('BR-113, BR-114: progress of the client and changes of its roots stay here', async () => {
    const { client, backend } = await connect({ client: { capabilities: { roots: { listChanged: true } } } })
    client.notify('notifications/progress', { progressToken: 1, progress: 1 })
    client.notify('notifications/roots/list_changed')
    await turn()
    expect(await backend.wire.rest()).toEqual([])
  })
})

describe('changes', () => {
  test('BR-107, BR-108, BR-130: a subscription is a new listen with the whole set, and changes arrive once, without their tag', async () => {
    const { client, backend, listen: first } = await connect()
    const id = client.send('resources/subscribe', { uri: 'a:b' })
    const second = await listening(backend)
    const cancelled = await backend.request('notifications/cancelled')
    expect(cancelled.value.params?.['requestId']).toBe(first)
    expect((await client.answerTo(id)).value.result).toEqual({})
    backend.wire.write(
      notification('notifications/resources/updated', { uri: 'a:b', _meta: { [metaKey.subscriptionId]: second } }),
    )
    backend.wire.write(
      notification('notifications/tools/list_changed', { _meta: { [metaKey.subscriptionId]: second } }),
    )
    await turn()
    expect((await client.rest()).map(({ method, params }) => [method, params])).toEqual([
      ['notifications/resources/updated', { uri: 'a:b' }],
      ['notifications/tools/list_changed', {}],
    ])
    expect((await client.ask('resources/unsubscribe', { uri: 'a:b' })).value.result).toEqual({})
  })

  test('BR-107: one that the backend does not grant is -32602, and -32601 where it has none at all', async () => {
    const { client, backend } = await connect()
    const id = client.send('resources/subscribe', { uri: 'a:b' })
    await listening(backend, { toolsListChanged: true })
    expect((await client.answerTo(id)).value.error?.code).toBe(-32_602)
    const other = await connect({ backend: { capabilities: { resources: {} } } })
    expect((await other.client.ask('resources/subscribe', { uri: 'a:b' })).value.error?.code).toBe(-32_601)
  })

  test('BR-131: a listen that the backend ends is opened again, and what may have been missed is told once', async () => {
    const { client, backend } = await connect()
    const subscribing = client.send('resources/subscribe', { uri: 'a:b' })
    const second = await listening(backend)
    await client.answerTo(subscribing)
    backend.wire.write(resultOf(second, { resultType: 'complete' }))
    await listening(backend)
    await turn()
    expect((await client.rest()).map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
    ])
  })
})

describe('errors', () => {
  test.each([
    [-32_020, -32_603],
    [-32_021, -32_603],
    [-32_602, -32_602],
    [-32_601, -32_601],
    [-31_000, -31_000],
    [7, 7],
  ])('BR-127: %i of the backend is %i to the client', async (code, told) => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(errorOf(request.value.id, code, 'why', { requiredCapabilities: { sampling: {} }, big: 1 }))
    const { error } = (await client.answerTo(id)).value
    expect(error?.code).toBe(told)
    expect(error?.message).toContain('why')
  })

  test('BR-127: -32021 names the capability and keeps the data', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(errorOf(request.value.id, -32_021, 'no', { requiredCapabilities: { sampling: {} } }))
    expect((await client.answerTo(id)).value.error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('sampling'),
      data: { requiredCapabilities: { sampling: {} } },
    })
  })

  test('BR-127: on -32022 the backend is looked at again, and the call made once more', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(errorOf(request.value.id, -32_022, 'no', { supported: [], requested: 'x' }))
    await turn()
    expect(backend.wires).toHaveLength(2)
    const again = await backend.request('tools/call')
    backend.wire.write(resultOf(again.value.id, { resultType: 'complete', content: [] }))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
  })

  test('BR-127, H09: a backend that names the revision it refuses is asked again, and nobody else loses a call by that', async () => {
    const { client, backend } = await connect()
    const other = client.send('tools/call', { name: 'slow', arguments: {} })
    const slow = await backend.request('tools/call')
    const id = client.send('tools/call', { name: 't', arguments: {} })
    for (let round = 0; round < 2; round++) {
      const request = await backend.request('tools/call')
      const data = { supported: [modernRevision], requested: modernRevision }
      backend.wire.write(errorOf(request.value.id, -32_022, 'no', data))
    }
    expect((await client.answerTo(id)).value.error?.code).toBe(-32_603)
    expect(backend.wires).toHaveLength(1)
    backend.wire.write(resultOf(slow.value.id, { resultType: 'complete', content: [] }))
    expect((await client.answerTo(other)).value.result).toEqual({ content: [] })
  })

  test('BR-127: a second -32022 is -32603', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    for (let round = 0; round < 2; round++) {
      const request = await backend.request('tools/call')
      backend.wire.write(errorOf(request.value.id, -32_022, 'no', { supported: [], requested: 'x' }))
      await turn()
    }
    expect((await client.answerTo(id)).value.error?.code).toBe(-32_603)
  })

  test('BR-128: a resource that is not found is -32002 with its uri; other -32602 stay', async () => {
    const { client, backend } = await connect()
    const id = client.send('resources/read', { uri: 'a:b' })
    const request = await backend.request('resources/read')
    backend.wire.write(errorOf(request.value.id, -32_602, 'gone', { uri: 'a:b' }))
    expect((await client.answerTo(id)).value.error).toEqual({ code: -32_002, message: 'gone', data: { uri: 'a:b' } })
    const second = client.send('resources/read', { uri: 'a:b' })
    const other = await backend.request('resources/read')
    backend.wire.write(errorOf(other.value.id, -32_602, 'bad params'))
    expect((await client.answerTo(second)).value.error?.code).toBe(-32_602)
  })
})

describe('questions', () => {
  const asks = {
    resultType: 'input_required',
    inputRequests: {
      q: {
        method: 'elicitation/create',
        params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
      },
    },
    requestState: 's',
    'x-1': { deep: true },
  }

  test('F14, BR-121: without the switch the client declares nothing upstream, and gets the whole ask as data', async () => {
    const { client, backend } = await connect({
      client: { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
    })
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    expect(metaIn(request)[metaKey.clientCapabilities]).toEqual({})
    backend.wire.write(resultOf(request.value.id, asks))
    expect((await client.answerTo(id)).value.error).toMatchObject({ code: -32_603, data: { inputRequired: asks } })
    expect(await client.rest()).toEqual([])
    expect((await backend.wire.rest()).filter(({ method }) => method === 'tools/call')).toEqual([])
  })

  test('BR-121: with the switch they become requests on the session, and the answers go back with the state', async () => {
    const { client, backend } = await connect({
      client: { capabilities: { elicitation: {}, sampling: { tools: {} }, roots: { listChanged: true } } },
      passthrough: { bridgeInput: true },
    })
    const id = client.send('tools/call', { name: 't', arguments: { a: 1 } })
    const request = await backend.request('tools/call')
    expect(metaIn(request)[metaKey.clientCapabilities]).toEqual({
      elicitation: { form: {} },
      sampling: {},
      roots: {},
    })
    backend.wire.write(resultOf(request.value.id, asks))
    const question = await client.next(({ method }) => method === 'elicitation/create')
    client.write(resultOf(question.value.id, { action: 'accept', content: { x: 1 } }))
    const retry = await backend.request('tools/call')
    expect(retry.value.id).not.toBe(request.value.id)
    expect(retry.value.params).toMatchObject({
      name: 't',
      arguments: { a: 1 },
      requestState: 's',
      inputResponses: { q: { action: 'accept', content: { x: 1 } } },
    })
    backend.wire.write(resultOf(retry.value.id, { resultType: 'complete', content: [] }))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
  })
})
