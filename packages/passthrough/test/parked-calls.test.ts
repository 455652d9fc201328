import { createSeal, type JsonObject } from '@atenea/mcpcompat'
import { afterEach, describe, expect, test } from 'vitest'
import { createMemoryParkStore } from '../src/index.ts'
import {
  accepted,
  answerTo,
  type Arrived,
  arrivals,
  ask,
  type Bridged,
  type BridgedOptions,
  call,
  createBridged,
  everyAsk,
  form,
  type Given,
  given,
  retry,
  sample,
  until,
} from './_util/asking.ts'
import { createManualClock } from './_util/manual-clock.ts'
import { createBackend, createRig, endAll, type FakeBackend, type FrontClient, resultOf } from './_util/rig.ts'
import { type Message, turn } from './_util/wire.ts'

afterEach(endAll)

/** A call whose client has been given the question `q` of the backend. */
async function parked(
  options: BridgedOptions = {},
): Promise<Bridged & { readonly at: Arrived; readonly asked: Given }> {
  const about = await createBridged(options)
  const id = about.client.send('tools/call', call)
  const at = await about.calls.next()
  ask(at.wire, 'q')
  return { ...about, at, asked: given(await about.client.answerTo(id)) }
}

const expired = { code: -32_602, message: expect.stringContaining('request state expired') as string }
const refused = { code: -32_602, message: expect.stringContaining('not valid') as string }

/** The parked call goes on and is answered. */
async function stillWorks(client: FrontClient, { wire, request }: Arrived, asked: Given): Promise<void> {
  const id = retry(client, asked)
  expect((await answerTo(wire, 'q')).value.result).toEqual(accepted)
  wire.write(resultOf(request.id, { content: [] }))
  expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete', content: [] })
}

