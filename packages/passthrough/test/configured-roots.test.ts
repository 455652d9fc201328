import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '@atenea/mcpcompat'
import { answerTo, arrivals, ask, call, everyAsk, given, retry } from './_util/asking.ts'
import { connected, createBackend, createRig, endAll, type Kind, resultOf } from './_util/rig.ts'

afterEach(endAll)

const roots = [{ uri: 'file:///srv/data', name: 'Data' }, { uri: 'file:///srv/more' }]
const own = { result: { roots } }

/** Whoever has none of its own, and whether questions cross. */
const rootless: readonly (readonly [front: Kind, bridgeInput: boolean, capabilities: JsonObject])[] = [
  ['modern', false, {}],
  ['modern', false, everyAsk],
  ['modern', true, {}],
  ['modern', true, { elicitation: {} }],
  ['legacy', false, {}],
  ['legacy', true, { elicitation: {} }],
]

describe('where no client has roots, a legacy backend is told of the configured ones', () => {
  test.each(rootless)(
    'BR-223: a %s client, bridged: %s, that declares %j',
    async (front, bridgeInput, capabilities) => {
      const { client, backend } = await connected(front, 'legacy', {
        client: { capabilities },
        backend: { roots },
        passthrough: { bridgeInput },
      })
      const calls = arrivals(backend)
      client.send('tools/call', call)
      const { wire, request } = await calls.next()
      expect(backend.handshakes.at(-1)).toMatchObject({ capabilities: { roots: {} } })
      ask(wire, 'during', 'roots/list', {})
      expect((await answerTo(wire, 'during')).value).toMatchObject(own)
      wire.write(resultOf(request.id, { content: [] }))
      ask(wire, 'after', 'roots/list', {})
      expect((await answerTo(wire, 'after')).value).toMatchObject(own)
      expect(await client.rest()).not.toContainEqual(expect.objectContaining({ method: 'roots/list' }))
    },
  )

  test('what else is asked is refused as it was', async () => {
    const { client, backend } = await connected('modern', 'legacy', { backend: { roots } })
    const calls = arrivals(backend)
    client.send('tools/call', call)
    const { wire } = await calls.next()
    ask(wire, 'q')
    expect((await answerTo(wire, 'q')).value.error).toMatchObject({ code: -32_601 })
    expect(backend.handshakes).toMatchObject([{ capabilities: { roots: {} } }])
    expect(Object.keys(backend.handshakes[0]?.['capabilities'] ?? {})).toEqual(['roots'])
  })

  test('BR-223: without configured roots nothing is declared, and the question is refused', async () => {
    const { client, backend } = await connected('modern', 'legacy', { backend: { roots: [] } })
    const calls = arrivals(backend)
    client.send('tools/call', call)
    const { wire } = await calls.next()
    ask(wire, 'q', 'roots/list', {})
    expect((await answerTo(wire, 'q')).value.error).toMatchObject({ code: -32_601 })
    expect(backend.handshakes).toMatchObject([{ capabilities: {} }])
    expect(backend.handshakes[0]?.['capabilities']).toEqual({})
  })
})

describe('a client with roots of its own is asked for them, and they are never mixed', () => {
  test('BR-307: a legacy one, in the words of its own declaration', async () => {
    const { client, backend } = await connected('legacy', 'legacy', {
      client: { capabilities: { roots: { listChanged: true } } },
      backend: { roots },
    })
    await client.ask('ping')
    const calls = arrivals(backend)
    client.send('tools/call', call)
    const { wire } = await calls.next()
    expect(backend.handshakes).toMatchObject([{ capabilities: { roots: { listChanged: true } } }])
    ask(wire, 'q', 'roots/list', {})
    const question = await client.next(({ method }) => method === 'roots/list')
    client.write(resultOf(question.value.id, { roots: [{ uri: 'file:///mine' }] }))
    expect((await answerTo(wire, 'q')).value.result).toEqual({ roots: [{ uri: 'file:///mine' }] })
  })

  test('BR-221, BR-223: a modern one while a call of it is open, and nobody when none is', async () => {
    const backend = createBackend({ kind: 'legacy', roots })
    const calls = arrivals(backend)
    const client = await createRig([backend], { bridgeInput: true }).client('modern', { capabilities: everyAsk })
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    ask(wire, 'in', 'roots/list', {})
    const asked = given(await client.answerTo(id))
    const again = retry(client, asked, { roots: [{ uri: 'file:///mine' }] })
    expect((await answerTo(wire, 'in')).value.result).toEqual({ roots: [{ uri: 'file:///mine' }] })
    wire.write(resultOf(request.id, { content: [] }))
    await client.answerTo(again)
    ask(wire, 'out', 'roots/list', {})
    expect((await answerTo(wire, 'out')).value).toMatchObject(own)
  })

  test('BR-223: one that can be asked no more in its call hears nothing of the configured ones', async () => {
    const backend = createBackend({ kind: 'legacy', roots })
    const calls = arrivals(backend)
    const client = await createRig([backend], { bridgeInput: true }).client('modern', { capabilities: everyAsk })
    client.send('tools/call', call)
    const { wire } = await calls.next()
    for (let i = 1; i <= 65; i++) ask(wire, `q${i}`, 'roots/list', {})
    expect((await answerTo(wire, 'q65')).value.error).toMatchObject({ code: -32_601 })
  })

  test('BR-221: the configured ones take no part when nobody brings the answer', async () => {
    const backend = createBackend({ kind: 'legacy', roots })
    const calls = arrivals(backend)
    const client = await createRig([backend], { bridgeInput: true, parkedMs: 30 }).client('modern', {
      capabilities: everyAsk,
    })
    const id = client.send('tools/call', call)
    const { wire } = await calls.next()
    ask(wire, 'q', 'roots/list', {})
    given(await client.answerTo(id))
    expect((await answerTo(wire, 'q')).value.error).toMatchObject({ code: -32_603 })
  })
})

test('BR-301: a modern backend asks in its calls, and gets none of them', async () => {
  const { rig, client, backend } = await connected('modern', 'modern', { backend: { roots } })
  const calls = arrivals(backend)
  client.send('tools/call', call)
  const { request } = await calls.next()
  expect(JSON.stringify(request)).not.toContain('roots')
  expect(rig.passthrough.status().backends).toMatchObject([{ roots: [] }])
})

test('the status names them', async () => {
  const { rig } = await connected('modern', 'legacy', { backend: { roots } })
  expect(rig.passthrough.status().backends[0]?.roots).toEqual(['file:///srv/data', 'file:///srv/more'])
})

test('MC-ROOT-02, MC-ROOT-03: what is no root is refused at once', () => {
  const backend = createBackend({ kind: 'legacy', roots: [{ uri: 'file:///a/../b' }] })
  expect(() => createRig([backend])).toThrow(new TypeError('The root "file:///a/../b" has a segment . or ..'))
})
