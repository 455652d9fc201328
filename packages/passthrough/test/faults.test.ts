import { createRevisionPolicy, type JsonObject, legacyRevision, TransportError } from '@atenea/mcpcompat'
import { createServerSession, metaKey, parseMessage, type RpcMessage } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import type { BackendOptions } from '../src/index.ts'
import { createManualClock, type ManualClock } from './_util/manual-clock.ts'
import {
  cells,
  type CreateBackendOptions,
  createBackend,
  createRig,
  endAll,
  type FakeBackend,
  type FrontClient,
  type Kind,
  type Rig,
  resultOf,
  metaIn,
} from './_util/rig.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

interface Setup {
  readonly clock: ManualClock
  readonly rig: Rig
  readonly client: FrontClient
  readonly backend: FakeBackend
}

async function setup(front: Kind, back: Kind, options: Partial<CreateBackendOptions> = {}): Promise<Setup> {
  const clock = createManualClock()
  const backend = createBackend({ kind: back, acknowledges: front === 'legacy', ...options })
  const rig = createRig([backend], { clock })
  const client = await rig.client(front)
  if (front === 'modern') await client.ask('server/discover')
  return { clock, rig, client, backend }
}

const call = { name: 't', arguments: {} }
const result = { resultType: 'complete', content: [] }

const progress = (id: unknown, value: number): JsonObject => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: id as number, progress: value },
})