describe('a question becomes a round of the call', () => {
  test('BR-221, BR-205, F14: the call waits at the backend, and the retry goes on with it without a second request', async () => {
    const { client, calls, at, asked, backend } = await parked()
    expect(asked.requests).toEqual({ [asked.keys[0] ?? '']: { method: 'elicitation/create', params: form } })
    await stillWorks(client, at, asked)
    expect(calls.waiting).toBe(0)
    expect(backend.handshakes).toMatchObject([
      { clientInfo: { name: 'proxy' }, capabilities: { elicitation: {}, sampling: {}, roots: {} } },
    ])
  })

  test('BR-221: what is asked and what is answered keep every digit, and the token of the backend’s own progress goes', async () => {
    const { client, calls } = await createBridged()
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    const schema = '{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890,"default":1.0}}}'
    wire.write(
      `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","requestedSchema":${schema}}}`,
    )
    ask(wire, 'r', 'roots/list', { _meta: { progressToken: 1, 'a/b': 2 } })
    const line = await client.answerTo(id)
    expect(line.text).toContain(schema)
    const { keys, state, requests } = given(line)
    expect(requests[keys[1] ?? '']).toEqual({ method: 'roots/list', params: { _meta: { 'a/b': 2 } } })
    const answer = '{"action":"accept","content":{"n":12345678901234567890,"m":1.0}}'
    const roots = '{"roots":[]}'
    const params = `"name":"t","arguments":{"a":1},"requestState":${JSON.stringify(state)}`
    const answers = `"inputResponses":{"${keys[0]}":${answer},"${keys[1]}":${roots}}`
    const raw = client.raw('tools/call', `${params},${answers}`)
    expect((await answerTo(wire, 'q')).text).toContain(answer)
    expect((await answerTo(wire, 'r')).text).toContain(roots)
    wire.write(resultOf(request.id, { content: [] }))
    expect((await client.answerTo(raw)).value.result).toMatchObject({ content: [] })
  })

  test('BR-221: questions that come together are one round, later ones the next', async () => {
    const { client, calls } = await createBridged()
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    ask(wire, 'a')
    ask(wire, 'b', 'sampling/createMessage', sample)
    const first = given(await client.answerTo(id))
    expect(Object.values(first.requests)).toEqual([
      { method: 'elicitation/create', params: form },
      { method: 'sampling/createMessage', params: sample },
    ])
    ask(wire, 'c', 'roots/list', {})
    const said = { role: 'assistant', content: { type: 'text', text: 'b' }, model: 'm' }
    const second = client.send('tools/call', {
      ...call,
      requestState: first.state,
      inputResponses: { [first.keys[0] ?? '']: accepted, [first.keys[1] ?? '']: said },
    })
    expect((await answerTo(wire, 'a')).value.result).toEqual(accepted)
    expect((await answerTo(wire, 'b')).value.result).toEqual(said)
    const last = given(await client.answerTo(second))
    expect(Object.values(last.requests)).toEqual([{ method: 'roots/list', params: {} }])
    const done = retry(client, last, { roots: [] })
    expect((await answerTo(wire, 'c')).value.result).toEqual({ roots: [] })
    wire.write(resultOf(request.id, { content: [] }))
    expect((await client.answerTo(done)).value.result).toMatchObject({ resultType: 'complete' })
  })

  test.each([
    ['prompts/get', { name: 'p' }, { messages: [] }],
    ['resources/read', { uri: 'a:b' }, { contents: [] }],
  ])('BR-221: %s can be asked in as well', async (method, params, result) => {
    const { client, calls } = await createBridged()
    const id = client.send(method, params)
    const { wire, request } = await calls.next()
    ask(wire, 'q')
    const { keys, state } = given(await client.answerTo(id))
    const again = client.send(method, { ...params, requestState: state, inputResponses: { [keys[0] ?? '']: accepted } })
    await answerTo(wire, 'q')
    wire.write(resultOf(request.id, result))
    expect((await client.answerTo(again)).value.result).toMatchObject({ resultType: 'complete', ...result })
  })

  test('BR-222: a kind that the client did not declare is refused at once, and the client hears nothing', async () => {
    const { rig, calls } = await createBridged()
    const client = await rig.client('modern', { capabilities: { elicitation: {} } })
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    ask(wire, 'q', 'sampling/createMessage', sample)
    expect((await answerTo(wire, 'q')).value.error?.code).toBe(-32_601)
    wire.write(resultOf(request.id, { content: [] }))
    expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
  })

  test('MC-ELIC-05: a question that no modern client could read is refused here, and the call goes on', async () => {
    const { client, calls } = await createBridged()
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    ask(wire, 'q', 'elicitation/create', {
      message: 'm',
      requestedSchema: { type: 'object', properties: { o: { type: 'object' } } },
    })
    expect((await answerTo(wire, 'q')).value.error?.code).toBe(-32_602)
    wire.write(resultOf(request.id, { content: [] }))
    expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
  })
})

