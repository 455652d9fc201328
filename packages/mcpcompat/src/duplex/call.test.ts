import { describe, expect, test } from 'vitest'
import type { Call } from '../contract/call.ts'
import { createCallerContext, type CreateCallerContextOptions } from '../contract/caller-context.ts'
import type { CallContext } from '../contract/context.ts'
import { InvalidResultError } from '../contract/invalid-result.ts'
import type { ClientPeer } from '../contract/peer-port.ts'
import { RpcError, TransportError } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { metaKey } from '../meta.ts'
import { modernRevision } from '../revisions.ts'
import { createFakeServer, errorOf, type FakeServer, resultOf } from '../../test/_util/fake-server.ts'
import { turn } from '../../test/_util/raw-peer.ts'
import { notification } from '../../test/_util/requests.ts'
import { createModernClient } from './call.ts'

const echo: Call = { method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } }
const listTools: Call = { method: 'tools/list', params: {} }
const peer = { name: 'me', version: '2', capabilities: { elicitation: { form: {} } } }

function connect(): {
  server: FakeServer
  client: ClientPeer
  call: (call: Call, options?: CreateCallerContextOptions) => Promise<unknown>
} {
  const server = createFakeServer()
  const client = createModernClient(server.port, {
    revision: modernRevision,
    server: { info: { name: 's', version: '1' }, instructions: 'how', capabilities: { tools: {}, logging: {} } },
    onDiagnostic: server.onDiagnostic,
  })
  return {
    server,
    client,
    call: async (call, options = {}) => await client.call(call, createCallerContext({ peer, ...options })),
  }
}

function collect(): { notices: Call[]; onNotice: (notice: Call) => void } {
  const notices: Call[] = []
  return { notices, onNotice: (notice) => void notices.push(notice) }
}