describe.each(cells)('a %s client of a %s backend', (front, back) => {
  test('BR-235, F11: the calls of a backend that dies fail at once, and none is made again', async () => {
    const { client, backend, rig } = await setup(front, back)
    const ids = [client.send('tools/call', call), client.send('tools/call', call)]
    await backend.request('tools/call')
    await backend.request('tools/call')
    backend.wire.break()
    for (const id of ids) {
      const { error } = (await client.answerTo(id)).value
      expect(error).toMatchObject({ code: -32_603, message: expect.stringContaining('not repeated') })
    }
    expect(rig.events).toContainEqual(expect.objectContaining({ kind: 'lost', backend: 'back', failedCalls: 2 }))
    // The next call starts it again, and a subscription does so by itself.
    expect(backend.wires.length).toBeLessThanOrEqual(2)
    const next = client.send('tools/call', call)
    await turn()
    expect(backend.wires).toHaveLength(2)
    const request = await backend.request('tools/call')
    expect((await backend.wire.rest()).filter(({ method }) => method === 'tools/call')).toEqual([])
    backend.wire.write(resultOf(request.value.id, result))
    expect((await client.answerTo(next)).value.result).toMatchObject({ content: [] })
    expect(rig.passthrough.status().backends[0]).toMatchObject({ state: 'ready', restarts: 1 })
  })

  test.each([
    ['what Python writes for no number', '"result":{"content":[],"structuredContent":{"x":NaN}}}'],
    ['a result that is no object', '"result":"done"}'],
    ['both a result and an error', '"result":{},"error":{"code":1,"message":"m"}}'],
    ['an error without a message', '"error":{"code":1}}'],
    ['nothing at all', '"x":1}'],
  ])('D19, D5: an answer with %s ends its call at once, and no other', async (_, rest) => {
    const { client, backend } = await setup(front, back)
    const id = client.send('tools/call', call)
    const broken = await backend.request('tools/call')
    const other = client.send('tools/call', call)
    const whole = await backend.request('tools/call')
    backend.wire.write(`{"jsonrpc":"2.0","id":${JSON.stringify(broken.value.id)},${rest}`)
    const { error } = (await client.answerTo(id)).value
    expect(error).toMatchObject({ code: -32_603, message: expect.stringMatching(/^Backend "back" .*cannot be read/) })
    backend.wire.write(resultOf(whole.value.id, result))
    expect((await client.answerTo(other)).value.result).toMatchObject({ content: [] })
  })

  test('D19, E4: an array ends the calls that its members were to answer', async () => {
    const { client, backend } = await setup(front, back)
    const id = client.send('tools/call', call)
    const request = await backend.request('tools/call')
    backend.wire.write(JSON.stringify([1, { jsonrpc: '2.0', method: 'x' }, resultOf(request.value.id, result)]))
    expect((await client.answerTo(id)).value.error).toMatchObject({ message: expect.stringContaining('an array') })
  })

  test('F11: a call that meets a connection which has ended is made on the next one, since it was never sent', async () => {
    const { client, backend } = await setup(front, back)
    backend.wire.refuseWrites()
    const id = client.send('tools/call', call)
    await turn()
    const request = await backend.request('tools/call')
    expect(backend.wires).toHaveLength(2)
    backend.wire.write(resultOf(request.value.id, result))
    expect((await client.answerTo(id)).value.result).toBeDefined()
  })

  test('callers that come together share one connecting', async () => {
    const { client, backend } = await setup(front, back)
    backend.wire.break()
    await turn()
    backend.onRequest = () => result
    const answers = await Promise.all([1, 2, 3].map(async () => await client.ask('tools/call', call)))
    expect(answers.map(({ value }) => value.error)).toEqual([undefined, undefined, undefined])
    expect(backend.wires).toHaveLength(2)
  })

  test('BR-308: a backend that does not answer in time is told, and the caller hears it', async () => {
    const { client, backend, rig, clock } = await setup(front, back, { callTimeoutMs: 1_000 })
    const id = client.send('tools/call', call)
    const request = await backend.request('tools/call')
    clock.advance(1_100)
    const cancel = await backend.request('notifications/cancelled')
    expect(cancel.value.params?.['requestId']).toBe(request.value.id)
    expect((await client.answerTo(id)).value.error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('did not answer within'),
    })
    expect(rig.events).toContainEqual(expect.objectContaining({ kind: 'timeout', method: 'tools/call' }))
    backend.wire.write(resultOf(request.value.id, result))
    expect(await client.rest()).toEqual([])
  })

  test('BR-308: progress gives a call more time, up to a ceiling', async () => {
    const { client, backend, clock } = await setup(front, back, { callTimeoutMs: 1_000, maxCallMs: 3_000 })
    const id = client.send('tools/call', call, { progressToken: 'p' })
    const request = await backend.request('tools/call')
    const token = metaIn(request)['progressToken']
    for (let step = 1; step <= 3; step++) {
      clock.advance(800)
      backend.wire.write(progress(token, step))
      await turn()
    }
    clock.advance(500)
    expect((await client.rest()).filter((message) => message.id === id)).toEqual([])
    backend.wire.write(progress(token, 9))
    await turn()
    clock.advance(200)
    expect((await client.answerTo(id)).value.error?.message).toContain('did not answer within')
  })

  test('more calls than a backend may have at once are refused, not kept', async () => {
    const { client, backend } = await setup(front, back, { maxInFlight: 4 })
    for (let n = 0; n < 5; n++) client.send('tools/call', call)
    const { error } = (await client.next(({ error }) => error !== undefined)).value
    expect(error).toMatchObject({ code: -32_603, message: expect.stringContaining('busy') })
    expect(backend.wires).toHaveLength(1)
  })

  test('no connection is left after the end', async () => {
    const { rig, client, backend } = await setup(front, back)
    client.send('tools/call', call)
    await backend.request('tools/call')
    await rig.passthrough[Symbol.asyncDispose]()
    expect(backend.wires.map(({ closed }) => closed)).toEqual([true])
    expect(rig.passthrough.status().backends[0]).toMatchObject({ state: 'closed', connections: 0 })
    const late = await client.ask('tools/call', call)
    expect(late.value.error?.code).toBe(-32_603)
    expect(backend.wires).toHaveLength(1)
  })
})

