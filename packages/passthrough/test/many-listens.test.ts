import { metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { createManualClock, type ManualClock } from './_util/manual-clock.ts'
import { offer, type OfferingBackend, tool } from './_util/offering.ts'
import { createRig, endAll, type FrontClient } from './_util/rig.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

const acknowledged = 'notifications/subscriptions/acknowledged'
const toolsChanged = 'notifications/tools/list_changed'
const promptsChanged = 'notifications/prompts/list_changed'
const resourceUpdated = 'notifications/resources/updated'

const resource = (uri: string): string => `{"uri":${JSON.stringify(uri)},"name":"n"}`

const both = (): [OfferingBackend, OfferingBackend] => [
  offer('a', { tools: [tool('x')], resources: [resource('a://1'), resource('a://2')] }),
  offer('b', { tools: [tool('x')], resources: [resource('b://1')] }, { kind: 'legacy' }),
]

async function listen(
  client: FrontClient,
  notifications: Record<string, unknown>,
): Promise<{ id: number; granted: unknown }> {
  const id = client.send('subscriptions/listen', { notifications: notifications as never })
  const { value } = await client.next(
    ({ method, params }) =>
      method === acknowledged &&
      (params?.['_meta'] as Record<string, unknown> | undefined)?.[metaKey.subscriptionId] === id,
  )
  return { id, granted: value.params?.['notifications'] }
}

/** Lets time pass step by step, and everything happen that follows. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let step = 0; step < 20; step++) {
    await turn()
    clock.advance(ms / 20)
  }
  await turn()
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

/** What was said on each listen, in order. */
async function heard(client: FrontClient): Promise<readonly (readonly [unknown, string | undefined, unknown])[]> {
  await turn()
  return (await client.rest()).map(({ method, params }) => [
    (params?.['_meta'] as Record<string, unknown> | undefined)?.[metaKey.subscriptionId],
    method,
    params?.['uri'],
  ])
}

describe('BR-305: subscriptions to several backends', () => {
  test('MC-SUB-06: one acknowledgement for all, of what any of them grants', async () => {
    const [a, b] = both()
    const client = await createRig([a, b]).client('modern')
    const { granted } = await listen(client, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['a://1', 'b://1', 'nobody://1'],
    })
    expect(granted).toEqual({ toolsListChanged: true, resourceSubscriptions: ['a://1', 'b://1'] })
    expect(await heard(client)).toEqual([])
  })

  test('each client hears what it asked for, under its own tag, once', async () => {
    const [a, b] = both()
    const rig = createRig([a, b])
    const one = await rig.client('modern')
    const two = await rig.client('modern')
    const tools = await listen(one, { toolsListChanged: true })
    const first = await listen(two, { resourceSubscriptions: ['a://1'] })
    const second = await listen(two, { toolsListChanged: true, resourceSubscriptions: ['a://1', 'b://1'] })
    a.tell(toolsChanged)
    a.tell(resourceUpdated, { uri: 'a://1' })
    b.tell(resourceUpdated, { uri: 'b://1' })
    a.tell(resourceUpdated, { uri: 'a://2' })
    a.tell(promptsChanged)
    expect(await heard(one)).toEqual([[tools.id, toolsChanged, undefined]])
    expect((await heard(two)).toSorted(byText)).toEqual(
      [
        [first.id, resourceUpdated, 'a://1'],
        [second.id, toolsChanged, undefined],
        [second.id, resourceUpdated, 'a://1'],
        [second.id, resourceUpdated, 'b://1'],
      ].toSorted(byText),
    )
  })

  test('BR-206: a legacy backend is asked for each resource once, however many want it, and let go with the last', async () => {
    const [a, b] = both()
    const rig = createRig([a, b])
    const client = await rig.client('modern')
    const first = await listen(client, { resourceSubscriptions: ['b://1'] })
    const second = await listen(client, { resourceSubscriptions: ['b://1'] })
    expect(b.count('resources/subscribe')).toBe(1)
    client.notify('notifications/cancelled', { requestId: first.id })
    await turn()
    expect(b.count('resources/unsubscribe')).toBe(0)
    b.tell(resourceUpdated, { uri: 'b://1' })
    expect(await heard(client)).toEqual([[second.id, resourceUpdated, 'b://1']])
    client.notify('notifications/cancelled', { requestId: second.id })
    await turn()
    expect(b.count('resources/unsubscribe')).toBe(1)
  })

  test('one listen of a backend serves all clients', async () => {
    const [a, b] = both()
    const rig = createRig([a, b])
    for (let index = 0; index < 5; index++) {
      await listen(await rig.client('modern'), { toolsListChanged: true, resourceSubscriptions: ['a://1'] })
    }
    await turn()
    // one for its lists, and one more that takes over when a resource is wanted as well
    expect(a.count('subscriptions/listen')).toBe(2)
  })

  test('a backend that is down is left out; what it changes is told once it is back', async () => {
    const [a, b] = both()
    const fake = Object.getPrototypeOf(a) as OfferingBackend
    fake.refuses = new Error('down')
    const rig = createRig([a, b], { waitMs: 200 })
    const client = await rig.client('modern')
    const { id, granted } = await listen(client, { toolsListChanged: true, resourceSubscriptions: ['a://1'] })
    expect(granted).toEqual({ toolsListChanged: true })
    fake.refuses = undefined
    const back = await client.next(({ method }) => method === toolsChanged)
    expect(back.value.params?.['_meta']).toEqual({ [metaKey.subscriptionId]: id })
    a.tell(toolsChanged)
    a.tell(resourceUpdated, { uri: 'a://1' })
    expect(await heard(client)).toEqual([[id, toolsChanged, undefined]])
  })

  test('a lost backend is listened to again, and what may have been missed is told once', async () => {
    const [a, b] = both()
    const rig = createRig([a, b])
    const client = await rig.client('modern')
    const { id } = await listen(client, { toolsListChanged: true, resourceSubscriptions: ['a://1'] })
    a.wire.break()
    const missed = [await client.next(), await client.next()].map(({ value }) => [value.method, value.params?.['uri']])
    expect(missed.toSorted(byText)).toEqual([
      [resourceUpdated, 'a://1'],
      [toolsChanged, undefined],
    ])
    a.tell(toolsChanged)
    expect(await heard(client)).toEqual([[id, toolsChanged, undefined]])
  })

  test('the same change is told ten times a second, and the last of more in the next: it may go round through a proxy that has this one as a server', async () => {
    const clock = createManualClock()
    const [a, b] = both()
    const client = await createRig([a, b], { clock }).client('modern')
    const { id } = await listen(client, { toolsListChanged: true, resourceSubscriptions: ['a://1'] })
    for (let round = 0; round < 25; round++) a.tell(toolsChanged)
    a.tell(resourceUpdated, { uri: 'a://1' })
    const tools = [id, toolsChanged, undefined]
    expect(await heard(client)).toEqual([...Array.from({ length: 10 }, () => tools), [id, resourceUpdated, 'a://1']])
    clock.advance(999)
    expect(await heard(client)).toEqual([])
    clock.advance(1)
    expect(await heard(client)).toEqual([tools])
    clock.advance(5_000)
    expect(await heard(client)).toEqual([])
    a.tell(toolsChanged)
    expect(await heard(client)).toEqual([tools])
  })

  test('what waits for its second is told before the closing result', async () => {
    const [a, b] = both()
    const rig = createRig([a, b], { clock: createManualClock() })
    const client = await rig.client('modern')
    const { id } = await listen(client, { toolsListChanged: true })
    for (let round = 0; round < 11; round++) a.tell(toolsChanged)
    await turn()
    await rig.passthrough.drain()
    expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
    expect((await client.rest()).filter(({ method }) => method === toolsChanged)).toHaveLength(11)
  })

  test('a backend is followed for as long as somebody reads its lists or listens, so that its connection may become idle', async () => {
    const clock = createManualClock()
    const [a, b] = both()
    const rig = createRig([a, b], { clock })
    const client = await rig.client('modern')
    await client.ask('tools/list')
    const { id } = await listen(client, { toolsListChanged: true })
    await pass(clock, 3_600_000)
    expect(a.count('subscriptions/listen')).toBe(1)
    expect((await a.wire.rest()).map(({ method }) => method)).not.toContain('notifications/cancelled')
    client.notify('notifications/cancelled', { requestId: id })
    await turn()
    await pass(clock, 600_000)
    expect((await a.wire.rest()).map(({ method }) => method)).toContain('notifications/cancelled')
    await client.ask('tools/list')
    expect(a.count('subscriptions/listen')).toBe(2)
  })

  test('the end of the proxy gives each its closing result', async () => {
    const [a, b] = both()
    const rig = createRig([a, b])
    const client = await rig.client('modern')
    const { id } = await listen(client, { toolsListChanged: true })
    await rig.passthrough.drain()
    expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
    const late = await client.ask('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect(late.value.error?.code).toBe(-32_603)
  })

  test('MC-SUB-01: a filter that is none is refused', async () => {
    const client = await createRig(both()).client('modern')
    const { value } = await client.ask('subscriptions/listen', { notifications: { resourceSubscriptions: [1] } })
    expect(value.error?.code).toBe(-32_602)
  })
})

describe('a legacy client of several backends', () => {
  test('BR-107, BR-130: subscribes to what belongs to any of them, and hears of their lists', async () => {
    const [a, b] = both()
    const client = await createRig([a, b]).client('legacy')
    expect((await client.ask('resources/subscribe', { uri: 'a://1' })).value.result).toEqual({})
    expect((await client.ask('resources/subscribe', { uri: 'b://1' })).value.result).toEqual({})
    expect((await client.ask('resources/subscribe', { uri: 'nobody://1' })).value.error?.code).toBe(-32_602)
    await turn()
    a.tell(resourceUpdated, { uri: 'a://1' })
    b.tell(resourceUpdated, { uri: 'b://1' })
    b.tell(toolsChanged)
    expect((await heard(client)).map(([, method, uri]) => [method, uri]).toSorted(byText)).toEqual([
      [resourceUpdated, 'a://1'],
      [resourceUpdated, 'b://1'],
      [toolsChanged, undefined],
    ])
  })

  test('BR-109: its level of log messages reaches the backend that it calls', async () => {
    const [a, b] = both()
    const client = await createRig([a, b]).client('legacy')
    await client.ask('logging/setLevel', { level: 'debug' })
    await client.ask('tools/call', { name: 'a__x', arguments: {} })
    const call = a.requests.find(({ method }) => method === 'tools/call')
    expect(call?.params?.['_meta']).toMatchObject({ 'io.modelcontextprotocol/logLevel': 'debug' })
  })

  test('E7, B13: a cancel reaches the one backend that was called, by the id that it knows', async () => {
    const [a, b] = both()
    a.offering.answer = ({ method }) => (method === 'tools/call' ? undefined : 'as usual')
    const client = await createRig([a, b]).client('legacy')
    const id = client.send('tools/call', { name: 'a__x', arguments: {} })
    await expect.poll(() => a.count('tools/call')).toBe(1)
    const call = a.requests.find(({ method }) => method === 'tools/call')
    client.notify('notifications/cancelled', { requestId: id })
    const cancel = await a.wire.next(
      ({ method, params }) => method === 'notifications/cancelled' && params?.['requestId'] === call?.id,
    )
    expect(cancel.value.params?.['requestId']).toBe(call?.id)
    expect((await b.wire.rest()).filter(({ method }) => method === 'notifications/cancelled')).toEqual([])
  })
})
