import { createSeal, type Seal } from '@atenea/mcpcompat'
import { withResolvers } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { AskingPool } from '../src/asking-pool.ts'
import type { BackendClient } from '../src/backend-port.ts'
import type { Link } from '../src/link.ts'
import { createMemoryParkStore, type ParkStore } from '../src/index.ts'
import {
  answerTo,
  ask,
  type Bridged,
  type BridgedOptions,
  call,
  createBridged,
  everyAsk,
  given,
  retry,
  until,
} from './_util/asking.ts'
import { createManualClock } from './_util/manual-clock.ts'
import { endAll, resultOf } from './_util/rig.ts'
import { turn, type Wire } from './_util/wire.ts'

afterEach(endAll)

/** With one connection for calls that may be asked. */
const bridged = async ({ backend, ...options }: BridgedOptions = {}): Promise<Bridged> =>
  await createBridged({ ...options, backend: { maxAskingCalls: 1, ...backend } })

describe('a client that gives up', () => {
  test('A-43, BR-224: a retry that is cancelled before it is looked at ends the call that waits, and frees its place', async () => {
    const { client, calls } = await bridged()
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    ask(wire, 'q')
    const asked = given(await client.answerTo(id))
    client.notify('notifications/cancelled', { requestId: retry(client, asked) })
    const cancelled = await wire.next(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.value.params).toEqual({ requestId: request.id })
    const next = client.send('tools/call', call)
    const other = await calls.next()
    other.wire.write(resultOf(other.request.id, { content: [] }))
    expect((await client.answerTo(next)).value.result).toMatchObject({ resultType: 'complete' })
  })

  test('A-43, BR-224: a call that is cancelled while its question is sealed does not wait for anybody', async () => {
    const seal = createSeal()
    const begun = withResolvers<void>()
    const goOn = withResolvers<void>()
    const slow: Seal = {
      ...seal,
      seal: async (...given) => {
        begun.resolve()
        await goOn.promise
        return await seal.seal(...given)
      },
    }
    const { client, calls } = await bridged({ seal: slow })
    const id = client.send('tools/call', call)
    const { wire, request } = await calls.next()
    ask(wire, 'q')
    await begun.promise
    client.notify('notifications/cancelled', { requestId: id })
    await turn()
    goOn.resolve()
    expect((await answerTo(wire, 'q')).value.result).toEqual({ action: 'cancel' })
    const cancelled = await wire.next(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.value.params).toEqual({ requestId: request.id })
    expect(await client.rest()).toEqual([])
  })
})

test('BR-224: a call that ends before a slow store has noted it takes no room there', async () => {
  const memory = createMemoryParkStore({ maxParks: 1 })
  const begun = withResolvers<void>()
  const goOn = withResolvers<void>()
  const parkStore: ParkStore = {
    put: async (park) => {
      begun.resolve()
      await goOn.promise
      return memory.put(park)
    },
    take: (...given) => memory.take(...given),
  }
  const { rig, client, calls } = await bridged({ parkStore })
  client.send('tools/call', call)
  const { wire } = await calls.next()
  ask(wire, 'q')
  await begun.promise
  await rig.passthrough[Symbol.asyncDispose]()
  goOn.resolve()
  await turn()
  const other = { id: 'other', instance: 'i', backend: 'b', size: 1, expiresAt: Date.now() + 60_000 }
  expect(memory.put(other)).toBe(true)
})

describe('a server that is still at a call which was given up', () => {
  const wait: BridgedOptions = { backend: { callTimeoutMs: 50 }, parkedMs: 50 }

  test.each<[string, BridgedOptions, (about: Bridged) => Promise<Wire>]>([
    [
      'that was cancelled',
      {},
      async ({ client, calls }) => {
        const id = client.send('tools/call', call)
        const { wire } = await calls.next()
        client.notify('notifications/cancelled', { requestId: id })
        return wire
      },
    ],
    [
      'that took too long',
      wait,
      async ({ client, calls }) => {
        const id = client.send('tools/call', call)
        const { wire } = await calls.next()
        expect((await client.answerTo(id)).value.error?.code).toBe(-32_603)
        return wire
      },
    ],
    [
      'whose client never came back',
      wait,
      async ({ client, calls }) => {
        const id = client.send('tools/call', call)
        const { wire } = await calls.next()
        ask(wire, 'q')
        given(await client.answerTo(id))
        expect((await answerTo(wire, 'q')).value.result).toEqual({ action: 'cancel' })
        return wire
      },
    ],
    [
      'whose client cancelled its retry',
      {},
      async ({ client, calls }) => {
        const id = client.send('tools/call', call)
        const { wire } = await calls.next()
        ask(wire, 'q')
        const again = retry(client, given(await client.answerTo(id)))
        await answerTo(wire, 'q')
        client.notify('notifications/cancelled', { requestId: again })
        return wire
      },
    ],
  ])('BR-223: %s asks nobody else: its connection carries no other call', async (_what, options, giveUp) => {
    const about = await bridged(options)
    const old = await giveUp(about)
    await old.next(({ method }) => method === 'notifications/cancelled')
    const other = await about.rig.client('modern', { capabilities: everyAsk })
    const id = other.send('tools/call', call)
    const { wire, request } = await about.calls.next()
    expect(wire).not.toBe(old)
    ask(old, 'late')
    await turn()
    wire.write(resultOf(request.id, { content: [] }))
    expect((await other.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
    await until(() => old.closed)
  })

  test('BR-223: what else is open on its connection goes on', async () => {
    const { client, calls } = await bridged()
    const id = client.send('tools/call', call)
    const { wire } = await calls.next()
    const list = client.send('resources/list')
    const { request, wire: same } = await calls.next()
    expect(same).toBe(wire)
    client.notify('notifications/cancelled', { requestId: id })
    await wire.next(({ method }) => method === 'notifications/cancelled')
    wire.write(resultOf(request.id, { resources: [] }))
    expect((await client.answerTo(list)).value.result).toMatchObject({ resources: [] })
    await until(() => wire.closed)
  })
})

const nobodys = { principal: { id: 'a', authenticated: true } } as BackendClient

test('BR-223: a place that cannot be taken goes to the next one who waits', async () => {
  const link = { openCalls: 0, lastUsed: 0 } as Link
  let failures = 0
  const pool = new AskingPool({
    size: 1,
    waitMs: 10_000,
    clock: createManualClock(),
    find: () => undefined,
    open: () => {
      if (failures-- > 0) throw new Error('no room')
      return link
    },
    retire: () => undefined,
    busy: () => new Error('busy'),
  })
  const { signal } = new AbortController()
  const first = await pool.acquire(nobodys, signal)
  const second = pool.acquire(nobodys, signal)
  const third = pool.acquire(nobodys, signal)
  failures = 1
  first.release()
  await expect(second).rejects.toThrow('no room')
  expect((await third).link).toBe(link)
})