describe('whose state it is, and for what', () => {
  test.each<[string, (client: FrontClient, asked: Given) => number]>([
    ['a changed state', (client, asked) => retry(client, { ...asked, state: `${asked.state.slice(0, -3)}AAA` })],
    ['a state that is made up', (client, asked) => retry(client, { ...asked, state: 'question-1' })],
    ['an empty state', (client, asked) => retry(client, { ...asked, state: '' })],
    ['other arguments', (client, asked) => retry(client, asked, accepted, { name: 't', arguments: { a: 2 } })],
    ['another tool', (client, asked) => retry(client, asked, accepted, { name: 'u', arguments: { a: 1 } })],
    [
      'another method',
      (client, { state }) => client.send('prompts/get', { name: 't', requestState: state, inputResponses: {} }),
    ],
  ])(
    'BR-221, MC-MRTR-08, MC-MRTR-10: with %s nothing happens, and the rightful retry still works',
    async (_why, send) => {
      const { client, at, asked } = await parked()
      expect((await client.answerTo(send(client, asked))).value.error).toMatchObject(refused)
      expect(await at.wire.rest()).toEqual([])
      await stillWorks(client, at, asked)
    },
  )

  test('BR-221, MC-MRTR-10: another principal can do nothing with it', async () => {
    const { rig, client, at, asked } = await parked()
    const thief = await rig.client('modern', {
      capabilities: everyAsk,
      principal: { id: 'someone-else', authenticated: true },
    })
    expect((await thief.answerTo(retry(thief, asked))).value.error).toMatchObject(refused)
    expect(await at.wire.rest()).toEqual([])
    await stillWorks(client, at, asked)
  })

  test('BR-225, MC-MRTR-11: a state serves once', async () => {
    const { client, at, asked } = await parked()
    await stillWorks(client, at, asked)
    expect((await client.answerTo(retry(client, asked))).value.error).toMatchObject(expired)
  })

  test('MC-MRTR-11: of two retries at once one goes on', async () => {
    const { client, at, asked } = await parked()
    const ids = [retry(client, asked), retry(client, asked)]
    expect((await answerTo(at.wire, 'q')).value.result).toEqual(accepted)
    at.wire.write(resultOf(at.request.id, { content: [] }))
    const answers = await Promise.all(ids.map(async (id) => (await client.answerTo(id)).value))
    expect(answers.filter(({ result }) => result?.['resultType'] === 'complete')).toHaveLength(1)
    expect(answers.filter(({ error }) => error?.code === -32_602)).toHaveLength(1)
  })

  test.each<[string, JsonObject]>([
    ['no answer', {}],
    ['answers to other keys', { other: accepted }],
    ['a wrapped answer (A-41)', { KEY: { method: 'elicitation/create', result: accepted } }],
    ['an answer that is none', { KEY: { action: 'maybe' } }],
  ])('BR-225, MC-MRTR-23: %s: asked again under a new state, and the old one is void', async (_why, answers) => {
    const { client, at, asked } = await parked()
    const [key = ''] = asked.keys
    const inputResponses = Object.fromEntries(
      Object.entries(answers).map(([name, value]) => [name === 'KEY' ? key : name, value]),
    )
    const id = client.send('tools/call', { ...call, requestState: asked.state, inputResponses })
    const again = given(await client.answerTo(id))
    expect(again.requests).toEqual(asked.requests)
    expect(again.state).not.toBe(asked.state)
    expect((await client.answerTo(retry(client, asked))).value.error).toMatchObject(expired)
    expect(await at.wire.rest()).toEqual([])
    await stillWorks(client, at, again)
  })

  test('MC-MRTR-23: answers without a state are no retry: the call is made, and asks for what it needs', async () => {
    const { client, calls } = await createBridged()
    const id = client.send('tools/call', { ...call, inputResponses: { 'question-1': accepted } })
    const { wire, request } = await calls.next()
    expect(request.params).toEqual(call)
    ask(wire, 'q')
    await stillWorks(client, { wire, request }, given(await client.answerTo(id)))
  })

  test('BR-226: another instance refuses it, also one with the same keys, since it cannot reach the call', async () => {
    const seal = createSeal()
    const { client, at, asked } = await parked({ seal })
    for (const [other, error] of [
      [await createBridged({ seal }), expired],
      [await createBridged(), refused],
    ] as const) {
      expect((await other.client.answerTo(retry(other.client, asked))).value.error).toMatchObject(error)
      expect(other.calls.waiting).toBe(0)
    }
    await stillWorks(client, at, asked)
  })

  test('BR-226: a store that is shared is not robbed by an instance that cannot go on', async () => {
    const options = { seal: createSeal(), parkStore: createMemoryParkStore() }
    const { client, at, asked } = await parked(options)
    const other = await createBridged(options)
    expect((await other.client.answerTo(retry(other.client, asked))).value.error).toMatchObject(expired)
    await stillWorks(client, at, asked)
  })

  test('BR-301: with several backends it is bound to the one that asked', async () => {
    const backends = ['one', 'two'].map((name) => createBackend({ kind: 'legacy', name }))
    const [one, two] = backends as [FakeBackend, FakeBackend]
    const list = ({ method }: Message): JsonObject | undefined =>
      method === 'tools/list' ? { tools: [{ name: 't', inputSchema: { type: 'object' } }] } : undefined
    const calls = arrivals(two, list)
    const none = arrivals(one, list)
    const rig = createRig(backends, { bridgeInput: true })
    const client = await rig.client('modern', { capabilities: everyAsk })
    await client.ask('tools/list')
    const own = { ...call, name: 'two__t' }
    const id = client.send('tools/call', own)
    const { wire, request } = await calls.next()
    expect(request.params?.['name']).toBe('t')
    ask(wire, 'q')
    const asked = given(await client.answerTo(id))
    const elsewhere = retry(client, asked, accepted, { ...call, name: 'one__t' })
    expect((await client.answerTo(elsewhere)).value.error?.code).toBe(-32_602)
    const done = retry(client, asked, accepted, own)
    expect((await answerTo(wire, 'q')).value.result).toEqual(accepted)
    wire.write(resultOf(request.id, { content: [] }))
    expect((await client.answerTo(done)).value.result).toMatchObject({ resultType: 'complete' })
    expect(none.waiting).toBe(0)
  })
})

