import { describe, expect, test } from 'vitest'
import type { Call, Outcome } from '../contract/call.ts'
import { createCallerContext, type CreateCallerContextOptions } from '../contract/caller-context.ts'
import type { Principal } from '../contract/context.ts'
import { RpcError, TransportError } from '../jsonrpc/errors.ts'
import { type JsonObject, toValue } from '../jsonrpc/json.ts'
import { createRevisionPolicy, legacyRevision } from '../revisions.ts'
import { createFakeServer, errorOf, type FakeServer, resultOf } from '../../test/_util/fake-server.ts'
import { turn } from '../../test/_util/raw-peer.ts'
import { callTool, legacy, notification } from '../../test/_util/requests.ts'
import { type CreateClientSessionOptions, createClientSession, type LegacyClient } from './client-session.ts'

const echo: Call = { method: 'tools/call', params: callTool('echo', { text: 'a' }) }
const read: Call = { method: 'resources/read', params: { uri: 'a:b' } }
const all = { elicitation: { form: {} }, sampling: {}, roots: {} }
const peer = { name: 'front', version: '1', capabilities: all }

interface Connected {
  readonly server: FakeServer
  readonly client: LegacyClient
  call(call: Call, options?: CreateCallerContextOptions): Promise<Outcome>
}

function open(options: Partial<CreateClientSessionOptions> = {}): Connected {
  const server = createFakeServer()
  const client = createClientSession(server.port, {
    policy: createRevisionPolicy(),
    info: { name: 'me', version: '2' },
    onDiagnostic: server.onDiagnostic,
    ...options,
  })
  return {
    server,
    client,
    call: async (call, caller = {}) => await client.call(call, createCallerContext({ peer, ...caller })),
  }
}

function welcome(id: unknown, capabilities: JsonObject = {}, protocolVersion: string = legacyRevision): JsonObject {
  return resultOf(id, { protocolVersion, capabilities, serverInfo: { name: 's', version: '3' }, instructions: 'how' })
}

async function connect(
  options: Partial<CreateClientSessionOptions> & { readonly offered?: JsonObject } = {},
): Promise<Connected> {
  const connected = open(options)
  const ready = connected.client.initialize()
  const { id } = await connected.server.one()
  connected.server.say(connected.client, welcome(id, options.offered ?? { tools: {}, resources: {}, prompts: {} }))
  await ready
  await connected.server.sent()
  return connected
}

