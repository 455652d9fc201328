import type { JsonObject } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { accepted, call, form, sample, until } from './_util/asking.ts'
import {
  connected,
  createBackend,
  createRig,
  endAll,
  errorOf,
  type FakeBackend,
  type FrontClient,
  resultOf,
} from './_util/rig.ts'
import { type Line, type Message, turn } from './_util/wire.ts'

afterEach(endAll)

const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } }

const connect = async (options: Parameters<typeof connected>[2] = {}): ReturnType<typeof connected> =>
  await connected('legacy', 'modern', {
    ...options,
    client: { capabilities, ...options.client },
    passthrough: { bridgeInput: true, ...options.passthrough },
  })

const requests = {
  form: { method: 'elicitation/create', params: { mode: 'form', ...form } },
  model: { method: 'sampling/createMessage', params: sample },
  roots: { method: 'roots/list', params: {} },
}

const asks = (inputRequests: JsonObject, requestState?: string): JsonObject => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
})

const done = { resultType: 'complete', content: [] }
const said = { role: 'assistant', content: { type: 'text', text: 'b' }, model: 'm' }

const question = async (client: FrontClient, method = 'elicitation/create'): Promise<Line> =>
  await client.next((message) => message.method === method)

/** What has come for the backend since, list changes and listens aside. */
const callsAt = async (backend: FakeBackend): Promise<readonly Message[]> =>
  (await backend.wire.rest()).filter(({ method }) => method === 'tools/call' || method === 'notifications/cancelled')