test.each(['legacy', 'modern'] as const)(
  'a result that is none is -32603 to a %s client, with nothing of it',
  async (front) => {
    const { client, backend } = await setup(front, 'modern')
    const id = client.send('tools/list')
    const request = await backend.request('tools/list')
    backend.wire.write(resultOf(request.value.id, { resultType: 7, secret: 'zzz' }))
    const { text, value } = await client.answerTo(id)
    expect(value.error?.code).toBe(-32_603)
    expect(text).not.toContain('zzz')
  },
)

describe.each(['legacy', 'modern'] as const)('a %s backend that does not start', (back) => {
  test('the pauses between starts grow, calls within them fail at once, and a good call resets them', async () => {
    const { client, backend, rig, clock } = await setup('modern', back, { backoff: { firstMs: 100, maxMs: 350 } })
    backend.refuses = new TransportError('unreachable', 'no such command', { retryable: true })
    backend.wire.break()
    await turn()
    for (const pauseMs of [200, 350, 350]) {
      const { error } = (await client.ask('tools/call', call)).value
      expect(error).toMatchObject({ code: -32_603, message: expect.stringContaining('no such command') })
      expect(rig.passthrough.status().backends[0]).toMatchObject({
        state: 'waiting',
        lastError: { message: 'no such command' },
      })
      expect((await client.ask('tools/call', call)).value.error?.message).toContain('is down')
      clock.advance(pauseMs - 1)
      expect((await client.ask('tools/call', call)).value.error?.message).toContain('is down')
      clock.advance(1)
    }
    backend.refuses = undefined
    const id = client.send('tools/call', call)
    await turn()
    const request = await backend.request('tools/call')
    backend.wire.write(resultOf(request.value.id, result))
    await client.answerTo(id)
    backend.wire.break()
    await turn()
    client.send('tools/call', call)
    await turn()
    expect((await backend.request('tools/call')).value.method).toBe('tools/call')
  })
})

describe('subscriptions over a loss', () => {
  test.each(cells)(
    'BR-131, BR-235: %s client, %s backend: one change of each kind after the backend is back',
    async (front, back) => {
      const { client, backend, clock } = await setup(front, back, { acknowledges: false })
      const uri = 'a:b'
      /** Grants what is asked of the backend for one subscription. */
      const grant = async (): Promise<void> => {
        if (back === 'legacy') {
          const subscribe = await backend.request('resources/subscribe')
          backend.wire.write(resultOf(subscribe.value.id, {}))
          return
        }
        const listen = await backend.wire.next(
          ({ method, params }) =>
            method === 'subscriptions/listen' &&
            (params?.['notifications'] as JsonObject | undefined)?.['resourceSubscriptions'] !== undefined,
        )
        backend.wire.write({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: {
            notifications: listen.value.params?.['notifications'] as JsonObject,
            _meta: { [metaKey.subscriptionId]: listen.value.id },
          },
        })
      }
      if (front === 'legacy') {
        if (back === 'modern') {
          const first = await backend.request('subscriptions/listen')
          backend.wire.write({
            jsonrpc: '2.0',
            method: 'notifications/subscriptions/acknowledged',
            params: {
              notifications: { toolsListChanged: true },
              _meta: { [metaKey.subscriptionId]: first.value.id },
            },
          })
        }
        client.send('resources/subscribe', { uri })
      } else {
        client.send('subscriptions/listen', { notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } })
      }
      await grant()
      await turn()
      await client.rest()
      backend.refuses = new TransportError('unreachable', 'still down', { retryable: true })
      backend.wire.break()
      await turn()
      expect(await client.rest()).toEqual([])
      backend.refuses = undefined
      clock.advance(5_000)
      await turn()
      await grant()
      await turn()
      const told = (await client.rest()).map(({ method, params }) => [method, params?.['uri']])
      expect(told).toContainEqual(['notifications/tools/list_changed', undefined])
      expect(told).toContainEqual(['notifications/resources/updated', uri])
      expect(new Set(told.map((entry) => JSON.stringify(entry))).size).toBe(told.length)
    },
  )

  test('BR-131: a subscription that is acknowledged and ended again and again is opened with growing pauses', async () => {
    const { client, backend, clock } = await setup('modern', 'modern', { acknowledges: true })
    let listens = 0
    backend.onRequest = ({ method }) => (method === 'tools/list' ? { resultType: 'complete', tools: [] } : undefined)
    const end = async (): Promise<void> => {
      await turn()
      const open = backend.wire.acknowledged.splice(0)
      listens += open.length
      for (const id of open) backend.wire.write(resultOf(id, { resultType: 'complete' }))
      await turn()
    }
    client.send('subscriptions/listen', { notifications: { toolsListChanged: true } })
    await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    for (let round = 0; round < 10; round++) await end()
    expect(listens).toBe(2) // the first is made good at once
    clock.advance(500)
    await end()
    await end()
    expect(listens).toBe(3)
    clock.advance(999)
    await end()
    expect(listens).toBe(3)
    clock.advance(1)
    await end()
    expect(listens).toBe(4)
    const told = (await client.rest()).map(({ method }) => method)
    expect(told).toEqual(Array.from({ length: 3 }, () => 'notifications/tools/list_changed'))
  })

  test('BR-235: a backend that comes back with something else ends the listen with its result', async () => {
    const { client, backend } = await setup('modern', 'legacy')
    const id = client.send('subscriptions/listen', { notifications: { toolsListChanged: true } })
    await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    backend.capabilities = { tools: { listChanged: true }, prompts: {} }
    backend.wire.break()
    expect((await client.answerTo(id)).value.result).toMatchObject({ resultType: 'complete' })
  })
})

