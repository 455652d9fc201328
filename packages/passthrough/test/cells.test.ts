import { afterEach, describe, expect, test } from 'vitest'
import { cells, connected, createBackend, createRig, endAll, type Kind, resultOf } from './_util/rig.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

describe.each(cells)('a %s client of a %s backend', (front, back) => {
  test('BR-101, BR-201, BR-301, BR-307: gets what a call leads to', async () => {
    const { client, backend } = await connected(front, back)
    const id = client.send('tools/call', { name: 'a', arguments: { x: 1 } })
    const request = await backend.request('tools/call')
    expect(request.value.params).toMatchObject({ name: 'a', arguments: { x: 1 } })
    backend.wire.write(resultOf(request.value.id, { content: [{ type: 'text', text: 'hi' }] }))
    const answer = await client.answerTo(id)
    expect(answer.value.result).toMatchObject({ content: [{ type: 'text', text: 'hi' }] })
    expect('resultType' in (answer.value.result ?? {})).toBe(front === 'modern')
  })
})

describe('the era of a backend', () => {
  const call = { name: 'a', arguments: {} }

  test.each(['legacy', 'modern'] as const)('is found out and kept apart from what was asked for (%s)', async (back) => {
    const { rig } = await connected('modern', back)
    const [backend] = rig.passthrough.status().backends
    const observed = { legacy: '2025-06-18', modern: '2026-07-28' }[back]
    expect(backend).toMatchObject({ state: 'ready', observed, info: { name: 'fake', title: 'Fake' }, connections: 1 })
    expect(rig.events).toMatchObject([{ kind: 'connected', backend: 'back', observed, restart: false }])
  })

  test('a modern pin discovers before the first request, and refuses a legacy backend', async () => {
    const modern = createBackend({ kind: 'modern', mode: 'modern' })
    const first = await createRig([modern]).client('modern')
    first.send('tools/call', call)
    await turn()
    expect((await modern.request('tools/call')).value.id).toBe(2)
    const legacy = createBackend({ kind: 'legacy', mode: 'modern' })
    const second = await createRig([legacy]).client('modern')
    const { error } = (await second.ask('tools/call', call)).value
    expect(error).toMatchObject({ code: -32_603, message: expect.stringMatching(/cannot be spoken with/) })
    expect(legacy.handshakes).toEqual([])
  })

  test('a legacy pin shakes hands at once, whatever else the backend speaks', async () => {
    const backend = createBackend({ kind: 'modern', mode: 'legacy' })
    const client = await createRig([backend]).client('modern')
    client.send('tools/call', call)
    await turn()
    await backend.request('tools/call')
    expect(backend.handshakes).toHaveLength(1)
  })

  test.each(['legacy', 'modern'] as Kind[])('nothing is connected before somebody needs it (%s)', async (back) => {
    const backend = createBackend({ kind: back })
    const rig = createRig([backend])
    const client = await rig.client('modern')
    expect(backend.wires).toEqual([])
    expect(rig.passthrough.status().backends[0]).toMatchObject({ state: 'idle', observed: undefined, connections: 0 })
    await client.ask('server/discover')
    expect(backend.wires).toHaveLength(1)
  })
})
