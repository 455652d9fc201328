import type { JsonObject } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import {
  connected,
  createBackend,
  createRig,
  endAll,
  errorOf,
  type FrontClient,
  resultOf,
  metaIn,
} from './_util/rig.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

const connect = async (options: Parameters<typeof connected>[2] = {}) => await connected('modern', 'legacy', options)

const notification = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', method, params })

const hints = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

/** Opens a subscription and answers what the backend is asked for it. */
async function listen(client: FrontClient, backend: ReturnType<typeof createBackend>, uris: string[]): Promise<number> {
  const id = client.send('subscriptions/listen', {
    notifications: { toolsListChanged: true, resourceSubscriptions: uris },
  })
  for (const _uri of uris) {
    const request = await backend.request('resources/subscribe')
    const refused = request.value.params?.['uri'] === 'no:such'
    backend.wire.write(refused ? errorOf(request.value.id, -32_602) : resultOf(request.value.id, {}))
  }
  return id
}

describe('discovery and results', () => {
  test('BR-201: what the handshake showed, without what only legacy has, for nobody to cache', async () => {
    const capabilities = { tools: {}, tasks: { list: {} }, experimental: { x: {} } }
    const { client } = await connect({ backend: { capabilities } })
    const { result } = (await client.ask('server/discover')).value
    expect(result).toMatchObject({
      ...hints,
      capabilities: { tools: {}, experimental: { x: {} } },
      instructions: 'Use it well.',
      _meta: { [metaKey.serverInfo]: { name: 'fake', version: '1', title: 'Fake' } },
    })
    expect(result?.['capabilities']).not.toHaveProperty('tasks')
  })

  test('BR-202: requests lose the keys of the modern era and keep all others; every page gets hints', async () => {
    const { client, backend } = await connect()
    const more = { traceparent: '00-1', 'a.b/c': [1], 'io.modelcontextprotocol/later': 1 }
    const id = client.send('tools/list', { cursor: '' }, more)
    const request = await backend.request('tools/list')
    expect(request.value.params).toEqual({ cursor: '', _meta: { traceparent: '00-1', 'a.b/c': [1] } })
    backend.wire.write(resultOf(request.value.id, { tools: [], nextCursor: 'n', 'x-1': 1 }))
    expect((await client.answerTo(id)).value.result).toMatchObject({ ...hints, tools: [], nextCursor: 'n', 'x-1': 1 })
  })

  test('BR-202: header annotations that are invalid are removed, the tool stays', async () => {
    const { client, backend } = await connect()
    const schema = {
      type: 'object',
      properties: {
        good: { type: 'string', 'x-mcp-header': 'Good' },
        bad: { type: 'number', 'x-mcp-header': 'Bad' },
      },
    }
    const id = client.send('tools/list')
    const request = await backend.request('tools/list')
    backend.wire.write(resultOf(request.value.id, { tools: [{ name: 't', inputSchema: schema, 'x-2': true }] }))
    expect((await client.answerTo(id)).value.result?.['tools']).toEqual([
      {
        name: 't',
        'x-2': true,
        inputSchema: {
          type: 'object',
          properties: { good: { type: 'string', 'x-mcp-header': 'Good' }, bad: { type: 'number' } },
        },
      },
    ])
  })

  test.each([
    ['resources/read', { uri: 'a:b' }, { contents: [] }, hints],
    ['tools/call', { name: 't', arguments: {} }, { content: [] }, { resultType: 'complete' }],
    ['prompts/get', { name: 'p' }, { messages: [] }, { resultType: 'complete' }],
  ])(
    'BR-203, BR-204, BR-237: %s gets what the modern era asks for, and empty results pass',
    async (method, params, result, added) => {
      const { client, backend } = await connect()
      const id = client.send(method, params)
      const request = await backend.request(method)
      expect(request.value.params).toEqual(params)
      backend.wire.write(resultOf(request.value.id, result))
      const answer = (await client.answerTo(id)).value.result
      expect(answer).toMatchObject({ ...result, ...added })
      expect('ttlMs' in (answer ?? {})).toBe('ttlMs' in added)
    },
  )

  test('BR-204: members that look modern but come from a legacy backend mean nothing', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(resultOf(request.value.id, { resultType: 'input_required', content: [], ttlMs: 7 }))
    const { result } = (await client.answerTo(id)).value
    expect(result).toMatchObject({ resultType: 'complete', content: [] })
    expect(result).not.toHaveProperty('ttlMs')
  })

  test('BR-212: with the switch, methods that nobody knows are passed on', async () => {
    const { client, backend } = await connect({ passthrough: { passExtensions: true } })
    const id = client.send('tasks/list', { 'x-1': 1 })
    const request = await backend.request('tasks/list')
    expect(request.value.params).toEqual({ 'x-1': 1 })
    backend.wire.write(resultOf(request.value.id, { tasks: [] }))
    expect((await client.answerTo(id)).value.result).toMatchObject({ tasks: [] })
  })

  test('BR-212: a method that nobody knows is -32601 and goes nowhere', async () => {
    const { client, backend } = await connect()
    expect((await client.ask('tasks/list')).value.error?.code).toBe(-32_601)
    expect(await backend.wire.rest()).toEqual([])
  })
})