describe('a backend that is replaced', () => {
  test('one that turns modern serves everybody on one connection', async () => {
    const legacy = createBackend({ kind: 'legacy' })
    const modern = createBackend({ kind: 'modern' })
    let current = legacy
    const options: BackendOptions = { name: 'back', connect: async (given) => await current.options.connect(given) }
    const rig = createRig([Object.create(legacy, { options: { value: options } }) as FakeBackend])
    const a = await rig.client('legacy')
    const b = await rig.client('legacy')
    expect(legacy.wires).toHaveLength(2)
    current = modern
    modern.onRequest = ({ method }) => (method === 'tools/call' ? result : undefined)
    for (const wire of legacy.wires) wire.break()
    await turn()
    for (const client of [a, b]) {
      expect((await client.ask('tools/call', call)).value.result).toEqual({ content: [] })
    }
    expect(modern.wires).toHaveLength(1)
    expect(rig.passthrough.status().backends[0]).toMatchObject({ observed: '2026-07-28', connections: 1 })
  })

  test('one that turns legacy gets a connection for each client', async () => {
    const legacy = createBackend({ kind: 'legacy' })
    const modern = createBackend({ kind: 'modern' })
    let current = modern
    const options: BackendOptions = { name: 'back', connect: async (given) => await current.options.connect(given) }
    const rig = createRig([Object.create(legacy, { options: { value: options } }) as FakeBackend])
    const a = await rig.client('legacy', { info: { name: 'a', version: '1' } })
    const b = await rig.client('legacy', { info: { name: 'b', version: '1' } })
    current = legacy
    legacy.onRequest = ({ method }) => (method === 'tools/call' ? { content: [] } : {})
    modern.wire.break()
    await turn()
    for (const client of [a, b]) {
      expect((await client.ask('tools/call', call)).value.result).toEqual({ content: [] })
    }
    const open = legacy.wires.filter(({ closed }) => !closed)
    expect(open).toHaveLength(2)
  })
})