describe('a call', () => {
  test('MC-REQ-01, MC-REQ-02, MC-REQ-03, MS-MSG-04: carries its envelope, and what else the caller says', async () => {
    const { server, call } = connect()
    void call(echo, { meta: { traceparent: '00-1' }, logLevel: 'info', progressToken: 'mine' })
    const request = await server.one()
    expect(request).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'echo',
        arguments: { text: 'a' },
        _meta: {
          traceparent: '00-1',
          [metaKey.protocolVersion]: modernRevision,
          [metaKey.clientInfo]: { name: 'me', version: '2' },
          [metaKey.clientCapabilities]: { elicitation: { form: {} } },
          [metaKey.logLevel]: 'info',
          progressToken: request['id'],
        },
      },
    })
  })

  test('MC-REQ-07: a caller without a name says only what it can do', async () => {
    const { server, client } = connect()
    void client.call(listTools, createCallerContext())
    expect(await server.one()).toMatchObject({
      params: { _meta: { [metaKey.clientCapabilities]: {}, [metaKey.protocolVersion]: modernRevision } },
    })
  })

  test('arguments that are source text go out as they are', async () => {
    const { client } = connect()
    const sent: string[] = []
    const raw = createModernClient(
      {
        send: (message) =>
          void sent.push(message.kind === 'request' && JsonText.is(message.params) ? message.params.text : ''),
      },
      { revision: modernRevision, server: { info: undefined, instructions: undefined, capabilities: {} } },
    )
    void raw.call(
      { method: 'tools/call', params: new JsonText('{"name":"a","arguments":{"n":9007199254740993}}') },
      createCallerContext(),
    )
    await turn()
    expect(sent[0]).toContain('"arguments":{"n":9007199254740993}')
    expect(client.openCalls).toBe(0)
  })

  test('MC-MRTR-16, MC-MRTR-18, MC-MRTR-20, B10: a retry has a new id, the answers and the very state', async () => {
    const { server, call } = connect()
    void call(echo)
    const first = await server.one()
    void call(echo, { resume: { requestState: ' é {"x":1}\n', inputResponses: { a: { action: 'decline' } } } })
    const retry = await server.one()
    expect(retry['id']).not.toEqual(first['id'])
    expect(retry['params']).toMatchObject({
      requestState: ' é {"x":1}\n',
      inputResponses: { a: { action: 'decline' } },
    })
    void call(echo, { resume: { inputResponses: {} } })
    expect(Object.keys((await server.one())['params'] as JsonObject)).toEqual(['name', 'arguments', '_meta'])
  })

  test('MS-MSG-03: answers find their calls in any order', async () => {
    const { server, client, call } = connect()
    const outcomes = [call(echo), call(listTools)]
    const [first, second] = await server.sent()
    expect(client.openCalls).toBe(2)
    server.say(
      client,
      resultOf(second?.['id'], { resultType: 'complete', tools: [] }),
      resultOf(first?.['id'], { content: [] }),
    )
    expect(await Promise.all(outcomes)).toEqual([
      { kind: 'result', value: { content: [] } },
      { kind: 'result', value: { resultType: 'complete', tools: [] } },
    ])
    expect(client.openCalls).toBe(0)
  })

  test('an error of the server is thrown as it came', async () => {
    const { server, client, call } = connect()
    const outcome = call(echo)
    const { id } = await server.one()
    server.say(client, errorOf(id, -32_602, 'Unknown tool', { name: 'echo' }))
    const error = await outcome.catch((reason: unknown) => reason)
    expect(RpcError.is(error)).toBe(true)
    expect(error).toMatchObject({ code: -32_602, message: 'Unknown tool', data: { name: 'echo' } })
  })

  test('MC-MRTR-04, MC-MRTR-17: an ask is kept whole', async () => {
    const { server, client, call } = connect()
    const outcome = call(echo)
    const { id } = await server.one()
    const question = { method: 'roots/list', params: {} }
    const result = { resultType: 'input_required', inputRequests: { a: question }, requestState: 's', extra: 1 }
    server.say(client, resultOf(id, result))
    expect(await outcome).toEqual({
      kind: 'ask',
      inputRequests: new Map([['a', question]]),
      requestState: 's',
      raw: result,
    })
  })

  test.each([
    ['B2: a type that is no string', echo, { resultType: null, content: [] }],
    ['B11, A-59: an ask where none may be', listTools, { resultType: 'input_required', requestState: 's' }],
    ['B10, A-39: an ask for nothing', echo, { resultType: 'input_required', inputRequests: {} }],
    [
      'B11, A-40: an ask of an unknown kind',
      echo,
      { resultType: 'input_required', inputRequests: { a: { method: 'foo/bar' } } },
    ],
  ])('%s is no result: it is refused here and kept for the report', async (_why, asked, result) => {
    const { server, client, call } = connect()
    const outcome = call(asked)
    const { id } = await server.one()
    server.say(client, resultOf(id, result))
    const error = await outcome.catch((reason: unknown) => reason)
    expect(InvalidResultError.is(error)).toBe(true)
    expect(TransportError.is(error)).toBe(true)
    expect(RpcError.is(error)).toBe(false)
    expect(error).toMatchObject({ kind: 'protocol', raw: result })
  })

  test.each(['toolResult', 'inputRequired', 'Complete'])(
    'B2, MC-RT-04: the unknown type %s is kept and told apart',
    async (resultType) => {
      const { server, client, call } = connect()
      const outcome = call(echo)
      const { id } = await server.one()
      server.say(client, resultOf(id, { resultType, content: [] }))
      expect(await outcome).toEqual({ kind: 'other', resultType, raw: { resultType, content: [] } })
    },
  )

  test('MC-MSG-06: an error without an id fails the only call that is open, and none when there is doubt', async () => {
    const { server, client, call } = connect()
    const listening = call({ method: 'subscriptions/listen', params: { notifications: {} } }).catch(() => undefined)
    const { id } = await server.one()
    server.say(
      client,
      notification('notifications/subscriptions/acknowledged', {
        notifications: {},
        _meta: { [metaKey.subscriptionId]: id as number },
      }),
    )
    const anonymous = { jsonrpc: '2.0', error: { code: -32_600, message: 'too long' } }
    const first = call(echo).catch((reason: unknown) => reason)
    await server.sent()
    server.say(client, anonymous)
    expect(await first).toMatchObject({ name: 'RpcError', code: -32_600, message: 'too long' })
    const [second, third] = [call(echo), call(echo)]
    const sent = await server.sent()
    server.say(client, anonymous)
    for (const request of sent) server.say(client, resultOf(request['id'], { content: [] }))
    expect(await Promise.all([second, third])).toHaveLength(2)
    client.closed()
    await listening
  })

  test('MC-CANC-01, MC-CANC-02, MS-CANC-01, MC-CANC-09, E8: one that is given up rejects at once, the server is told, a late answer is dropped', async () => {
    const { server, client, call } = connect()
    const stop = new AbortController()
    const outcome = call(echo, { signal: stop.signal }).catch((reason: unknown) => reason)
    const { id } = await server.one()
    const reason = new Error('enough')
    stop.abort(reason)
    expect(await outcome).toBe(reason)
    expect(await server.one()).toEqual(notification('notifications/cancelled', { requestId: id ?? null }))
    server.say(client, resultOf(id, { content: [] }))
    expect(server.diagnostics.map(({ level, code }) => [level, code])).toEqual([['debug', 'unknown-id']])
    expect(client.openCalls).toBe(0)
  })

  test('MC-TMO-01: a time limit is told as one', async () => {
    const { server, call } = connect()
    const stop = new AbortController()
    const outcome = call(echo, { signal: stop.signal }).catch((reason: unknown) => reason)
    const { id } = await server.one()
    stop.abort(new DOMException('no end', 'TimeoutError'))
    expect(await outcome).toMatchObject({ name: 'TimeoutError' })
    expect(await server.one()).toMatchObject({ params: { requestId: id, reason: 'timeout' } })
  })

  test('MC-CANC-05: nothing is sent for a call that was given up before, nor a cancel for one that is answered', async () => {
    const { server, client, call } = connect()
    await expect(call(echo, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
    expect(await server.sent()).toEqual([])
    const stop = new AbortController()
    const outcome = call(echo, { signal: stop.signal })
    const { id } = await server.one()
    server.say(client, resultOf(id, { content: [] }))
    await outcome
    stop.abort()
    expect(await server.sent()).toEqual([])
  })
})