describe('subscriptions', () => {
  test('BR-206, BR-231: the acknowledgement comes after the answers, without what was refused, and changes come tagged, once for each listen', async () => {
    const { client, backend } = await connect()
    const id = await listen(client, backend, ['a:b', 'no:such'])
    const acknowledged = await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect(acknowledged.value.params).toEqual({
      notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b'] },
      _meta: { [metaKey.subscriptionId]: id },
    })
    backend.wire.write(notification('notifications/resources/updated', { uri: 'a:b' }))
    backend.wire.write(notification('notifications/tools/list_changed', {}))
    backend.wire.write(notification('notifications/prompts/list_changed', {}))
    await turn()
    expect((await client.rest()).map(({ method, params }) => [method, params])).toEqual([
      ['notifications/resources/updated', { uri: 'a:b', _meta: { [metaKey.subscriptionId]: id } }],
      ['notifications/tools/list_changed', { _meta: { [metaKey.subscriptionId]: id } }],
    ])
  })

  test('BR-206, BR-207: a resource is subscribed once for all listens and given back after the last', async () => {
    const { client, backend } = await connect()
    const first = await listen(client, backend, ['a:b'])
    await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    const second = client.send('subscriptions/listen', { notifications: { resourceSubscriptions: ['a:b'] } })
    await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    client.notify('notifications/cancelled', { requestId: first })
    await turn()
    expect(await backend.wire.rest()).toEqual([])
    client.notify('notifications/cancelled', { requestId: second })
    expect((await backend.request('resources/unsubscribe')).value.params).toEqual({ uri: 'a:b' })
  })
})

describe('within a call', () => {
  test('BR-208: a cancel goes on with the id of the backend, and nothing is answered', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    client.notify('notifications/cancelled', { requestId: id })
    expect((await backend.request('notifications/cancelled')).value.params?.['requestId']).toBe(request.value.id)
    backend.wire.write(resultOf(request.value.id, { content: [] }))
    expect(await client.rest()).toEqual([])
  })

  test('BR-209, BR-230: the level of the session is the lowest that was asked for, and each call gets its own share', async () => {
    const { client, backend } = await connect()
    const call = async (level?: string): Promise<unknown> => {
      client.send('tools/call', { name: 't', arguments: {} }, level === undefined ? {} : { [metaKey.logLevel]: level })
      return (await backend.request('tools/call')).value.id
    }
    const log = (level: string): void => backend.wire.write(notification('notifications/message', { level, data: 1 }))
    const quiet = await call()
    log('emergency')
    expect(await client.rest()).toEqual([])
    backend.wire.write(resultOf(quiet, { content: [] }))
    const warned = await call('warning')
    expect((await backend.request('logging/setLevel')).value.params).toEqual({ level: 'warning' })
    log('info')
    log('error')
    backend.wire.write(resultOf(warned, { content: [] }))
    await turn()
    const logs = (await client.rest()).filter(({ method }) => method === 'notifications/message')
    expect(logs.map(({ params }) => params?.['level'])).toEqual(['error'])
    await call('debug')
    expect((await backend.request('logging/setLevel')).value.params).toEqual({ level: 'debug' })
    // With two that want some nobody can tell whose it is.
    await call('debug')
    log('error')
    expect(await client.rest()).toEqual([])
  })

  test('BR-210, BR-229: progress comes back with the token of the client, and only as it grows', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', { name: 't', arguments: {} }, { progressToken: 0 })
    const request = await backend.request('tools/call')
    const token = metaIn(request)['progressToken']
    for (const progress of [1, 1, 2]) {
      backend.wire.write(notification('notifications/progress', { progressToken: token, progress }))
    }
    backend.wire.write(resultOf(request.value.id, { content: [] }))
    backend.wire.write(notification('notifications/progress', { progressToken: token, progress: 9 }))
    await client.answerTo(id)
    expect((await client.rest()).map(({ params }) => params)).toEqual([
      { progress: 1, progressToken: 0 },
      { progress: 2, progressToken: 0 },
    ])
  })

  test('BR-228: a ping of the backend is answered here', async () => {
    const { client, backend } = await connect()
    backend.wire.write({ jsonrpc: '2.0', id: 'p', method: 'ping' })
    expect((await backend.wire.next(({ id }) => id === 'p')).value.result).toEqual({})
    expect(await client.rest()).toEqual([])
  })
})