describe('the end', () => {
  test('a connection that is being made is given up, and its callers hear of it', async () => {
    let signal: AbortSignal | undefined
    const options: BackendOptions = {
      name: 'back',
      connect: async (given) => {
        ;({ signal } = given)
        return await new Promise((_resolve, reject) => {
          given.signal.addEventListener('abort', () => reject(given.signal.reason as Error))
        })
      },
    }
    const rig = createRig([
      Object.create(createBackend({ kind: 'legacy' }), { options: { value: options } }) as FakeBackend,
    ])
    const client = await rig.client('modern')
    const id = client.send('tools/call', call)
    await turn()
    expect(rig.passthrough.status().backends[0]).toMatchObject({ state: 'connecting' })
    await rig.passthrough[Symbol.asyncDispose]()
    expect(signal?.aborted).toBe(true)
    expect((await client.answerTo(id)).value.error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining('shutting down'),
    })
    expect(rig.passthrough.status().backends[0]).toMatchObject({ state: 'closed' })
  })

  test('BR-308: a connection that takes too long is given up, and tried again with the next call', async () => {
    let tries = 0
    const clock = createManualClock()
    const options: BackendOptions = {
      name: 'back',
      connectTimeoutMs: 50,
      backoff: { firstMs: 10 },
      connect: async ({ signal }) => {
        tries++
        return await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
    }
    const backend = Object.create(createBackend({ kind: 'legacy' }), { options: { value: options } }) as FakeBackend
    const client = await createRig([backend], { clock }).client('modern')
    const first = (await client.ask('tools/call', call)).value.error
    expect(first?.message).toMatch(/did not answer in time: The connection was not made within 50 ms/)
    clock.advance(10)
    const second = (await client.ask('tools/call', call)).value.error
    expect([second?.code, tries]).toEqual([-32_603, 2])
  })

  test('what a listener of events throws disturbs nobody', async () => {
    const backend = createBackend({ kind: 'legacy' })
    backend.onRequest = () => ({ content: [] })
    const onEvent = (): void => {
      throw new Error('a listener broke')
    }
    const client = await createRig([backend], { onEvent }).client('modern')
    expect((await client.ask('tools/call', call)).value.result).toBeDefined()
  })
})