describe('notices', () => {
  test('MC-PROG-02: progress goes to its call, without the token, if it grew', async () => {
    const { server, client, call } = connect()
    const [a, b] = [collect(), collect()]
    void call(echo, { progressToken: 1, onNotice: a.onNotice })
    void call(echo, { progressToken: 1, onNotice: b.onNotice })
    const [first, second] = await server.sent()
    const progress = (request: JsonObject | undefined, params: JsonObject): JsonObject =>
      notification('notifications/progress', { progressToken: request?.['id'] ?? null, ...params })
    server.say(
      client,
      progress(second, { progress: 1, message: 'b' }),
      progress(first, { progress: 1 }),
      progress(first, { progress: 1 }),
      progress(first, { progress: 3, total: 4 }),
    )
    expect(a.notices).toEqual([
      { method: 'notifications/progress', params: { progress: 1 } },
      { method: 'notifications/progress', params: { progress: 3, total: 4 } },
    ])
    expect(b.notices).toEqual([{ method: 'notifications/progress', params: { progress: 1, message: 'b' } }])
  })

  test('D16: of a flood, a caller that is slow gets as much as may wait for it, and later on all again', async () => {
    const { server, client, call } = connect()
    let count = 0
    let take = (): void => undefined
    const taken = new Promise<void>((resolve) => {
      take = resolve
    })
    const onNotice = async (): Promise<void> => {
      count++
      await taken
    }
    const outcome = call(echo, { progressToken: 1, onNotice })
    const { id } = await server.one()
    const progress = (value: number): JsonObject =>
      notification('notifications/progress', {
        progressToken: id as number,
        progress: value,
        message: 'x'.repeat(1024 * 1024),
      })
    for (let value = 0; value < 20; value++) server.say(client, progress(value))
    expect(count).toBe(4)
    take()
    await turn()
    server.say(client, progress(21), resultOf(id, { content: [] }))
    await outcome
    expect(count).toBe(5)
  })

  test('a subscriber that is slow hears of each change once, and again of what changes when it has read that', async () => {
    const { server, client, call } = connect()
    const { notices, onNotice } = collect()
    let take = (): void => undefined
    const taken = new Promise<void>((resolve) => {
      take = resolve
    })
    const slowly = async (notice: Call): Promise<void> => {
      onNotice(notice)
      await taken
    }
    const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
    void call(listen, { onNotice: slowly })
    const { id } = await server.one()
    const _meta = { [metaKey.subscriptionId]: id as number }
    const acknowledged = { notifications: { toolsListChanged: true }, _meta }
    const changed = notification('notifications/tools/list_changed', { _meta })
    server.say(client, notification('notifications/subscriptions/acknowledged', acknowledged))
    for (let count = 0; count < 100; count++) server.say(client, changed)
    expect(notices).toHaveLength(2)
    take()
    await turn()
    server.say(client, changed)
    expect(notices).toHaveLength(3)
  })

  test('E8: what nobody waits for is dropped, and the connection lives', async () => {
    const { server, client, call } = connect()
    const { notices, onNotice } = collect()
    const outcome = call(echo, { onNotice })
    const { id } = await server.one()
    server.say(
      client,
      notification('notifications/progress', { progressToken: id ?? null, progress: 1 }),
      notification('notifications/progress', { progressToken: 'x', progress: 1 }),
      notification('notifications/progress', { progressToken: {} }),
      notification('notifications/message', { level: 'info', data: 1 }),
      notification('notifications/tools/list_changed'),
      notification('notifications/unknown'),
      notification('notifications/cancelled', { requestId: id ?? null }),
      resultOf(4711, {}),
      'garbage',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      resultOf(id, { content: [] }),
    )
    expect(await outcome).toEqual({ kind: 'result', value: { content: [] } })
    expect(notices).toEqual([])
    expect(await server.sent()).toEqual([])
    expect(server.diagnostics.map(({ code }) => code)).toEqual([
      'unknown-addressee',
      'unknown-addressee',
      'bad-notice',
      'unknown-addressee',
      'unknown-addressee',
      'unknown-addressee',
      'unknown-id',
      'not-a-message',
      'unexpected-request',
    ])
  })

  test('MC-MSG-10, MC-MSG-09: a request of the server is never answered', async () => {
    const { server, client } = connect()
    server.say(client, { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} })
    expect(await server.sent()).toEqual([])
  })

  test('A-33: a log message goes to the only call that asked for some, from its level on', async () => {
    const { server, client, call } = connect()
    const [a, b] = [collect(), collect()]
    const log = (level: string): JsonObject => notification('notifications/message', { level, data: level })
    void call(echo, { onNotice: b.onNotice })
    void call(echo, { logLevel: 'warning', onNotice: a.onNotice })
    await server.sent()
    server.say(client, log('info'), log('error'))
    expect(a.notices.map(({ params }) => params)).toEqual([{ level: 'error', data: 'error' }])
    void call(echo, { logLevel: 'debug', onNotice: b.onNotice })
    await server.sent()
    server.say(client, log('error'))
    expect(a.notices).toHaveLength(1)
    expect(b.notices).toEqual([])
  })

  test('a caller that cannot take a notice harms nobody else', async () => {
    const { server, client, call } = connect()
    const outcome = call(echo, {
      progressToken: 1,
      onNotice: () => {
        throw new Error('mine')
      },
    })
    const { id } = await server.one()
    server.say(
      client,
      notification('notifications/progress', { progressToken: id ?? null, progress: 1 }),
      resultOf(id, { content: [] }),
    )
    expect(await outcome).toMatchObject({ kind: 'result' })
    expect(server.diagnostics.map(({ code }) => code)).toEqual(['notice-refused'])
  })
})