describe('how a wait ends without answers', () => {
  test.each([
    ['elicitation/create', form, { result: { action: 'cancel' } }],
    ['sampling/createMessage', sample, { error: { code: -32_603 } }],
    ['roots/list', {}, { error: { code: -32_603 } }],
  ])(
    'BR-224, MC-MRTR-12: nobody comes back for %s: the backend is told, its call cancelled, the state void',
    async (method, params, told) => {
      const clock = createManualClock()
      const { client, calls } = await createBridged({ clock, parkedMs: 60_000 })
      const id = client.send('tools/call', call)
      const { wire, request } = await calls.next()
      ask(wire, 'q', method, params)
      await turn()
      clock.advance(20)
      const asked = given(await client.answerTo(id))
      clock.advance(59_999)
      expect(await wire.rest()).toEqual([])
      clock.advance(1)
      expect((await answerTo(wire, 'q')).value).toMatchObject(told)
      const cancelled = await wire.next(({ method: name }) => name === 'notifications/cancelled')
      expect(cancelled.value.params).toEqual({ requestId: request.id })
      expect((await client.answerTo(retry(client, asked))).value.error).toMatchObject(expired)
    },
  )

  test('BR-224: a state whose time is over is refused by what it says, without looking further', async () => {
    let now = 1_000
    const { client, asked } = await parked({ seal: createSeal({ now: () => now }), parkedMs: 60_000 })
    now += 60_001
    expect((await client.answerTo(retry(client, asked))).value.error).toMatchObject(expired)
  })

  test('BR-227: a question that the backend takes back is not answered, and the retry waits for the call', async () => {
    const { client, at, asked } = await parked()
    at.wire.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q' } })
    const id = retry(client, asked)
    await turn()
    expect(await at.wire.rest()).toEqual([])
    at.wire.write(resultOf(at.request.id, { content: [] }))
    expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
  })

  test('BR-227: the answer of a backend that did not wait is there for the retry', async () => {
    const { client, at, asked } = await parked()
    at.wire.write(resultOf(at.request.id, { content: [{ type: 'text', text: 'early' }] }))
    expect((await client.answerTo(retry(client, asked))).value.result).toMatchObject({ content: [{ text: 'early' }] })
  })

  test('BR-227: it is there for a retry without answers as well, and nobody is asked again', async () => {
    const { client, at, asked } = await parked()
    at.wire.write(resultOf(at.request.id, { content: [{ type: 'text', text: 'early' }] }))
    await turn()
    const id = client.send('tools/call', { ...call, requestState: asked.state, inputResponses: {} })
    expect((await client.answerTo(id)).value.result).toMatchObject({ content: [{ text: 'early' }] })
    expect((await answerTo(at.wire, 'q')).value.result).toEqual({ action: 'cancel' })
  })

  test('BR-235: the backend dies meanwhile: the retry is told, and nothing is called again', async () => {
    const { client, at, asked, calls } = await parked()
    at.wire.break()
    const { error } = (await client.answerTo(retry(client, asked))).value
    expect(error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('was lost while its question was open') as string,
    })
    expect(calls.waiting).toBe(0)
    expect((await client.answerTo(retry(client, asked))).value.error).toMatchObject(expired)
  })

  test('A-43, LG-CANC-01: a client that cancels while it has answered: the backend hears it, and nothing stays open', async () => {
    const { client, at, asked, rig } = await parked()
    const id = retry(client, asked)
    await answerTo(at.wire, 'q')
    client.notify('notifications/cancelled', { requestId: id })
    const cancelled = await at.wire.next(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.value.params).toEqual({ requestId: at.request.id })
    await until(() => rig.passthrough.status().backends[0]?.openCalls === 0)
    expect((await client.answerTo(retry(client, asked))).value.error).toMatchObject(expired)
  })

  test('A-42, B10: a backend that asks without end is given up after ten rounds', async () => {
    const { client, calls } = await createBridged()
    let id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    for (let round = 1; round < 10; round++) {
      ask(wire, `q${round}`)
      const asked = given(await client.answerTo(id))
      id = retry(client, asked)
      await answerTo(wire, `q${round}`)
    }
    ask(wire, 'q10')
    expect((await client.answerTo(id)).value.error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('10 rounds') as string,
    })
    expect((await answerTo(wire, 'q10')).value.result).toEqual({ action: 'cancel' })
    const cancelled = await wire.next(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.value.params).toEqual({ requestId: request.id })
  })

  test('BR-224: when the proxy ends, the backend is told', async () => {
    const { rig, at } = await parked()
    await rig.passthrough[Symbol.asyncDispose]()
    expect((await answerTo(at.wire, 'q')).value.result).toEqual({ action: 'cancel' })
  })
})