describe('the handshake', () => {
  test('LG-LIFE-01, LG-LIFE-03, LG-LIFE-06, A-61: is purely legacy, and initialized follows', async () => {
    const { server, client } = open({ capabilities: { ...all, extensions: { 'a.b/c': {} } } })
    const ready = client.initialize()
    const request = await server.one()
    expect(request).toEqual(
      legacy(1, 'initialize', {
        protocolVersion: legacyRevision,
        capabilities: { elicitation: {}, sampling: {}, roots: {} },
        clientInfo: { name: 'me', version: '2' },
      }),
    )
    server.say(client, welcome(1, { tools: {}, tasks: {} }))
    expect(await ready).toEqual({
      requested: legacyRevision,
      observed: legacyRevision,
      info: { name: 's', version: '3' },
      capabilities: { tools: {} },
      instructions: 'how',
    })
    expect(await server.one()).toEqual(notification('notifications/initialized'))
  })

  test('LG-LIFE-08: a revision that is not switched on is refused by name, with the way out', async () => {
    const { server, client } = open()
    const ready = client.initialize()
    const { id } = await server.one()
    server.say(client, welcome(id, {}, '2024-11-05'))
    const error = await ready.catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      kind: 'protocol',
      message: expect.stringMatching(/2025-06-18.*2024-11-05.*--legacy-revisions/s),
    })
    expect(await server.sent()).toEqual([])
  })

  test('another accepted revision is observed, not taken for the requested one', async () => {
    const { server, client } = open({ policy: createRevisionPolicy({ legacy: ['2025-11-25', legacyRevision] }) })
    const ready = client.initialize()
    const request = await server.one()
    expect(request).toMatchObject({ params: { protocolVersion: '2025-11-25' } })
    server.say(client, welcome(request['id']))
    expect(await ready).toMatchObject({ requested: '2025-11-25', observed: legacyRevision })
  })

  test('what only a later revision has is declared only to it', async () => {
    const declared = { elicitation: { form: {}, url: {} }, sampling: { tools: {} } }
    const policy = createRevisionPolicy({ legacy: ['2025-11-25', legacyRevision, '2025-03-26'] })
    const capabilities = async (revision: string): Promise<unknown> => {
      const { server, client } = open({ policy, revision, capabilities: declared })
      void client.initialize()
      return ((await server.one())['params'] as JsonObject)['capabilities']
    }
    expect(await capabilities('2025-11-25')).toEqual({ elicitation: { form: {}, url: {} }, sampling: { tools: {} } })
    expect(await capabilities(legacyRevision)).toEqual({ elicitation: {}, sampling: {} })
    expect(await capabilities('2025-03-26')).toEqual({ sampling: {} })
  })

  test('an error is thrown as the server sent it, since it can prove another era', async () => {
    const { server, client } = open()
    const ready = client.initialize()
    const { id } = await server.one()
    server.say(client, errorOf(id, -32_022, 'no', { supported: ['2026-07-28'], requested: legacyRevision }))
    await expect(ready).rejects.toMatchObject({ name: 'RpcError', code: -32_022 })
  })

  test.each([{}, { protocolVersion: 1, capabilities: {} }, { protocolVersion: legacyRevision, capabilities: [] }])(
    'an answer that is none (%o) is refused',
    async (result) => {
      const { server, client } = open()
      const ready = client.initialize()
      const { id } = await server.one()
      server.say(client, resultOf(id, result))
      await expect(ready).rejects.toMatchObject({ kind: 'protocol' })
    },
  )

  test('LG-CANC-02: giving up sends no cancel', async () => {
    const { server, client } = open()
    const stop = new AbortController()
    const ready = client.initialize({ signal: stop.signal })
    await server.one()
    stop.abort(new Error('too slow'))
    await expect(ready).rejects.toThrow('too slow')
    expect(await server.sent()).toEqual([])
  })

  test('ends when the connection does, and calls before it fail', async () => {
    const { server, client, call } = open()
    await expect(call(echo)).rejects.toMatchObject({ kind: 'protocol' })
    const ready = client.initialize()
    await server.one()
    client.closed(new Error('exit'))
    await expect(ready).rejects.toMatchObject({ kind: 'closed' })
  })
})

