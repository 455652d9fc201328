import type { JsonObject } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { clientInfo, connected, createBackend, createRig, endAll, errorOf, metaIn, resultOf } from './_util/rig.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

const notification = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  method,
  ...(params !== undefined && { params }),
})

describe('legacy to legacy', () => {
  const declared = { roots: { listChanged: true }, sampling: { 'x-1': 1 }, elicitation: {}, experimental: { e: {} } }

  test('BR-307: a connection of its own for each client, which meets the client itself', async () => {
    const backend = createBackend({ kind: 'legacy' })
    const rig = createRig([backend])
    const a = await rig.client('legacy', { capabilities: declared })
    const b = await rig.client('legacy', { info: { name: 'other', version: '1' } })
    expect(backend.wires).toHaveLength(2)
    expect(backend.handshakes).toMatchObject([
      { capabilities: declared, clientInfo },
      { capabilities: {}, clientInfo: { name: 'other' } },
    ])
    const [first, second] = backend.wires
    a.send('tools/call', { name: 'of a', arguments: {} })
    b.send('tools/call', { name: 'of b', arguments: {} })
    const isCall = ({ method }: { method?: string }): boolean => method === 'tools/call'
    expect((await first?.next(isCall))?.value.params?.['name']).toBe('of a')
    expect((await second?.next(isCall))?.value.params?.['name']).toBe('of b')
  })

  test('BR-307: the connection ends with the session of its client', async () => {
    const backend = createBackend({ kind: 'legacy' })
    const rig = createRig([backend])
    const client = await rig.client('legacy')
    await rig.client('legacy')
    client.break()
    await turn()
    expect(backend.wires.map(({ closed }) => closed)).toEqual([true, false])
  })

  test.each([
    ['elicitation/create', { message: 'm', requestedSchema: { type: 'object', properties: {} }, 'x-1': 1 }],
    ['sampling/createMessage', { messages: [], maxTokens: 1 }],
    ['roots/list', {}],
  ])('F14, BR-307: %s reaches the client as it came, and its answer the backend', async (method, params) => {
    const { client, backend } = await connected('legacy', 'legacy', { client: { capabilities: declared } })
    // without any call being open
    backend.wire.write({ jsonrpc: '2.0', id: 'q', method, params })
    const question = await client.next((message) => message.method === method)
    expect(question.value.params).toEqual(params)
    client.write(`{"jsonrpc":"2.0","id":${String(question.value.id)},"result":{"x-2":9007199254740993,"roots":[]}}`)
    const answer = await backend.wire.next((message) => message.id === 'q')
    expect(answer.text).toContain('"result":{"x-2":9007199254740993,"roots":[]}')
  })

  test('BR-307: an error of the client is the answer as well, and two questions at once find their own', async () => {
    const { client, backend } = await connected('legacy', 'legacy', { client: { capabilities: declared } })
    backend.wire.write({ jsonrpc: '2.0', id: 1, method: 'roots/list' }, { jsonrpc: '2.0', id: 2, method: 'roots/list' })
    const [first, second] = [await client.next(), await client.next()]
    client.write(errorOf(second.value.id, -32_000, 'no', { a: 1 }), resultOf(first.value.id, { roots: [] }))
    expect((await backend.wire.next(({ id }) => id === 2)).value.error).toEqual({
      code: -32_000,
      message: 'no',
      data: { a: 1 },
    })
    expect((await backend.wire.next(({ id }) => id === 1)).value.result).toEqual({ roots: [] })
  })

  test('BR-307: a question that the backend takes back is taken back from the client', async () => {
    const { client, backend } = await connected('legacy', 'legacy', { client: { capabilities: declared } })
    backend.wire.write({ jsonrpc: '2.0', id: 1, method: 'roots/list' })
    const question = await client.next()
    backend.wire.write(notification('notifications/cancelled', { requestId: 1 }))
    const cancel = await client.next(({ method }) => method === 'notifications/cancelled')
    expect(cancel.value.params?.['requestId']).toBe(question.value.id)
    client.write(resultOf(question.value.id, { roots: [] }))
    expect((await backend.wire.rest()).filter(({ id }) => id === 1)).toEqual([])
  })

  test('BR-307: progress of the client with a question comes back under the token of the backend, while it is open and grows', async () => {
    const { client, backend } = await connected('legacy', 'legacy', { client: { capabilities: declared } })
    const params = { messages: [], maxTokens: 1, _meta: { progressToken: 'theirs', 'x-1': 1 } }
    backend.wire.write({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params })
    const question = (await client.next()).value
    const token = metaIn({ text: '', value: question })['progressToken']
    expect(question.params).toEqual({ ...params, _meta: { progressToken: question.id, 'x-1': 1 } })
    const progressed = (progress: string, progressToken = token): void =>
      client.write(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${JSON.stringify(progressToken)},"progress":${progress},"total":9007199254740993}}`,
      )
    for (const progress of ['1', '1', '0.5', '2.50']) progressed(progress)
    progressed('3', 'theirs')
    progressed('3', 999)
    const told = [await backend.wire.next(), await backend.wire.next()].map(({ text }) => text)
    expect(told).toEqual(
      ['1', '2.50'].map(
        (progress) =>
          `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"theirs","progress":${progress},"total":9007199254740993}}`,
      ),
    )
    client.write(resultOf(question.id, { role: 'assistant' }))
    await backend.wire.next(({ id }) => id === 'q')
    progressed('4')
    expect(await backend.wire.rest()).toEqual([])
  })

  test('BR-307: a question of a kind that the client did not declare is -32601', async () => {
    const { client, backend } = await connected('legacy', 'legacy')
    backend.wire.write({ jsonrpc: '2.0', id: 1, method: 'roots/list' })
    expect((await backend.wire.next(({ id }) => id === 1)).value.error?.code).toBe(-32_601)
    expect(await client.rest()).toEqual([])
  })

  test('BR-307: log messages come whenever they come, the level goes on when it is set, and changed roots are told', async () => {
    const { client, backend } = await connected('legacy', 'legacy', { client: { capabilities: declared } })
    const log = (level: string): void => backend.wire.write(notification('notifications/message', { level, data: 1 }))
    log('debug')
    expect((await client.next()).value.params).toEqual({ level: 'debug', data: 1 })
    await client.ask('logging/setLevel', { level: 'error' })
    expect((await backend.request('logging/setLevel')).value.params).toEqual({ level: 'error' })
    log('info')
    log('critical')
    expect((await client.rest()).map(({ params }) => params?.['level'])).toEqual(['critical'])
    client.notify('notifications/roots/list_changed')
    expect((await backend.request('notifications/roots/list_changed')).value.method).toBeDefined()
  })

  test('BR-307, LG-MSG-06: errors keep the numbers that only legacy has', async () => {
    const { client, backend } = await connected('legacy', 'legacy')
    for (const [code, data] of [
      [-32_042, { elicitations: [] }],
      [-32_002, { uri: 'a:b' }],
      [-32_000, { a: 1 }],
    ] as const) {
      const id = client.send('resources/read', { uri: 'a:b' })
      const request = await backend.request('resources/read')
      backend.wire.write(errorOf(request.value.id, code, 'why', data))
      expect((await client.answerTo(id)).value.error).toEqual({ code, message: 'why', data })
    }
  })

  test('BR-307: subscriptions are counted here, and changes come through', async () => {
    const { client, backend } = await connected('legacy', 'legacy')
    const id = client.send('resources/subscribe', { uri: 'a:b' })
    const request = await backend.request('resources/subscribe')
    backend.wire.write(resultOf(request.value.id, {}))
    expect((await client.answerTo(id)).value.result).toEqual({})
    backend.wire.write(notification('notifications/resources/updated', { uri: 'a:b' }))
    backend.wire.write(notification('notifications/tools/list_changed'))
    expect((await client.next()).value).toMatchObject({ params: { uri: 'a:b' } })
    expect((await client.next()).value).toMatchObject({ method: 'notifications/tools/list_changed' })
  })
})

describe('modern to modern', () => {
  const ask = {
    resultType: 'input_required',
    inputRequests: {
      b: { method: 'roots/list', 'x-1': 1 },
      a: {
        method: 'elicitation/create',
        params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
      },
    },
    requestState: '',
    'x-2': [1],
  }
  const capabilities = { elicitation: { form: {} }, roots: {}, extensions: { 'a.b/c': {} } }

  test('BR-301: who the client is and what it can do goes on, word for word', async () => {
    const { client, backend } = await connected('modern', 'modern', { client: { capabilities } })
    client.send('tools/call', { name: 't', arguments: {} }, { traceparent: '00-1', progressToken: 'p' })
    const request = await backend.request('tools/call')
    expect(request.value.params?.['_meta']).toEqual({
      traceparent: '00-1',
      [metaKey.protocolVersion]: '2026-07-28',
      [metaKey.clientInfo]: clientInfo,
      [metaKey.clientCapabilities]: capabilities,
      progressToken: request.value.id,
    })
  })

  test('F14, BR-301: an ask and the answers to it pass unchanged', async () => {
    const { client, backend } = await connected('modern', 'modern', { client: { capabilities } })
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    const members = JSON.stringify(ask).slice(1, -1).replace('"x-2":[1]', '"x-2":[9007199254740993]')
    backend.wire.write(`{"jsonrpc":"2.0","id":${String(request.value.id)},"result":{${members}}}`)
    const { text } = await client.answerTo(id)
    expect(text).toContain('"x-2":[9007199254740993]')
    expect(text).toContain('"inputRequests":{"b":{"method":"roots/list","x-1":1},"a":{')
    expect(text).toContain('"requestState":""')
    const meta = `"_meta":${JSON.stringify({
      [metaKey.protocolVersion]: '2026-07-28',
      [metaKey.clientCapabilities]: capabilities,
    })}`
    const responses = '"inputResponses":{"b":{"roots":[]},"a":{"action":"accept","content":{"n":9007199254740993}}}'
    client.write(
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","arguments":{},"requestState":"",${responses},${meta}}}`,
    )
    const retry = await backend.request('tools/call')
    expect(retry.text).toContain(responses)
    expect(retry.value.params?.['requestState']).toBe('')
    backend.wire.write(resultOf(retry.value.id, { resultType: 'complete', content: [] }))
    expect((await client.answerTo(7)).value.result).toMatchObject({ resultType: 'complete', content: [] })
  })

  test('BR-304: cache hints pass through', async () => {
    const { client, backend } = await connected('modern', 'modern')
    const id = client.send('resources/read', { uri: 'a:b' })
    const request = await backend.request('resources/read')
    backend.wire.write(
      resultOf(request.value.id, { resultType: 'complete', contents: [], ttlMs: 5, cacheScope: 'public' }),
    )
    expect((await client.answerTo(id)).value.result).toMatchObject({ ttlMs: 5, cacheScope: 'public' })
  })

  test('BR-305: a listen is acknowledged after the backend has, tagged anew, and ended with a result of its own', async () => {
    const { rig, client, backend } = await connected('modern', 'modern')
    const id = client.send('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const listen = await backend.request('subscriptions/listen')
    expect(await client.rest()).toEqual([])
    backend.wire.write(
      notification('notifications/subscriptions/acknowledged', {
        notifications: { toolsListChanged: true },
        _meta: { [metaKey.subscriptionId]: listen.value.id },
      }),
      notification('notifications/tools/list_changed', { _meta: { [metaKey.subscriptionId]: listen.value.id } }),
    )
    expect((await client.next()).value.params).toEqual({
      notifications: { toolsListChanged: true },
      _meta: { [metaKey.subscriptionId]: id },
    })
    expect((await client.next()).value.params?.['_meta']).toEqual({ [metaKey.subscriptionId]: id })
    await rig.passthrough.drain()
    expect((await client.answerTo(id)).value.result).toMatchObject({
      resultType: 'complete',
      _meta: { [metaKey.subscriptionId]: id },
    })
  })

  test.each([
    [-32_020, -32_603],
    [-32_021, -32_021],
    [-32_602, -32_602],
    [9, 9],
  ])('decisions 7: %i of the backend is %i to the client', async (code, told) => {
    const { client, backend } = await connected('modern', 'modern')
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    backend.wire.write(errorOf(request.value.id, code, 'why', { requiredCapabilities: { roots: {} } }))
    expect((await client.answerTo(id)).value.error).toMatchObject({ code: told, message: 'why' })
  })

  test('decisions 6: one connection for clients of all kinds and principals', async () => {
    const backend = createBackend({ kind: 'modern' })
    const rig = createRig([backend])
    backend.onRequest = ({ method }) => (method === 'tools/call' ? { resultType: 'complete', content: [] } : undefined)
    for (const [kind, id] of [
      ['legacy', 'a'],
      ['modern', 'b'],
      ['legacy', 'c'],
    ] as const) {
      const client = await rig.client(kind, { principal: { id, authenticated: true } })
      await client.ask('tools/call', { name: 't', arguments: {} })
    }
    expect(backend.wires).toHaveLength(1)
  })
})