describe('bounds', () => {
  test.each([
    ['number', { maxParks: 1 }],
    ['size', { maxSize: 500 }],
  ])(
    'BR-224: no more calls wait than their %s allows; the others are told, and their backend is',
    async (_what, limits) => {
      const { client, calls, at, asked } = await parked({ parkStore: createMemoryParkStore(limits) })
      const id = client.send('tools/call', call)
      const other = await calls.next()
      ask(other.wire, 'p')
      expect((await client.answerTo(id)).value.error).toMatchObject({
        code: -32_603,
        message: expect.stringContaining('busy') as string,
      })
      expect((await answerTo(other.wire, 'p')).value.result).toEqual({ action: 'cancel' })
      await other.wire.next(({ method }) => method === 'notifications/cancelled')
      await stillWorks(client, at, asked)
      // there is room again
      const next = client.send('tools/call', call)
      ask((await calls.next()).wire, 'o')
      given(await client.answerTo(next))
    },
  )

  test('BR-224: one backend cannot ask so much in one call that its client drowns', async () => {
    const { client, calls } = await createBridged()
    const id = client.send('tools/call', call)
    const { wire } = await calls.next()
    for (let i = 1; i <= 65; i++) ask(wire, `q${i}`, 'roots/list', {})
    expect((await answerTo(wire, 'q65')).value.error?.code).toBe(-32_601)
    expect(given(await client.answerTo(id)).keys).toHaveLength(64)
  })

  test('BR-224: nor so long', async () => {
    const { client, calls } = await createBridged()
    const id = client.send('tools/call', call)
    const { wire } = await calls.next()
    ask(wire, 'a', 'elicitation/create', { ...form, message: 'x'.repeat(900_000) })
    ask(wire, 'b', 'elicitation/create', { ...form, message: 'x'.repeat(900_000) })
    expect((await answerTo(wire, 'b')).value.result).toEqual({ action: 'cancel' })
    expect(given(await client.answerTo(id)).keys).toHaveLength(1)
  })
})