describe('an ask becomes requests to the client', () => {
  test('BR-121, BR-115, F14: all at once, each with an id of its own; the retry has the params of the call, the state and a new id', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    const first = await backend.request('tools/call')
    const state = 'a "b"\\ü\u2028'
    backend.wire.write(resultOf(first.value.id, asks(requests, state)))
    const asked = [
      await question(client),
      await question(client, 'sampling/createMessage'),
      await question(client, 'roots/list'),
    ]
    expect(asked.map(({ value }) => value.params)).toEqual([form, sample, {}])
    expect(new Set(asked.map(({ value }) => value.id)).size).toBe(3)
    // in whatever order
    client.write(resultOf(asked[2]?.value.id, { roots: [] }), resultOf(asked[0]?.value.id, accepted))
    await turn()
    expect(await callsAt(backend)).toEqual([])
    client.write(resultOf(asked[1]?.value.id, said))
    const retry = await backend.request('tools/call')
    expect(retry.value.id).not.toBe(first.value.id)
    const { _meta: meta, ...params } = retry.value.params ?? {}
    expect(params).toEqual({
      ...call,
      requestState: state,
      inputResponses: { form: accepted, model: said, roots: { roots: [] } },
    })
    expect(meta).toEqual(first.value.params?.['_meta'])
    backend.wire.write(resultOf(retry.value.id, done))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
  })

  test('BR-121, MC-MRTR-16: questions and answers keep every digit; no state is sent where none was given', async () => {
    const { client, backend } = await connect()
    client.send('tools/call', call)
    const first = await backend.request('tools/call')
    const schema = '{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890,"default":1.0}}}'
    const text = `{"q":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":${schema}}}}`
    backend.wire.write(
      `{"jsonrpc":"2.0","id":${first.value.id},"result":{"resultType":"input_required","inputRequests":${text}}}`,
    )
    const asked = await question(client)
    expect(asked.text).toContain(schema)
    expect(asked.value.params).not.toHaveProperty('mode')
    const answer = '{"action":"accept","content":{"n":12345678901234567890,"m":1.0}}'
    client.write(`{"jsonrpc":"2.0","id":${asked.value.id},"result":${answer}}`)
    const retry = await backend.request('tools/call')
    expect(retry.text).toContain(`"inputResponses":{"q":${answer}}`)
    expect(retry.value.params).not.toHaveProperty('requestState')
  })

  test('BR-121: round after round, each with what came last and nothing of earlier ones', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    for (const [key, state] of [
      ['a', 's1'],
      ['b', undefined],
      ['c', ''],
    ] as const) {
      const request = await backend.request('tools/call')
      backend.wire.write(resultOf(request.value.id, asks({ [key]: requests.form }, state)))
      const asked = await question(client)
      client.write(resultOf(asked.value.id, { action: 'decline' }))
      const retry = await backend.wire.next(
        ({ method, params }) => method === 'tools/call' && params?.['inputResponses'] !== undefined,
      )
      expect(retry.value.params?.['inputResponses']).toEqual({ [key]: { action: 'decline' } })
      expect(retry.value.params?.['requestState']).toBe(state)
      // the same line is looked at again as the next request
      backend.wire.unread(retry)
    }
    const last = await backend.request('tools/call')
    backend.wire.write(resultOf(last.value.id, done))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
  })

  test('BR-123, A-42: state alone is brought back after a pause, and the client hears nothing', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    const first = await backend.request('tools/call')
    const begun = performance.now()
    backend.wire.write(resultOf(first.value.id, { resultType: 'input_required', requestState: 's' }))
    const retry = await backend.request('tools/call')
    expect(performance.now() - begun).toBeGreaterThan(240)
    expect(retry.value.params).toMatchObject({ ...call, requestState: 's' })
    expect(retry.value.params).not.toHaveProperty('inputResponses')
    expect(await client.rest()).toEqual([])
    backend.wire.write(resultOf(retry.value.id, done))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
  })

  test('BR-121: two calls of one client at once, each with the answer to its own question', async () => {
    const { client, backend } = await connect()
    const ids = [client.send('tools/call', call), client.send('tools/call', { ...call, arguments: { a: 2 } })]
    const open = [await backend.request('tools/call'), await backend.request('tools/call')]
    for (const { value } of [...open].reverse()) {
      const { a } = (value.params ?? {})['arguments'] as { a: number }
      const own = { method: 'elicitation/create', params: { ...form, message: `for ${a}` } }
      backend.wire.write(resultOf(value.id, asks({ q: own }, `state ${a}`)))
    }
    for (let i = 0; i < 2; i++) {
      const { value } = await question(client)
      client.write(resultOf(value.id, { action: 'accept', content: { name: value.params?.['message'] as string } }))
    }
    for (let i = 0; i < 2; i++) {
      const { value } = await backend.request('tools/call')
      const { a } = (value.params ?? {})['arguments'] as { a: number }
      expect(value.params).toMatchObject({
        requestState: `state ${a}`,
        inputResponses: { q: { content: { name: `for ${a}` } } },
      })
      backend.wire.write(resultOf(value.id, { ...done, content: [{ type: 'text', text: `${a}` }] }))
    }
    expect((await client.answerTo(ids[0] ?? 0)).value.result).toMatchObject({ content: [{ text: '1' }] })
    expect((await client.answerTo(ids[1] ?? 0)).value.result).toMatchObject({ content: [{ text: '2' }] })
  })

  test('BR-121: a question goes to the client whose call it is, and to nobody else', async () => {
    const { rig, client, backend } = await connect()
    const other = await rig.client('legacy', { capabilities })
    client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ q: requests.form })))
    await question(client)
    expect(await other.rest()).toEqual([])
    // nor can another one answer it
    other.write(resultOf(1, accepted))
    await turn()
    expect(await callsAt(backend)).toEqual([])
  })

  test('BR-301: with several backends the state goes back to the one that asked, as it came', async () => {
    const backends = ['one', 'two'].map((name) => createBackend({ kind: 'modern', name }))
    const [one, two] = backends as [FakeBackend, FakeBackend]
    const list = { ...done, ttlMs: 0, cacheScope: 'private', tools: [{ name: 't', inputSchema: { type: 'object' } }] }
    const seen: JsonObject[] = []
    one.onRequest = ({ method }) => (method === 'tools/list' ? list : undefined)
    two.onRequest = ({ method, params }) => {
      if (method === 'tools/list') return list
      if (method !== 'tools/call') return undefined
      seen.push(params ?? {})
      return seen.length === 1 ? asks({ q: requests.form }, 'its own') : done
    }
    const rig = createRig(backends, { bridgeInput: true })
    const client = await rig.client('legacy', { capabilities })
    const id = client.send('tools/call', { ...call, name: 'two__t' })
    const asked = await question(client)
    client.write(resultOf(asked.value.id, accepted))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
    expect(seen[1]).toMatchObject({ name: 't', requestState: 'its own', inputResponses: { q: accepted } })
  })
})