describe('errors', () => {
  test('BR-232: a resource that is not found is -32602 with its uri', async () => {
    const { client, backend } = await connect()
    const id = client.send('resources/read', { uri: 'a:b' })
    const request = await backend.request('resources/read')
    backend.wire.write(errorOf(request.value.id, -32_002, 'gone'))
    expect((await client.answerTo(id)).value.error).toEqual({ code: -32_602, message: 'gone', data: { uri: 'a:b' } })
  })

  test.each([
    [-32_042, -32_603],
    [-32_000, -32_603],
    [-32_021, -32_603],
    [-32_601, -32_601],
    [-32_602, -32_602],
    [42, 42],
  ])('BR-233, BR-238: %i of a legacy backend is %i to the client', async (code, told) => {
    const { client, backend } = await connect()
    const id = client.send('tools/list', { cursor: 'old' })
    const request = await backend.request('tools/list')
    backend.wire.write(errorOf(request.value.id, code, 'why', { a: 1 }))
    const { error } = (await client.answerTo(id)).value
    expect(error).toMatchObject({ code: told, message: 'why' })
    expect(error?.['data']).toEqual(told === code ? { a: 1 } : { original: { code, message: 'why', data: { a: 1 } } })
  })

  test('BR-236: a backend that insists on a revision which nobody speaks is closed, and the client hears of both', async () => {
    const backend = createBackend({ kind: 'legacy' })
    backend.revision = '2024-11-05'
    const rig = createRig([backend])
    const client = await rig.client('modern')
    const { error } = (await client.ask('tools/call', { name: 't', arguments: {} })).value
    expect(error?.code).toBe(-32_603)
    expect(error?.message).toMatch(/2025-06-18.*2024-11-05/)
    await turn()
    expect(backend.wires.every(({ closed }) => closed)).toBe(true)
    expect(rig.passthrough.status().backends[0]).toMatchObject({ state: 'waiting', observed: undefined })
  })
})

describe('sessions', () => {
  test('decisions 5: modern clients of one principal share a session, another principal has its own', async () => {
    const backend = createBackend({ kind: 'legacy' })
    const rig = createRig([backend])
    const [a, b] = [await rig.client('modern'), await rig.client('modern')]
    const other = await rig.client('modern', { principal: { id: 'somebody', authenticated: true } })
    backend.onRequest = () => ({ content: [] })
    await Promise.all([a, b].map(async (client) => await client.ask('tools/call', { name: 't', arguments: {} })))
    expect(backend.wires).toHaveLength(1)
    await other.ask('tools/call', { name: 't', arguments: {} })
    expect(backend.wires).toHaveLength(2)
    expect(backend.handshakes[0]).toMatchObject({ clientInfo: { name: 'proxy' }, capabilities: {} })
  })

  test('decisions 5: with the switch, clients that can be asked other things have other sessions', async () => {
    const backend = createBackend({ kind: 'legacy' })
    const rig = createRig([backend], { bridgeInput: true })
    backend.onRequest = () => ({ content: [] })
    for (const capabilities of [{}, { elicitation: {} }, { elicitation: {}, 'a.b/c': {} }, { roots: {} }]) {
      const client = await rig.client('modern', { capabilities })
      await client.ask('tools/call', { name: 't', arguments: {} })
    }
    expect(backend.handshakes.map((handshake) => handshake['capabilities'])).toEqual([
      {},
      { elicitation: {} },
      { roots: {} },
    ])
  })

  test.each(['elicitation/create', 'sampling/createMessage', 'roots/list'])(
    'F14, BR-222: without the switch %s of the backend gets -32601 at once, and the client hears nothing',
    async (method) => {
      const { client, backend } = await connect({
        client: { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
      })
      const id = client.send('tools/call', { name: 't', arguments: {} })
      const request = await backend.request('tools/call')
      expect(backend.handshakes[0]?.['capabilities']).toEqual({})
      backend.wire.write({ jsonrpc: '2.0', id: 'q', method, params: { message: 'm' } })
      expect((await backend.wire.next((message) => message.id === 'q')).value.error?.code).toBe(-32_601)
      backend.wire.write(resultOf(request.value.id, { content: [] }))
      expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
      expect(await client.rest()).toEqual([])
    },
  )
})