describe('a connection for each call that may be asked', () => {
  test('BR-223: two calls of one client ask at the same time, and each hears its own question', async () => {
    const { client, calls, backend } = await createBridged()
    const ids = [client.send('tools/call', call), client.send('tools/call', call)]
    const [a, b] = [await calls.next(), await calls.next()]
    expect(a.wire).not.toBe(b.wire)
    ask(a.wire, 'q', 'elicitation/create', { ...form, message: 'a' })
    ask(b.wire, 'q', 'elicitation/create', { ...form, message: 'b' })
    const asked = [given(await client.answerTo(ids[0] ?? 0)), given(await client.answerTo(ids[1] ?? 0))] as const
    expect(
      asked.map(({ requests, keys }) => (requests[keys[0] ?? ''] as { params: JsonObject }).params['message']),
    ).toEqual(['a', 'b'])
    retry(client, asked[1], { action: 'accept', content: { name: 'for b' } })
    expect((await answerTo(b.wire, 'q')).value.result).toMatchObject({ content: { name: 'for b' } })
    retry(client, asked[0], { action: 'accept', content: { name: 'for a' } })
    expect((await answerTo(a.wire, 'q')).value.result).toMatchObject({ content: { name: 'for a' } })
    expect(backend.wires).toHaveLength(2)
  })

  test('BR-223: one after the other they share a connection, lists as well, so that what a server remembers stays', async () => {
    const { client, calls, backend } = await createBridged()
    for (const method of ['tools/call', 'resources/list', 'tools/call', 'prompts/list']) {
      const id = client.send(method, method === 'tools/call' ? call : {})
      const { wire, request } = await calls.next()
      wire.write(resultOf(request.id, { content: [], resources: [], prompts: [] }))
      await client.answerTo(id)
    }
    expect(backend.wires).toHaveLength(1)
  })

  test('BR-223: clients that declare nothing share one connection, and wait for nobody', async () => {
    const { rig, calls, backend } = await createBridged()
    const client = await rig.client('modern', { capabilities: {} })
    for (let i = 0; i < 8; i++) client.send('tools/call', call)
    const wires = new Set<unknown>()
    for (let i = 0; i < 8; i++) wires.add((await calls.next()).wire)
    expect(wires.size).toBe(1)
    expect(backend.wires).toHaveLength(1)
  })

  test('BR-223: an open question holds its connection; others get another, and when all are taken they wait, then hear that it is busy', async () => {
    const clock = createManualClock()
    const { client, calls, rig } = await createBridged({ clock, backend: { maxAskingCalls: 2 } })
    const ids = [client.send('tools/call', call), client.send('tools/call', call)]
    const held = [await calls.next(), await calls.next()]
    for (const { wire } of held) ask(wire, 'q')
    await turn()
    clock.advance(20)
    const asked = [given(await client.answerTo(ids[0] ?? 0)), given(await client.answerTo(ids[1] ?? 0))] as const
    const late = client.send('tools/call', call)
    const later = client.send('tools/call', call)
    await turn()
    expect(calls.waiting).toBe(0)
    clock.advance(9_000)
    // one is answered, and the first of those that wait gets its place
    const done = retry(client, asked[0])
    const first = held[0] as Arrived
    await answerTo(first.wire, 'q')
    first.wire.write(resultOf(first.request.id, { content: [] }))
    await client.answerTo(done)
    const next = await calls.next()
    expect(next.wire).toBe(first.wire)
    next.wire.write(resultOf(next.request.id, { content: [] }))
    expect((await client.answerTo(late)).value.result).toMatchObject({ resultType: 'complete' })
    const last = await calls.next()
    last.wire.write(resultOf(last.request.id, { content: [] }))
    expect((await client.answerTo(later)).value.result).toMatchObject({ resultType: 'complete' })
    // and now nobody makes room
    const again = client.send('tools/call', call)
    ask((await calls.next()).wire, 'r')
    await turn()
    clock.advance(20)
    given(await client.answerTo(again))
    const hopeless = client.send('tools/call', call)
    const other = await rig.client('modern', { capabilities: {} })
    const free = other.send('tools/call', call)
    const shared = await calls.next()
    shared.wire.write(resultOf(shared.request.id, { content: [] }))
    expect((await other.answerTo(free)).value.result).toMatchObject({ resultType: 'complete' })
    clock.advance(10_000)
    expect((await client.answerTo(hopeless)).value.error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('busy') as string,
    })
  })

  test('BR-223: a client that gives up while it waits leaves the place to the next', async () => {
    const { client, calls } = await createBridged({ backend: { maxAskingCalls: 1 } })
    client.send('tools/call', call)
    const held = await calls.next()
    const gone = client.send('tools/call', call)
    const next = client.send('tools/call', { ...call, arguments: { a: 3 } })
    await turn()
    client.notify('notifications/cancelled', { requestId: gone })
    await turn()
    held.wire.write(resultOf(held.request.id, { content: [] }))
    const { request, wire } = await calls.next()
    expect(request.params?.['arguments']).toEqual({ a: 3 })
    wire.write(resultOf(request.id, { content: [] }))
    expect((await client.answerTo(next)).value.result).toMatchObject({ resultType: 'complete' })
  })

  test('BR-223: one principal is never given the connection of another; connections that nobody needs make room', async () => {
    const { rig, client, calls, backend } = await createBridged({ backend: { maxAskingCalls: 2 } })
    const finish = async (front: FrontClient): Promise<unknown> => {
      const id = front.send('tools/call', call)
      const { wire, request } = await calls.next()
      wire.write(resultOf(request.id, { content: [] }))
      await front.answerTo(id)
      return wire
    }
    const wires = [await finish(client)]
    for (const id of ['b', 'c', 'd']) {
      wires.push(
        await finish(await rig.client('modern', { capabilities: everyAsk, principal: { id, authenticated: true } })),
      )
    }
    expect(new Set(wires).size).toBe(4)
    await until(() => backend.wires.filter(({ closed }) => !closed).length === 2)
  })

  test('decisions 5: a connection that is lost in a pool fails its own call only', async () => {
    const { client, calls } = await createBridged()
    const ids = [client.send('tools/call', call), client.send('tools/call', call)]
    const [a, b] = [await calls.next(), await calls.next()]
    a.wire.break()
    expect((await client.answerTo(ids[0] ?? 0)).value.error?.code).toBe(-32_603)
    b.wire.write(resultOf(b.request.id, { content: [] }))
    expect((await client.answerTo(ids[1] ?? 0)).value.result).toMatchObject({ resultType: 'complete' })
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    expect(wire).toBe(b.wire)
    wire.write(resultOf(request.id, { content: [] }))
    await client.answerTo(id)
  })
})

test('BR-229: progress and messages of a call that waits go nowhere, and come again when it goes on', async () => {
  const { client, calls } = await createBridged()
  const id = client.send('tools/call', call, { progressToken: 'p' })
  const { wire, request } = await calls.next()
  const { progressToken: token } = (request.params ?? {})['_meta'] as { progressToken: number }
  const progress = (value: number): void =>
    wire.write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: value } })
  progress(1)
  await client.next(({ method }) => method === 'notifications/progress')
  ask(wire, 'q')
  const { keys, state } = given(await client.answerTo(id))
  progress(2)
  expect(await client.rest()).toEqual([])
  const again = client.send(
    'tools/call',
    { ...call, requestState: state, inputResponses: { [keys[0] ?? '']: accepted } },
    { progressToken: 'p2' },
  )
  await answerTo(wire, 'q')
  progress(3)
  const told = await client.next(({ method }) => method === 'notifications/progress')
  expect(told.value.params).toMatchObject({ progressToken: 'p2', progress: 3 })
  wire.write(resultOf(request.id, { content: [] }))
  await client.answerTo(again)
})