describe('a call', () => {
  test('BR-202, A-61: carries nothing of the modern envelope; foreign and trace keys stay', async () => {
    const { server, call } = await connect()
    void call(echo, {
      meta: { traceparent: '00-1', 'io.modelcontextprotocol/x': 1, 'com.example/y': 2 },
      progressToken: 'mine',
    })
    const request = await server.one()
    expect(request).toEqual(
      legacy(request['id'] as number, 'tools/call', {
        ...callTool('echo', { text: 'a' }),
        _meta: { traceparent: '00-1', 'com.example/y': 2, progressToken: request['id'] as number },
      }),
    )
    void call({ method: 'tools/list', params: {} })
    expect(await server.one()).toMatchObject({ method: 'tools/list', params: {} })
  })

  test('BR-203, BR-204, BR-237: results come without members that legacy gave another meaning', async () => {
    const { server, client, call } = await connect()
    const outcome = call(echo)
    const { id } = await server.one()
    server.say(client, resultOf(id, { content: [], resultType: 'toolResult', ttlMs: 3, _meta: { 'a/b': 1 } }))
    expect(await outcome).toEqual({ kind: 'result', value: { content: [], _meta: { 'a/b': 1 } } })
  })

  test.each([
    ['BR-232, MC-ERR-09', read, -32_002, -32_602, { uri: 'a:b' }],
    ['BR-233', echo, -32_001, -32_603, { original: { code: -32_001, message: 'm' } }],
    ['BR-233', echo, -32_021, -32_603, { original: { code: -32_021, message: 'm' } }],
    ['section 7', echo, -32_602, -32_602, undefined],
    ['section 7', echo, 42, 42, undefined],
  ])('%s: errors come in the numbers of the modern model', async (_why, asked, code, expected, data) => {
    const { server, client, call } = await connect()
    const outcome = call(asked)
    const { id } = await server.one()
    server.say(client, errorOf(id, code))
    const error = await outcome.catch((reason: unknown) => reason)
    expect(RpcError.is(error)).toBe(true)
    expect(error).toMatchObject({ code: expected })
    expect((error as RpcError).data).toEqual(data)
  })

  test('BR-201: discovery is answered from the handshake', async () => {
    const { server, call } = await connect({ offered: { tools: { listChanged: true } } })
    expect(await call({ method: 'server/discover', params: {} })).toMatchObject({
      kind: 'result',
      value: { capabilities: { tools: { listChanged: true } }, instructions: 'how', ttlMs: 0, cacheScope: 'private' },
    })
    expect(await server.sent()).toEqual([])
  })

  test('LG-CANC-01, LG-CANC-03, BR-208, E7: one that is given up is cancelled by its own id; a late answer is dropped', async () => {
    const { server, client, call } = await connect()
    const stop = new AbortController()
    const outcome = call(echo, { signal: stop.signal })
    const { id } = await server.one()
    stop.abort(new Error('enough'))
    await expect(outcome).rejects.toThrow('enough')
    expect(await server.one()).toEqual(notification('notifications/cancelled', { requestId: id ?? null }))
    server.say(client, resultOf(id, {}))
    expect(server.diagnostics.map(({ code }) => code)).toEqual(['unknown-id'])
    expect(client.openCalls).toBe(0)
  })

  test('an error without an id fails the only call that is open', async () => {
    const { server, client, call } = await connect()
    const outcome = call(echo).catch((reason: unknown) => reason)
    await server.sent()
    server.say(client, { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } })
    expect(await outcome).toMatchObject({ name: 'RpcError', code: -32_700 })
    expect(client.openCalls).toBe(0)
  })

  test('BR-210, BR-229: progress comes while the call is open and only if it grew', async () => {
    const { server, client, call } = await connect()
    const notices: Call[] = []
    const outcome = call(echo, { progressToken: 'p', onNotice: (notice) => void notices.push(notice) })
    const { id } = await server.one()
    const progress = (value: number): JsonObject =>
      notification('notifications/progress', { progressToken: id ?? null, progress: value })
    server.say(client, progress(1), progress(1), progress(2), resultOf(id, {}), progress(3))
    await outcome
    expect(notices.map(({ params }) => params)).toEqual([{ progress: 1 }, { progress: 2 }])
  })

  test('BR-209: the server is told the lowest level that is wanted, once; messages go to the only call that wants some', async () => {
    const { server, client, call } = await connect({ offered: { tools: {}, logging: {} } })
    const notices: Call[] = []
    void call(echo, { logLevel: 'warning', onNotice: (notice) => void notices.push(notice) })
    expect(await server.sent()).toMatchObject([
      { method: 'logging/setLevel', params: { level: 'warning' } },
      { method: 'tools/call' },
    ])
    server.say(client, notification('notifications/message', { level: 'info', data: 1 }))
    server.say(client, notification('notifications/message', { level: 'error', data: 2 }))
    expect(notices.map(({ params }) => params)).toEqual([{ level: 'error', data: 2 }])
    void call(echo, { logLevel: 'error' })
    expect(await server.sent()).toMatchObject([{ method: 'tools/call' }])
    server.say(client, notification('notifications/message', { level: 'error', data: 3 }))
    expect(notices).toHaveLength(1)
    void call(echo, { logLevel: 'debug' })
    expect(await server.sent()).toMatchObject([
      { method: 'logging/setLevel', params: { level: 'debug' } },
      { method: 'tools/call' },
    ])
  })

  test('LG-LIFE-09: no level is set on a server that offers no logging', async () => {
    const { server, call } = await connect()
    void call(echo, { logLevel: 'info' })
    expect(await server.sent()).toMatchObject([{ method: 'tools/call' }])
  })

  test('D14: the end of the connection fails what is open at once', async () => {
    const { client, server, call } = await connect()
    const outcome = call(echo).catch((reason: unknown) => reason)
    await server.sent()
    client.closed(new Error('exit 1'))
    const error = await outcome
    expect(TransportError.is(error)).toBe(true)
    expect(error).toMatchObject({ kind: 'unknown-outcome' })
    await expect(call(echo)).rejects.toMatchObject({ kind: 'closed' })
  })
})