describe('subscriptions', () => {
  const listen: Call = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
  const tagged = (id: unknown, method: string, params: JsonObject = {}): JsonObject =>
    notification(method, { ...params, _meta: { [metaKey.subscriptionId]: id as number } })
  const ack = (id: unknown): JsonObject =>
    tagged(id, 'notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true } })

  test('MC-SUB-03, MC-SUB-08, MC-SUB-09: notices go to their subscription, and none before the acknowledgement', async () => {
    const { server, client, call } = connect()
    const [a, b] = [collect(), collect()]
    void call(listen, { onNotice: a.onNotice })
    void call(listen, { onNotice: b.onNotice })
    const [first, second] = await server.sent()
    const changed = 'notifications/tools/list_changed'
    server.say(
      client,
      tagged(first?.['id'], changed),
      ack(first?.['id']),
      ack(first?.['id']),
      tagged(first?.['id'], changed),
    )
    server.say(client, ack(second?.['id']))
    expect(a.notices).toEqual([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: { toolsListChanged: true } } },
      { method: changed, params: {} },
    ])
    expect(b.notices).toHaveLength(1)
  })

  test.each(['result', 'cancelled', 'both'])('A-07: the end that comes as %s is orderly', async (how) => {
    const { server, client, call } = connect()
    const outcome = call(listen)
    const { id } = await server.one()
    server.say(client, ack(id))
    if (how !== 'cancelled')
      server.say(client, resultOf(id, { resultType: 'complete', _meta: { [metaKey.subscriptionId]: id as number } }))
    if (how !== 'result') server.say(client, tagged(id, 'notifications/cancelled', { requestId: id ?? null }))
    expect(await outcome).toMatchObject({ kind: 'result' })
    expect(await server.sent()).toEqual([])
  })

  test('MC-SUB-10: are ended with a cancel', async () => {
    const { server, client, call } = connect()
    const stop = new AbortController()
    const outcome = call(listen, { signal: stop.signal })
    const { id } = await server.one()
    stop.abort()
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' })
    expect(await server.one()).toEqual(notification('notifications/cancelled', { requestId: id ?? null }))
    server.say(client, tagged(id, 'notifications/tools/list_changed'))
    expect(client.openCalls).toBe(0)
  })

  test('draining ends them with their result, leaves other calls alone and takes no new ones', async () => {
    const { server, client, call } = connect()
    const outcome = call(listen)
    const { id } = await server.one()
    const other = call(echo)
    const { id: otherId } = await server.one()
    await client.drain()
    expect(await outcome).toEqual({ kind: 'result', value: {} })
    expect(await server.one()).toEqual(notification('notifications/cancelled', { requestId: id ?? null }))
    await expect(call(listen)).rejects.toMatchObject({ code: -32_603 })
    server.say(client, resultOf(otherId, { content: [] }))
    expect(await other).toMatchObject({ kind: 'result' })
  })
})