describe('what the client does not answer', () => {
  test('BR-122: a form that it refuses is a form that was cancelled', async () => {
    const { client, backend } = await connect()
    client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ q: requests.form })))
    const asked = await question(client)
    client.write(errorOf(asked.value.id, -1, 'no'))
    const retry = await backend.request('tools/call')
    expect(retry.value.params?.['inputResponses']).toEqual({ q: { action: 'cancel' } })
  })

  test.each([
    ['roots', 'tools/call', call, { result: { isError: true } }],
    ['model', 'tools/call', call, { result: { isError: true } }],
    ['roots', 'prompts/get', { name: 'p' }, { error: { code: -32_603 } }],
    ['model', 'resources/read', { uri: 'a:b' }, { error: { code: -32_603 } }],
  ] as const)(
    'BR-122, MC-MRTR-24: refused %s end %s, and the backend is not told',
    async (kind, method, params, told) => {
      const { client, backend } = await connect()
      const id = client.send(method, params)
      const first = await backend.request(method)
      backend.wire.write(resultOf(first.value.id, asks({ q: requests[kind], f: requests.form })))
      const asked = await question(client, requests[kind].method)
      client.write(errorOf(asked.value.id, -1, 'no'))
      expect((await client.answerTo(id)).value).toMatchObject(told)
      // the other question of the round is taken back
      const form = await question(client)
      const cancelled = await client.next(({ method: name }) => name === 'notifications/cancelled')
      expect(cancelled.value.params?.['requestId']).toBe(form.value.id)
      expect((await backend.wire.rest()).filter(({ method: name }) => name === method)).toEqual([])
    },
  )

  test('BR-110, LG-CANC-01: when it cancels the call its questions are taken back, and the backend hears nothing more', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ q: requests.form })))
    const asked = await question(client)
    client.notify('notifications/cancelled', { requestId: id })
    const cancelled = await client.next(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.value.params?.['requestId']).toBe(asked.value.id)
    client.write(resultOf(asked.value.id, accepted))
    await turn()
    expect(await callsAt(backend)).toEqual([])
  })

  test('BR-116: when it leaves, nothing is called again', async () => {
    const { client, backend } = await connect()
    client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ q: requests.form })))
    await question(client)
    client.break()
    await turn()
    expect((await callsAt(backend)).filter(({ method }) => method === 'tools/call')).toEqual([])
  })

  test('BR-235: a backend that was restarted meanwhile gets the retry: state of the modern era is not that of a connection', async () => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ q: requests.form }, 's')))
    const asked = await question(client)
    backend.wire.break()
    await turn()
    client.write(resultOf(asked.value.id, accepted))
    await until(() => backend.wires.length === 2)
    const retry = await backend.request('tools/call')
    expect(retry.value.params).toMatchObject({ requestState: 's' })
    backend.wire.write(resultOf(retry.value.id, done))
    expect((await client.answerTo(id)).value.result).toEqual({ content: [] })
  })
})

describe('what is not asked at all', () => {
  test.each([
    [
      'BR-124: a page to be opened',
      { q: { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://a.example/' } } },
    ],
    ['MC-SAMP-02: a model with tools', { q: { method: 'sampling/createMessage', params: { ...sample, tools: [] } } }],
  ])('BR-127, %s: -32603 that names the capability', async (_what, inputRequests) => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ ...inputRequests, also: requests.form })))
    const { error } = (await client.answerTo(id)).value
    expect(error).toMatchObject({ code: -32_603, data: { requiredCapabilities: expect.any(Object) as object } })
    expect((await client.rest()).filter(({ method }) => method !== undefined)).toEqual([])
    expect(await callsAt(backend)).toEqual([])
  })

  test.each([
    ['A-40, B11: something unknown', { q: { method: 'foo/bar', params: {} } }],
    ['MC-ELIC-05: a form that is none', { q: { method: 'elicitation/create', params: { message: 'm' } } }],
    ['E13: an envelope', { q: { jsonrpc: '2.0', id: 1, ...requests.form } }],
  ])('%s fails the call, and nothing of it is asked', async (_what, inputRequests) => {
    const { client, backend } = await connect()
    const id = client.send('tools/call', call)
    const first = await backend.request('tools/call')
    backend.wire.write(resultOf(first.value.id, asks({ also: requests.form, ...inputRequests })))
    expect((await client.answerTo(id)).value.error?.code).toBe(-32_603)
    expect((await client.rest()).filter(({ method }) => method !== undefined)).toEqual([])
  })

  test('A-59: a list cannot ask', async () => {
    const { client, backend } = await connect()
    const id = client.send('prompts/list')
    const first = await backend.request('prompts/list')
    backend.wire.write(resultOf(first.value.id, asks({ q: requests.form })))
    expect((await client.answerTo(id)).value.error?.code).toBe(-32_603)
    expect((await client.rest()).filter(({ method }) => method !== undefined)).toEqual([])
  })

  test.each([
    [{}, {}],
    [{ elicitation: {} }, { elicitation: { form: {} } }],
    [{ sampling: { context: {} }, experimental: { x: {} } }, { sampling: {} }],
    [{ roots: { listChanged: true } }, { roots: {} }],
  ])('BR-121: of a client that declares %j the backend hears %j', async (declared, told) => {
    const { client, backend } = await connect({ client: { capabilities: declared } })
    client.send('tools/call', call)
    const first = await backend.request('tools/call')
    const meta = first.value.params?.['_meta'] as JsonObject
    const { elicitation, sampling, roots } = meta[metaKey.clientCapabilities] as JsonObject
    expect(JSON.parse(JSON.stringify({ elicitation, sampling, roots }))).toEqual(told)
  })
})