describe('requests of the server', () => {
  const form = {
    message: 'Who?',
    requestedSchema: { type: 'object', properties: {} },
    _meta: { progressToken: 5, 'a/b': 1 },
  }

  test('LG-PING-01, BR-228: ping is answered, unknown ones refused', async () => {
    const { server, client } = await connect()
    server.say(client, legacy('p', 'ping'), legacy('x', 'tasks/list'))
    expect(await server.sent()).toEqual([resultOf('p', {}), errorOf('x', -32_601, 'Method not found')])
  })

  test.each(['roots/list', 'sampling/createMessage', 'elicitation/create'])(
    'BR-222, LG-ROOT-02: %s is refused when it was not declared, also during a call',
    async (name) => {
      const { server, client, call } = await connect()
      void call(echo)
      await server.one()
      server.say(client, legacy(1, name, form))
      expect(await server.one()).toMatchObject({ id: 1, error: { code: -32_601 } })
    },
  )

  test('BR-221, F14: one during a call becomes an ask of that call, and the resumed call answers it and goes on', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    const outcome = call(echo)
    const { id } = await server.one()
    server.say(client, legacy('q', 'elicitation/create', form))
    server.clock.advance(20)
    const ask = await outcome
    if (ask.kind !== 'ask' || ask.requestState === undefined) throw new Error('no ask came')
    const [[key, question] = ['', undefined]] = ask.inputRequests ?? []
    expect(question).toEqual({
      method: 'elicitation/create',
      params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} }, _meta: { 'a/b': 1 } },
    })
    expect(toValue(ask.raw)).toEqual({
      resultType: 'input_required',
      inputRequests: { [key]: { ...question } },
      requestState: ask.requestState,
    })
    expect(await server.sent()).toEqual([])

    const resumed = call(echo, {
      resume: {
        requestState: ask.requestState,
        inputResponses: { [key]: { action: 'accept', content: { a: 1 } }, other: {} },
      },
    })
    expect(await server.one()).toEqual(resultOf('q', { action: 'accept', content: { a: 1 } }))
    server.say(client, resultOf(id, { content: [] }))
    expect(await resumed).toEqual({ kind: 'result', value: { content: [] } })
    expect(server.clock.waiting).toBe(0)
  })

  test('BR-221: those that come together are one ask; a later one is the next', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    const outcome = call(echo)
    const { id } = await server.one()
    server.say(client, legacy('a', 'roots/list'))
    server.clock.advance(19)
    server.say(client, legacy('b', 'roots/list'))
    server.clock.advance(1)
    const first = await outcome
    if (first.kind !== 'ask' || first.requestState === undefined) throw new Error('no ask came')
    expect(first.inputRequests?.size).toBe(2)
    server.say(client, legacy('c', 'roots/list'))
    const answers = (asked: typeof first): JsonObject =>
      Object.fromEntries([...(asked.inputRequests ?? [])].map(([key]) => [key, { roots: [] }]))
    const again = call(echo, { resume: { requestState: first.requestState, inputResponses: answers(first) } })
    expect(await server.sent()).toEqual([resultOf('a', { roots: [] }), resultOf('b', { roots: [] })])
    server.clock.advance(20)
    const second = await again
    if (second.kind !== 'ask' || second.requestState === undefined) throw new Error('no ask came')
    expect(second.inputRequests?.size).toBe(1)
    expect(second.requestState).not.toBe(first.requestState)
    const last = call(echo, { resume: { requestState: second.requestState, inputResponses: answers(second) } })
    expect(await server.one()).toEqual(resultOf('c', { roots: [] }))
    server.say(client, resultOf(id, { content: [] }))
    expect(await last).toMatchObject({ kind: 'result' })
  })

  async function parked(
    options: Partial<CreateClientSessionOptions> = {},
  ): Promise<Connected & { id: unknown; key: string; state: string }> {
    const connected = await connect({ capabilities: all, ...options })
    const outcome = connected.call(echo)
    const { id } = await connected.server.one()
    connected.server.say(connected.client, legacy('q', 'elicitation/create', form))
    connected.server.clock.advance(20)
    const ask = await outcome
    if (ask.kind !== 'ask' || ask.requestState === undefined) throw new Error('no ask came')
    return { ...connected, id, state: ask.requestState, key: [...(ask.inputRequests ?? [])][0]?.[0] ?? '' }
  }

  const stranger: Principal = { id: 'someone-else', authenticated: true }

  test.each([
    ['an unknown state', echo, 'nonsense', {}],
    ['another principal', echo, undefined, { principal: stranger }],
    ['other arguments', { ...echo, params: callTool('echo', { text: 'b' }) }, undefined, {}],
    ['another method', { ...echo, method: 'prompts/get' }, undefined, {}],
  ])(
    'BR-221, MC-MRTR-08, MC-MRTR-19: a retry with %s is refused, and the rightful one still works',
    async (_why, asked, state, caller) => {
      const { server, call, key, state: given } = await parked()
      const inputResponses = { [key]: { action: 'decline' } }
      await expect(
        call(asked, { resume: { requestState: state ?? given, inputResponses }, ...caller }),
      ).rejects.toMatchObject({
        code: -32_602,
      })
      expect(await server.sent()).toEqual([])
      void call(echo, { resume: { requestState: given, inputResponses } })
      expect(await server.one()).toEqual(resultOf('q', { action: 'decline' }))
    },
  )

  test('MC-MRTR-11: a state is good for one retry', async () => {
    const { server, call, key, state } = await parked()
    const resume = { requestState: state, inputResponses: { [key]: { action: 'decline' } } }
    void call(echo, { resume })
    await server.one()
    await expect(call(echo, { resume })).rejects.toMatchObject({ code: -32_602 })
  })

  test.each([
    ['none', {}],
    ['wrong keys', { other: { action: 'accept' } }],
    ['wrapped ones (A-41)', { result: { action: 'accept' } }],
  ])(
    'BR-225, MC-MRTR-23: with %s answers it is asked again under a new state, the old one is void',
    async (_why, answers) => {
      const { server, call, key, state } = await parked()
      const given = 'result' in answers ? { [key]: answers } : answers
      const again = await call(echo, { resume: { requestState: state, inputResponses: given } })
      if (again.kind !== 'ask' || again.requestState === undefined) throw new Error('no ask came')
      expect([...(again.inputRequests?.keys() ?? [])]).toEqual([key])
      expect(again.requestState).not.toBe(state)
      const inputResponses = { [key]: { action: 'cancel' } }
      await expect(call(echo, { resume: { requestState: state, inputResponses } })).rejects.toMatchObject({
        code: -32_602,
      })
      void call(echo, { resume: { requestState: again.requestState, inputResponses } })
      expect(await server.one()).toEqual(resultOf('q', { action: 'cancel' }))
    },
  )

  test('BR-224, MC-MRTR-12: when nobody comes back the server is answered, the call cancelled and the state void', async () => {
    const { server, call, client, key, id, state } = await parked({ parkedMs: 60_000 })
    server.clock.advance(60_000)
    expect(await server.sent()).toEqual([
      resultOf('q', { action: 'cancel' }),
      notification('notifications/cancelled', { requestId: id as number }),
    ])
    await expect(
      call(echo, { resume: { requestState: state, inputResponses: { [key]: { action: 'accept' } } } }),
    ).rejects.toMatchObject({ code: -32_602 })
    server.say(client, resultOf(id, {}))
    expect(server.clock.waiting).toBe(0)
  })

  test('BR-227: a question that the server takes back is not answered, and the call goes on', async () => {
    const { server, client, call, key, id, state } = await parked()
    server.say(client, notification('notifications/cancelled', { requestId: 'q' }))
    const resumed = call(echo, { resume: { requestState: state, inputResponses: { [key]: { action: 'accept' } } } })
    expect(await server.sent()).toEqual([])
    server.say(client, resultOf(id, { content: [] }))
    expect(await resumed).toMatchObject({ kind: 'result' })
  })

  test('BR-227: one that is taken back at once is not asked at all', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    const outcome = call(echo)
    const { id } = await server.one()
    server.say(client, legacy('q', 'roots/list'), notification('notifications/cancelled', { requestId: 'q' }))
    server.clock.advance(20)
    server.say(client, resultOf(id, { content: [] }))
    expect(await outcome).toMatchObject({ kind: 'result' })
  })

  test('an answer that comes while the call is parked waits for its caller', async () => {
    const { server, client, call, key, id, state } = await parked()
    server.say(client, resultOf(id, { content: [{ type: 'text', text: 'early' }] }))
    const resumed = call(echo, { resume: { requestState: state, inputResponses: { [key]: { action: 'accept' } } } })
    expect(await resumed).toMatchObject({ kind: 'result', value: { content: [{ text: 'early' }] } })
    expect(client.openCalls).toBe(0)
  })

  test('BR-221: who gets the ask can go on by it, also when another call is made meanwhile, and hears when the call is over', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    const outcome = call(echo)
    const { id } = await server.one()
    server.say(client, legacy('q', 'roots/list'))
    server.clock.advance(20)
    const ask = await outcome
    if (ask.kind !== 'ask' || ask.parked === undefined || ask.requestState === undefined) throw new Error('no ask came')
    const { parked, requestState, inputRequests } = ask
    expect(parked.waitMs).toBe(600_000)
    const ended: unknown[] = []
    void parked.ended.then((how) => ended.push(how))
    const inputResponses = Object.fromEntries([...(inputRequests ?? [])].map(([key]) => [key, { roots: [] }]))
    const going = parked.resume(echo, createCallerContext({ peer, resume: { requestState, inputResponses } }))
    expect(await server.one()).toEqual(resultOf('q', { roots: [] }))
    server.say(client, legacy('r', 'roots/list'))
    server.clock.advance(20)
    const again = await going
    expect(again).toMatchObject({ kind: 'ask', parked })
    expect(ended).toEqual([])
    parked.abandon()
    parked.abandon()
    expect(await server.sent()).toEqual([
      errorOf('r', -32_603, 'Nobody is there to answer'),
      notification('notifications/cancelled', { requestId: id as number }),
    ])
    expect(ended).toEqual(['given-up'])
    expect(server.clock.waiting).toBe(0)
  })

  test.each<[string, (connected: Connected) => void]>([
    ['expired', ({ server }) => server.clock.advance(60_000)],
    ['lost', ({ client }) => client.closed()],
  ])('BR-224, BR-235: a wait that ends so is %s', async (how, end) => {
    const connected = await connect({ capabilities: all, parkedMs: 60_000 })
    const outcome = connected.call(echo)
    await connected.server.one()
    connected.server.say(connected.client, legacy('q', 'roots/list'))
    connected.server.clock.advance(20)
    const ask = await outcome
    end(connected)
    expect(ask.kind === 'ask' && (await ask.parked?.ended)).toBe(how)
  })

  test('BR-229: progress and logs of a parked call go nowhere', async () => {
    const connected = await connect({ capabilities: all, offered: { tools: {}, logging: {} } })
    const { server, client, call } = connected
    const notices: Call[] = []
    const outcome = call(echo, { progressToken: 1, logLevel: 'debug', onNotice: (notice) => void notices.push(notice) })
    const [, request] = await server.sent()
    server.say(client, legacy('q', 'roots/list'))
    server.clock.advance(20)
    await outcome
    server.say(client, notification('notifications/progress', { progressToken: request?.['id'] ?? null, progress: 1 }))
    server.say(client, notification('notifications/message', { level: 'error', data: 1 }))
    expect(notices).toEqual([])
  })

  test('one that is given up while it asks: the server is told, and its question answered', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    const stop = new AbortController()
    const outcome = call(echo, { signal: stop.signal })
    const { id } = await server.one()
    server.say(client, legacy('q', 'elicitation/create', form))
    stop.abort(new Error('enough'))
    await expect(outcome).rejects.toThrow('enough')
    expect(await server.sent()).toEqual([
      resultOf('q', { action: 'cancel' }),
      notification('notifications/cancelled', { requestId: id ?? null }),
    ])
    expect(server.clock.waiting).toBe(0)
  })

  test.each([
    ['no call is open', []],
    ['two calls could be meant', [echo, read]],
    ['only a list is open', [{ method: 'tools/list', params: {} }]],
  ])('BR-223: when %s the server is answered here', async (_why, calls) => {
    const { server, client, call } = await connect({ capabilities: all })
    for (const asked of calls) void call(asked)
    await server.sent()
    server.say(
      client,
      legacy(1, 'elicitation/create', form),
      legacy(2, 'sampling/createMessage', { messages: [], maxTokens: 1 }),
      legacy(3, 'roots/list'),
    )
    expect(await server.sent()).toMatchObject([
      { id: 1, result: { action: 'cancel' } },
      { id: 2, error: { code: -32_603 } },
      { id: 3, error: { code: -32_601 } },
    ])
    expect(server.diagnostics.filter(({ code }) => code === 'question-unasked')).toHaveLength(3)
  })

  test('BR-223: a carrier that knows the stream says which call is meant', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    const outcomes = [call(echo), call(read)]
    const [, second] = await server.sent()
    client.receive({ kind: 'request', id: 'q', method: 'roots/list', params: undefined }, {}, second?.['id'] as number)
    server.clock.advance(20)
    expect(await outcomes[1]).toMatchObject({ kind: 'ask' })
    expect(client.openCalls).toBe(1)
  })

  test('a call whose caller can not be asked is no candidate', async () => {
    const { server, client, call } = await connect({ capabilities: all })
    void call(echo, { peer: { capabilities: {} } })
    await server.sent()
    server.say(client, legacy(1, 'elicitation/create', form))
    expect(await server.one()).toMatchObject({ id: 1, result: { action: 'cancel' } })
  })

  test('no more calls are parked than allowed', async () => {
    const { server, client, call } = await parked({ maxParked: 1 })
    void call(read)
    const { id } = await server.one()
    client.receive({ kind: 'request', id: 'r', method: 'roots/list', params: undefined }, {}, id as number)
    expect(await server.one()).toMatchObject({ id: 'r', error: { code: -32_601 } })
  })

  test('MC-CANC-01: when we end the connection, the server is told of calls that are open or parked', async () => {
    const { server, client, call, id } = await parked()
    call(read).catch(() => undefined)
    const { id: other } = await server.one()
    client.abandon()
    expect((await server.sent()).map(({ params }) => params)).toEqual([{ requestId: id }, { requestId: other }])
    client.closed()
  })

  test('the end of the connection ends parked calls', async () => {
    const { server, client, call, key, state } = await parked()
    client.closed()
    await expect(
      call(echo, { resume: { requestState: state, inputResponses: { [key]: { action: 'accept' } } } }),
    ).rejects.toMatchObject({ kind: 'closed' })
    expect(server.clock.waiting).toBe(0)
  })
})