describe('sessions', () => {
  test('there are only so many; those of nobody go first', async () => {
    const backend = createBackend({ kind: 'legacy', maxSessions: 2 })
    const rig = createRig([backend])
    backend.onRequest = () => ({ content: [] })
    for (const id of ['a', 'b', 'c']) {
      const client = await rig.client('modern', { principal: { id, authenticated: true } })
      expect((await client.ask('tools/call', call)).value.result).toBeDefined()
      await turn()
    }
    expect(backend.wires.map(({ closed }) => closed)).toEqual([true, false, false])
    await rig.client('legacy')
    await rig.client('legacy')
    const full = await rig.client('legacy')
    const hello = { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    expect((await full.ask('initialize', hello)).value.error).toEqual({
      code: -32_603,
      message: 'Backend "back" is busy: it has 2 sessions open',
      data: { retryAfterMs: 5_000 },
    })
    expect((await full.ask('tools/call', call)).value.error?.code).toBeDefined()
    expect(backend.wires).toHaveLength(5)
  })

  test('clients that keep theirs do not take the places of those who share one', async () => {
    const backend = createBackend({ kind: 'legacy', maxSessions: 2 })
    const rig = createRig([backend])
    backend.onRequest = () => ({ content: [] })
    for (let i = 0; i < 3; i++) await rig.client('legacy')
    expect(backend.wires).toHaveLength(2)
    for (const id of ['a', 'b', 'c']) {
      const client = await rig.client('modern', { principal: { id, authenticated: true } })
      expect((await client.ask('tools/call', call)).value.result).toBeDefined()
      await turn()
    }
    expect(backend.wires.map(({ closed }) => closed)).toEqual([false, false, true, false, false])
  })

  test('with several backends a handshake is refused when there is room at none, and goes well when there is at one', async () => {
    const full = createBackend({ kind: 'legacy', name: 'full', maxSessions: 1 })
    const other = createBackend({ kind: 'legacy', name: 'other', maxSessions: 2 })
    for (const backend of [full, other]) backend.onRequest = () => ({ content: [], tools: [] })
    const rig = createRig([full, other])
    const hello = { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    await rig.client('legacy')
    const second = await rig.client('legacy')
    expect((await second.ask('tools/list')).value.result).toBeDefined()
    const third = await rig.client('legacy')
    expect((await third.ask('initialize', hello)).value.error).toMatchObject({
      message: expect.stringMatching(/is busy/),
      data: { retryAfterMs: 5_000 },
    })
  })

  test('one that nobody uses is closed, and made anew when it is needed', async () => {
    const { clock, client, backend } = await setup('modern', 'legacy', { idleSessionMs: 1_000 })
    backend.onRequest = () => ({ content: [] })
    await client.ask('tools/call', call)
    clock.advance(900)
    await turn()
    expect(backend.wire.closed).toBe(false)
    clock.advance(1_000)
    await turn()
    expect(backend.wire.closed).toBe(true)
    expect((await client.ask('tools/call', call)).value.result).toBeDefined()
    expect(backend.wires).toHaveLength(2)
  })

  /** A client that keeps a session but holds no stream open, as many do on HTTP. */
  async function unheardClient(options: Partial<CreateBackendOptions> = {}) {
    const clock = createManualClock()
    const backend = createBackend({ kind: 'legacy', unheardSessionMs: 1_000, ...options })
    backend.onRequest = () => ({ content: [] })
    const { passthrough } = createRig([backend], { clock })
    const told: RpcMessage[] = []
    const port = { send: (message: RpcMessage) => void told.push(message), clock, isReachable: false }
    const session = createServerSession(passthrough, port, { policy: createRevisionPolicy() })
    const say = async (message: JsonObject): Promise<void> => {
      const parsed = parseMessage(JSON.stringify({ jsonrpc: '2.0', ...message }), 'text')
      session.receive(parsed as RpcMessage, { principal: { id: 'p', authenticated: true }, hints: {} })
      await turn()
    }
    const clientInfo = { name: 'c', version: '1' }
    const params = { protocolVersion: legacyRevision, capabilities: {}, clientInfo }
    await say({ id: 0, method: 'initialize', params })
    await say({ method: 'notifications/initialized' })
    await say({ id: 1, method: 'tools/call', params: call })
    const silence = async (ms: number): Promise<void> => {
      clock.advance(ms)
      await turn()
    }
    return { clock, backend, passthrough, port, session, told, say, silence }
  }

  test('the connection of a client that would hear of nothing and is silent for long is closed until it calls again', async () => {
    const { backend, passthrough, session, told, say, silence } = await unheardClient()
    await silence(900)
    expect(backend.wire.closed).toBe(false)
    await silence(1_000)
    expect(backend.wire.closed).toBe(true)
    await silence(600_000)
    // The subscription to the lists is no reason to connect again.
    expect(backend.wires).toHaveLength(1)
    expect(passthrough.status().backends).toMatchObject([{ state: 'idle', connections: 0 }])
    told.length = 0
    await say({ id: 2, method: 'tools/call', params: call })
    expect(backend.wires).toHaveLength(2)
    expect(told.find((message) => 'id' in message && message.id === 2)).toMatchObject({ kind: 'result' })
    expect(told.map((message) => ('method' in message ? message.method : ''))).toContain(
      'notifications/tools/list_changed',
    )
    backend.wire.write({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    await turn()
    expect(told.at(-1)).toMatchObject({ method: 'notifications/tools/list_changed' })
    await silence(2_000)
    expect(backend.wire.closed).toBe(true)
    await session.close(new Error('over'))
  })

  test('one that can be told, or that waits for an answer, keeps its connection', async () => {
    const { backend, port, session, say, silence } = await unheardClient()
    port.isReachable = true
    await silence(600_000)
    port.isReachable = false
    backend.onRequest = undefined
    await say({ id: 2, method: 'tools/call', params: call })
    await silence(60_000)
    expect([backend.wires.length, backend.wire.closed]).toEqual([1, false])
    await session.close(new Error('over'))
  })
})