describe('the end of the connection', () => {
  test('D14, MC-ERR-11: fails every open call at once, and says whether it may be repeated', async () => {
    const { server, client, call } = connect()
    const failures = [call(echo), call({ method: 'subscriptions/listen', params: { notifications: {} } })].map(
      (outcome) => outcome.catch((reason: unknown) => reason),
    )
    await server.sent()
    const cause = new Error('exit 1')
    client.closed(cause)
    const [lost, ended] = await Promise.all(failures)
    expect(lost).toMatchObject({ name: 'TransportError', kind: 'unknown-outcome', retryable: false, cause })
    expect(ended).toMatchObject({ name: 'TransportError', kind: 'closed', retryable: true, cause })
    await expect(call(echo)).rejects.toMatchObject({ kind: 'closed', cause })
    expect(client.openCalls).toBe(0)
    expect(await server.sent()).toEqual([])
  })

  test('MC-CANC-01: when we end it, the server is told that nobody waits any more', async () => {
    const { server, client, call } = connect()
    const failure = call(echo).catch((reason: unknown) => reason)
    const { id } = await server.one()
    client.abandon()
    expect(await server.one()).toEqual(notification('notifications/cancelled', { requestId: id ?? null }))
    client.closed()
    expect(await failure).toMatchObject({ kind: 'unknown-outcome' })
    client.abandon()
    expect(await server.sent()).toEqual([])
  })

  test('a call that could not be handed over fails with what went wrong', async () => {
    const { server, client, call } = connect()
    server.vanish()
    await expect(call(echo)).rejects.toMatchObject({ kind: 'closed', message: 'gone' })
    expect(client.openCalls).toBe(0)
  })
})

test('the view is what the server said of itself', () => {
  const { client } = connect()
  const view = client.view({ id: 'local', authenticated: true })
  if (view instanceof Promise) throw new Error('the view is known')
  expect(view).toMatchObject({
    info: { name: 's', version: '1' },
    instructions: 'how',
    capabilities: { tools: {}, logging: {} },
  })
  const methods = [
    'tools/list',
    'tools/call',
    'prompts/list',
    'server/discover',
    'subscriptions/listen',
    'ping',
    'constructor',
  ]
  expect(methods.filter((name) => view.has(name))).toEqual([
    'tools/list',
    'tools/call',
    'server/discover',
    'subscriptions/listen',
  ])
})

test('a signal of a caller is let go when the call has ended', async () => {
  const { server, client } = connect()
  let listeners = 0
  const context = createCallerContext()
  const { signal } = context
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--
    remove(...args)
  }
  const outcome = client.call(echo, context satisfies CallContext)
  const { id } = await server.one()
  expect(listeners).toBe(1)
  server.say(client, resultOf(id, { content: [] }))
  await outcome
  expect(listeners).toBe(0)
})