describe('subscriptions', () => {
  const offered = { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true } }
  const listen = (notifications: JsonObject): Call => ({ method: 'subscriptions/listen', params: { notifications } })
  const updated = (uri: string): JsonObject => notification('notifications/resources/updated', { uri })

  test('BR-206: what can be delivered is acknowledged, and list changes come', async () => {
    const { server, client, call } = await connect({ offered })
    const notices: Call[] = []
    void call(listen({ toolsListChanged: true, promptsListChanged: true }), {
      onNotice: (notice) => void notices.push(notice),
    })
    expect(await server.sent()).toEqual([])
    server.say(
      client,
      notification('notifications/tools/list_changed'),
      notification('notifications/prompts/list_changed'),
    )
    expect(notices).toEqual([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: { toolsListChanged: true } } },
      { method: 'notifications/tools/list_changed', params: {} },
    ])
  })

  test('BR-206, MC-SUB-05: resources are acknowledged after the server has answered; what it refused is left out', async () => {
    const { server, client, call } = await connect({ offered })
    const notices: Call[] = []
    void call(listen({ resourceSubscriptions: ['a:1', 'a:2', 'a:1'] }), {
      onNotice: (notice) => void notices.push(notice),
    })
    const [one, two, ...more] = await server.sent()
    expect(more).toEqual([])
    expect([one, two]).toMatchObject([
      { method: 'resources/subscribe', params: { uri: 'a:1' } },
      { method: 'resources/subscribe', params: { uri: 'a:2' } },
    ])
    server.say(client, resultOf(one?.['id'], {}), updated('a:1'))
    expect(notices).toEqual([])
    server.say(client, errorOf(two?.['id'], -32_002), updated('a:2'))
    expect(notices).toEqual([
      {
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { resourceSubscriptions: ['a:1'] } },
      },
      { method: 'notifications/resources/updated', params: { uri: 'a:1' } },
    ])
  })

  test('BR-207: a resource is subscribed once for all who listen, and unsubscribed after the last', async () => {
    const { server, client, call } = await connect({ offered })
    const stops = [new AbortController(), new AbortController()]
    const notices: Call[][] = [[], []]
    for (const [index, stop] of stops.entries()) {
      call(listen({ resourceSubscriptions: ['a:1'] }), {
        signal: stop.signal,
        onNotice: (notice) => void notices[index]?.push(notice),
      }).catch(() => undefined)
    }
    const { id } = await server.one()
    server.say(client, resultOf(id, {}), updated('a:1'))
    expect(notices.map((list) => list.map(({ method }) => method))).toEqual([
      ['notifications/subscriptions/acknowledged', 'notifications/resources/updated'],
      ['notifications/subscriptions/acknowledged', 'notifications/resources/updated'],
    ])
    stops[0]?.abort()
    expect(await server.sent()).toEqual([])
    server.say(client, updated('a:1'))
    expect(notices.map((list) => list.length)).toEqual([2, 3])
    stops[1]?.abort()
    expect(await server.one()).toMatchObject({ method: 'resources/unsubscribe', params: { uri: 'a:1' } })
    expect(client.openCalls).toBe(0)
  })

  test('BR-231, A-32: a change below a subscribed resource is told once, to those who subscribed what is above', async () => {
    const { server, client, call } = await connect({ offered })
    const notices: Call[] = []
    void call(listen({ resourceSubscriptions: ['a:1', 'a:1/x'] }), { onNotice: (notice) => void notices.push(notice) })
    for (const request of await server.sent()) server.say(client, resultOf(request['id'], {}))
    notices.length = 0
    server.say(client, updated('a:1/x/y'), updated('a:1/x'), updated('a:12'))
    expect(notices.map(({ params }) => params)).toEqual([{ uri: 'a:1/x/y' }, { uri: 'a:1/x' }])
  })

  test('a malformed filter is refused', async () => {
    const { call } = await connect({ offered })
    await expect(call(listen({ toolsListChanged: 1 }))).rejects.toMatchObject({ code: -32_602 })
  })

  test('draining ends them with their result and takes no new ones', async () => {
    const { server, client, call } = await connect({ offered })
    const outcome = call(listen({ resourceSubscriptions: ['a:1'] }))
    const { id } = await server.one()
    server.say(client, resultOf(id, {}))
    await client.drain()
    expect(await outcome).toEqual({ kind: 'result', value: {} })
    expect(await server.one()).toMatchObject({ method: 'resources/unsubscribe' })
    await expect(call(listen({}))).rejects.toMatchObject({ code: -32_603 })
  })

  test('the end of the connection ends them as something that can be opened again', async () => {
    const { client, call } = await connect({ offered })
    const outcome = call(listen({ toolsListChanged: true })).catch((reason: unknown) => reason)
    await turn()
    client.closed()
    expect(await outcome).toMatchObject({ kind: 'closed', retryable: true })
  })
})
