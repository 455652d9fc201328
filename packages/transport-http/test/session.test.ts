import { type Call, type JsonObject, legacyRevision, type Outcome, TransportError } from '@atenea/mcpcompat'
import { type Clock, systemClock } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { SessionLostError } from '../src/http-errors.ts'
import { createVerdictStore } from '../src/verdicts.ts'
import { type Connected, connect, failureOf, type TestOptions, until } from './_util/client.ts'
import {
  type Arrived,
  errorOf,
  event,
  json,
  plain,
  resultOf,
  type Script,
  scriptedServer,
  stream,
} from './_util/scripted-server.ts'
import { legacy } from './_util/servers.ts'

const done = { content: [{ type: 'text', text: 'done' }] }
const answersAll: Script = (arrived, response) => json(response, 200, resultOf(arrived, done))

/** Time that runs a hundred times faster, for what waits on purpose. */
function fastClock(waits: number[] = []): Clock {
  return {
    now: () => systemClock.now() * 100,
    after(delayMs, run, options) {
      waits.push(delayMs)
      return systemClock.after(delayMs / 100, run, options)
    },
  }
}

async function connectLegacy(url: string, options: TestOptions = {}): Promise<Connected> {
  return await connect(url, { mode: 'legacy', ...options })
}

function ofKind(arrived: readonly Arrived[], httpMethod: string): readonly Arrived[] {
  return arrived.filter(({ method }) => method === httpMethod)
}

describe('a session', () => {
  test('A19, LG-HTTP-03, LG-HTTP-09, LG-LIFE-03, LG-SESS-03, LG-SESS-07, LG-GET-01, LG-LIFE-11: is opened, used and ended with its id and revision on every request', async () => {
    const { script, state } = legacy({ calls: answersAll, get: (_arrived, response) => stream(response) })
    await using server = await scriptedServer(script)
    {
      await using client = await connectLegacy(server.url)
      await client.tool('a', { x: 1 })
      await until(() => ofKind(server.arrived, 'GET').length === 1)
    }
    const [initialize, ...later] = server.arrived
    expect(initialize?.headers['mcp-session-id']).toBeUndefined()
    const order = later.map(({ method, rpcMethod }) => (rpcMethod === '' ? method : rpcMethod))
    expect([order[0], new Set(order.slice(1, 3)), order[3]]).toEqual([
      'notifications/initialized',
      new Set(['GET', 'tools/call']),
      'DELETE',
    ])
    for (const { headers, method } of later) {
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': legacyRevision })
      expect(headers['accept']).toBe(method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream')
      expect(headers['mcp-method']).toBeUndefined()
    }
    expect(state.sessions.size).toBe(0)
  })

  test('what follows the handshake waits until the server has taken initialized', async () => {
    let released = false
    const { script } = legacy({
      calls: (arrived, response) => {
        expect(released).toBe(true)
        json(response, 200, resultOf(arrived, done))
      },
      others: (_arrived, response) => {
        setTimeout(() => {
          released = true
          plain(response, 202)
        }, 50)
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    expect(await client.tool('a')).toMatchObject(done)
  })

  test('LG-SESS-02: an id that no header can hold ends the handshake, and the answer that brought it is let go', async () => {
    let letGo: Promise<void> | undefined
    await using server = await scriptedServer((arrived, response) => {
      letGo = arrived.closed
      stream(response, { 'mcp-session-id': 'id with blanks' })
    })
    expect(await failureOf(connectLegacy(server.url))).toMatchObject({ kind: 'protocol' })
    await letGo
  })

  test('a server without session ids is served as well, and gets no DELETE', async () => {
    await using server = await scriptedServer((arrived, response) => {
      const { method } = arrived.body
      if (method === 'initialize')
        json(
          response,
          200,
          resultOf(arrived, {
            protocolVersion: legacyRevision,
            capabilities: {},
            serverInfo: { name: 's', version: '1' },
          }),
        )
      else if (arrived.method === 'GET') plain(response, 404)
      else if (arrived.body['id'] === undefined) plain(response, 202)
      else plain(response, 404)
    })
    {
      await using client = await connectLegacy(server.url)
      // C4: without a session id 404 is no lost session
      expect(await failureOf(client.tool('a'))).toMatchObject({ kind: 'protocol', status: 404 })
    }
    expect(server.calls('initialize')).toHaveLength(1)
    expect(ofKind(server.arrived, 'DELETE')).toEqual([])
  })

  test('LG-SESS-07: a server that lets nobody end a session does not hold us up', async () => {
    const { script } = legacy({ calls: answersAll })
    await using server = await scriptedServer(async (arrived, response, request) => {
      if (arrived.method !== 'DELETE') await script(arrived, response, request)
    })
    const client = await connectLegacy(server.url)
    const started = performance.now()
    await client[Symbol.asyncDispose]()
    expect(performance.now() - started).toBeLessThan(4_000)
  })

  test('LG-HTTP-08, LG-CANC-03, MC-CANC-01: a call is cancelled by a notification', async () => {
    const { script } = legacy({ calls: (_arrived, response) => stream(response) })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    const stop = new AbortController()
    const reason = new Error('enough')
    const failing = failureOf(client.tool('slow', {}, { signal: stop.signal }))
    await until(() => server.calls('tools/call').length === 1)
    stop.abort(reason)
    expect(await failing).toBe(reason)
    await until(() => server.calls('notifications/cancelled').length === 1)
    const [call] = server.calls('tools/call')
    expect(server.calls('notifications/cancelled')[0]?.body['params']).toEqual({ requestId: call?.body['id'] })
    await call?.closed
  })

  test('MC-TMO-01: a call has a limit', async () => {
    const { script } = legacy({ calls: (_arrived, response) => stream(response) })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { callTimeoutMs: 50 })
    expect(await failureOf(client.tool('slow'))).toMatchObject({ kind: 'timeout' })
    await until(() => server.calls('notifications/cancelled').length === 1)
  })

  test('a handshake that is not answered is a timeout', async () => {
    await using server = await scriptedServer(() => undefined)
    expect(await failureOf(connectLegacy(server.url, { handshakeTimeoutMs: 50 }))).toMatchObject({
      kind: 'timeout',
      retryable: true,
    })
  })

  test('A-10, C16: errors and foreign answers come to the one who called', async () => {
    const { script } = legacy({
      calls: (arrived, response) => {
        const name = (arrived.body['params'] as JsonObject)['name']
        if (name === 'error') json(response, 400, errorOf(arrived, -32_602, 'bad'))
        else if (name === 'no-id')
          json(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'odd' } })
        else if (name === 'page') plain(response, 502, '<html>')
        else if (name === 'nothing') plain(response, 202)
        else if (name === 'auth') plain(response, 401, '', { 'www-authenticate': 'Bearer' })
        else json(response, 200, { Output: 1 })
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    expect(await failureOf(client.tool('error'))).toMatchObject({ code: -32_602 })
    expect(await failureOf(client.tool('no-id'))).toMatchObject({ code: -32_600, message: 'odd' })
    expect(await failureOf(client.tool('page'))).toMatchObject({ kind: 'unknown-outcome', status: 502 })
    expect(await failureOf(client.tool('nothing'))).toMatchObject({ kind: 'unknown-outcome' })
    expect(await failureOf(client.tool('auth'))).toMatchObject({ kind: 'auth' })
    expect(await failureOf(client.tool('other'))).toMatchObject({ kind: 'unknown-outcome' })
    expect(server.calls('tools/call')).toHaveLength(6)
  })

  test('C4: 400 for a session id that is missing or bad is not taken for a session that is over', async () => {
    const { script } = legacy({ calls: (_arrived, response) => plain(response, 400, 'Bad session') })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    expect(await failureOf(client.tool('a'))).toMatchObject({ status: 400 })
    expect(server.calls('initialize')).toHaveLength(1)
  })

  test('F11: a connection that breaks under a tool call: it is not made again', async () => {
    const { script } = legacy({ calls: (_arrived, _response, request) => void request.socket.destroy() })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    expect(await failureOf(client.tool('counts'))).toMatchObject({ kind: 'unknown-outcome' })
    expect(server.calls('tools/call')).toHaveLength(1)
  })
})

describe('a session that the server has forgotten', () => {
  test('C4, LG-SESS-06, BR-234: one fresh handshake without id, one repetition', async () => {
    const { script, state } = legacy({ calls: answersAll })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    await client.tool('a')
    state.sessions.clear()
    const answers = await Promise.all([client.tool('b'), client.tool('c'), client.call('tools/list')])
    expect(answers).toMatchObject([done, done, { kind: 'result' }])
    const handshakes = server.calls('initialize')
    expect(handshakes).toHaveLength(2)
    expect(handshakes.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined, undefined])
    expect(server.calls('notifications/initialized')).toHaveLength(2)
    expect(server.arrived.at(-1)?.headers['mcp-session-id']).toBe('session-2')
  })

  test('C4: a second loss surfaces', async () => {
    const { script, state } = legacy({ calls: answersAll })
    await using server = await scriptedServer(async (arrived, response, request) => {
      if (arrived.body['method'] === 'tools/call') state.sessions.clear()
      await script(arrived, response, request)
    })
    await using client = await connectLegacy(server.url)
    const failure = await failureOf(client.tool('a'))
    expect(SessionLostError.is(failure) && TransportError.is(failure)).toBe(true)
    // whoever is above us is not to take it for a call that another connection would help
    expect(failure).toMatchObject({ kind: 'protocol', retryable: false })
    expect(server.calls('initialize')).toHaveLength(2)
    expect(server.calls('tools/call')).toHaveLength(2)
  })

  test('C5: 404 for its stream opens a new one without anybody calling', async () => {
    const { script, state } = legacy({
      calls: answersAll,
      get: (_arrived, response) => {
        stream(response)
        if (state.begun === 1) {
          state.sessions.clear()
          response.end(event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
        }
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { clock: fastClock() })
    await until(() => state.begun === 2)
    expect(await client.tool('a')).toMatchObject(done)
    expect(server.calls('initialize')).toHaveLength(2)
  })

  test('C5: a server that answers 404 to every first stream is not given sessions for ever', async () => {
    const { script, state } = legacy({ calls: answersAll, get: (_arrived, response) => plain(response, 404) })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { clock: fastClock() })
    await until(() => client.diagnostics.some(({ code }) => code === 'no-stream'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(state.begun).toBe(2)
    expect(await client.tool('a')).toMatchObject(done)
  })

  test('BR-131: subscriptions move on, and tell that anything may have changed', async () => {
    let get: Parameters<Script>[1] | undefined
    const { script, state } = legacy({
      calls: (arrived, response) =>
        json(response, 200, resultOf(arrived, arrived.body['method'] === 'tools/call' ? done : {})),
      get: (_arrived, response) => {
        stream(response)
        get = response
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    const notices: Call[] = []
    const stop = new AbortController()
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['a:1'] }
    const listening = failureOf(
      client.call(
        'subscriptions/listen',
        { notifications },
        { signal: stop.signal, onNotice: (notice) => void notices.push(notice) },
      ),
    )
    await until(() => notices.length === 1 && get !== undefined)
    state.sessions.clear()
    await client.tool('a')
    await until(() => server.calls('resources/subscribe').length === 2 && notices.length === 3)
    expect(notices.map(({ method, params }) => [method, params])).toEqual([
      ['notifications/subscriptions/acknowledged', { notifications }],
      ['notifications/tools/list_changed', {}],
      ['notifications/resources/updated', { uri: 'a:1' }],
    ])
    await until(() => ofKind(server.arrived, 'GET').length === 2)
    get?.write(event({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } }))
    await until(() => notices.length === 4)
    stop.abort(new Error('enough'))
    expect(await listening).toMatchObject({ message: 'enough' })
  })

  test('F11: a call that the server had taken before it forgot the session is not made again', async () => {
    const { script, state } = legacy({
      calls: (arrived, response) => {
        const { name } = arrived.body['params'] as { readonly name: string }
        if (name === 'quick') return json(response, 200, resultOf(arrived, done))
        stream(response)
        if (name === 'broken') {
          state.sessions.clear()
          response.end('id: e1\ndata:\n\n')
        }
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { clock: fastClock() })
    const slow = failureOf(client.tool('slow'))
    await until(() => server.calls('tools/call').length === 1)
    // its stream cannot be taken up, since the session is gone
    expect(await failureOf(client.tool('broken'))).toMatchObject({ kind: 'unknown-outcome' })
    expect(await client.tool('quick')).toMatchObject(done)
    // an answer that may still come is waited for, but not for ever
    expect(await slow).toMatchObject({ kind: 'unknown-outcome' })
    const names = server.calls('tools/call').map(({ body }) => (body['params'] as JsonObject)['name'])
    expect(names.filter((name) => name !== 'quick')).toEqual(['slow', 'broken'])
  })

  test('when no new session can be opened, the next call tries again', async () => {
    let down = false
    const { script, state } = legacy({ calls: answersAll })
    await using server = await scriptedServer(async (arrived, response, request) => {
      if (down && arrived.body['method'] === 'initialize') plain(response, 503)
      else await script(arrived, response, request)
    })
    await using client = await connectLegacy(server.url)
    state.sessions.clear()
    down = true
    expect(await failureOf(client.tool('a'))).toMatchObject({ status: 503 })
    expect(await failureOf(client.tool('a'))).toMatchObject({ status: 503 })
    down = false
    expect(await client.tool('a')).toMatchObject(done)
  })
})

test('a server that has become modern-only under a session is told as such, and its verdict is forgotten', async () => {
  const verdicts = createVerdictStore()
  let upgraded = false
  const { script } = legacy({ calls: answersAll })
  await using server = await scriptedServer(async (arrived, response, request) => {
    if (!upgraded) await script(arrived, response, request)
    else if (arrived.rpcMethod === 'initialize')
      json(response, 400, errorOf(arrived, -32_022, 'modern only', { supported: [] }))
    else plain(response, 404)
  })
  await using client = await connect(server.url, { verdicts })
  expect(await verdicts.get(server.url)).toMatchObject({ era: 'legacy' })
  upgraded = true
  const failure = await failureOf(client.tool('a'))
  expect(TransportError.is(failure)).toBe(true)
  expect(failure).toMatchObject({ kind: 'protocol', cause: { code: -32_022 } })
  expect(client.connection.verdict).toBeUndefined()
  expect(await verdicts.get(server.url)).toBeUndefined()
})

describe('the stream of a session', () => {
  test('LG-GET-03, LG-HTTP-06: carries what belongs to no request, and questions of the only call that is open', async () => {
    let get: Parameters<Script>[1] | undefined
    const answers: Arrived[] = []
    const { script } = legacy({
      get: (_arrived, response) => {
        stream(response)
        get = response
      },
      calls: (arrived, response) => {
        stream(response)
        get?.write(
          event({
            jsonrpc: '2.0',
            id: 's1',
            method: 'elicitation/create',
            params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
          }),
        )
        void until(() => answers.length === 1).then(() => response.end(event(resultOf(arrived, done))))
      },
      others: (arrived, response) => {
        if (arrived.body['result'] !== undefined) answers.push(arrived)
        plain(response, 202)
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    await until(() => get !== undefined)
    const asked = await client.call('tools/call', { name: 'asks', arguments: {} })
    if (asked.kind !== 'ask' || asked.requestState === undefined) throw new Error(asked.kind)
    const [key = ''] = asked.inputRequests?.keys() ?? []
    const resume = { requestState: asked.requestState, inputResponses: { [key]: { action: 'accept', content: {} } } }
    expect(await client.call('tools/call', { name: 'asks', arguments: {} }, { resume })).toMatchObject({
      kind: 'result',
    })
    expect(answers[0]).toMatchObject({
      body: { id: 's1', result: { action: 'accept' } },
      headers: { 'mcp-session-id': 'session-1' },
    })
  })

  test('BR-223: a question on the stream of a request belongs to that request', async () => {
    const { script } = legacy({
      calls: (arrived, response) => {
        stream(response)
        const { name } = arrived.body['params'] as JsonObject
        if (name === 'asks') response.write(event({ jsonrpc: '2.0', id: `s-${arrived.rpcId}`, method: 'roots/list' }))
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    const silent = failureOf(client.tool('silent'))
    const asked = await client.call('tools/call', { name: 'asks', arguments: {} })
    expect(asked.kind).toBe('ask')
    await client.connection[Symbol.asyncDispose]()
    expect(await silent).toMatchObject({ kind: 'unknown-outcome' })
  })

  test('C7: 405, 400 and something else than a stream: it is not asked for again', async () => {
    for (const answer of [
      (response: Parameters<Script>[1]) => plain(response, 405),
      (response: Parameters<Script>[1]) => plain(response, 400),
      (response: Parameters<Script>[1]) => plain(response, 200, 'hello'),
    ]) {
      const { script } = legacy({ calls: answersAll, get: (_arrived, response) => answer(response) })
      await using server = await scriptedServer(script)
      await using client = await connectLegacy(server.url, { clock: fastClock() })
      await until(() => client.diagnostics.some(({ code }) => code === 'no-stream'))
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(ofKind(server.arrived, 'GET')).toHaveLength(1)
      expect(await client.tool('a')).toMatchObject(done)
    }
  })

  describe('BR-206: what a server without a stream cannot tell is left out of the acknowledgement', () => {
    const listens = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:1'] }
    /** What is acknowledged, and what the server was asked to watch before that. */
    async function acknowledged(get: Script | undefined, options: TestOptions = {}): Promise<unknown> {
      const { script } = legacy({ calls: answersAll, ...(get !== undefined && { get }) })
      await using server = await scriptedServer(script)
      await using client = await connectLegacy(server.url, options)
      const first = await new Promise<Call>((resolve, reject) => {
        client
          .call('subscriptions/listen', { notifications: listens }, { onNotice: (notice) => resolve(notice) })
          .catch(reject)
      })
      const watched = server.arrived.filter(({ rpcMethod }) => rpcMethod === 'resources/subscribe')
      await client.connection[Symbol.asyncDispose]()
      return [first, watched.length]
    }
    const told = (notifications: JsonObject): Call => ({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications },
    })

    test('405', async () => {
      expect(await acknowledged(undefined)).toEqual([told({}), 0])
    })

    test('nobody asks for the stream', async () => {
      expect(await acknowledged((_arrived, response) => stream(response), { openStream: false })).toEqual([told({}), 0])
    })

    test('a stream that is there', async () => {
      expect(await acknowledged((_arrived, response) => stream(response))).toEqual([
        told({ toolsListChanged: true, resourceSubscriptions: ['a:1'] }),
        1,
      ])
    })

    test('a stream that shows nothing before its first event is waited for, but not for ever', async () => {
      expect(await acknowledged(() => undefined, { clock: fastClock() })).toEqual([
        told({ toolsListChanged: true, resourceSubscriptions: ['a:1'] }),
        1,
      ])
    })
  })

  test('C7: one that ends at once is opened again with growing pauses, up to a minute and no more, which an empty stream does not shorten', async () => {
    const waits: number[] = []
    const { script } = legacy({
      get: (_arrived, response) => {
        stream(response)
        response.end(': nothing\n\n')
      },
    })
    const clock: Clock = {
      now: () => systemClock.now(),
      after(delayMs, run, options) {
        if (delayMs < 1_500 || options?.holdsProcess === true) return systemClock.after(delayMs, run, options)
        waits.push(delayMs)
        return systemClock.after(1, run, options)
      },
    }
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { clock })
    await until(() => waits.length >= 9)
    await client.connection[Symbol.asyncDispose]()
    const expected = [2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000)
    for (const [index, base] of expected.entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(base)
      expect(waits[index]).toBeLessThanOrEqual(base * 1.5)
    }
  })

  test('C7: a pause that the server asks for is kept, and the stream is taken up after its last event', async () => {
    const times: number[] = []
    const { script } = legacy({
      get: (_arrived, response) => {
        times.push(performance.now())
        stream(response)
        response.end(
          `retry: 1300\n\n${event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, `e${times.length}`)}`,
        )
      },
    })
    await using server = await scriptedServer(script)
    await using _client = await connectLegacy(server.url)
    await until(() => times.length === 2)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_290)
    expect(ofKind(server.arrived, 'GET').map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e1'])
  })

  test('can be left out', async () => {
    const { script } = legacy({ calls: answersAll, get: (_arrived, response) => stream(response) })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { openStream: false })
    await client.tool('a')
    expect(ofKind(server.arrived, 'GET')).toEqual([])
  })
})

describe('the stream of an answer', () => {
  test('A-51, BR-239, LG-RESUME-01: is taken up where it broke, after the pause that was asked for, and the call is not made again', async () => {
    let ended = 0
    let pauseMs = 0
    const { script } = legacy({
      calls: (_arrived, response) => {
        stream(response)
        response.end('id: e1\nretry: 500\ndata:\n\n', () => {
          ended = performance.now()
        })
      },
      get: (arrived, response) => {
        if (arrived.headers['last-event-id'] === undefined) return plain(response, 405)
        stream(response)
        if (arrived.headers['last-event-id'] === 'e1') {
          pauseMs = performance.now() - ended
          response.end(
            event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 1 } }, 'e2'),
          )
        } else {
          response.end(event(resultOf(server.calls('tools/call')[0] as Arrived, done), 'e3'))
        }
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    expect(await client.tool('a')).toMatchObject(done)
    expect(pauseMs).toBeGreaterThanOrEqual(490)
    expect(ofKind(server.arrived, 'GET').map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      'e1',
      'e2',
    ])
    expect(server.calls('tools/call')).toHaveLength(1)
  })

  test('LG-RESUME-01: an id of any letters is given back as it came; one that no field can hold cannot be taken up', async () => {
    const answered: Script = (_arrived, response) => {
      stream(response)
      response.end(event(resultOf(server.calls('tools/call').at(-1) as Arrived, done)))
    }
    const { script } = legacy({
      calls: (arrived, response) => {
        stream(response)
        const { name } = arrived.body['params'] as { readonly name: string }
        response.end(`id: ${name}\nretry: 1\ndata:\n\n`)
      },
      get: (arrived, response, request) =>
        arrived.headers['last-event-id'] === undefined ? plain(response, 405) : answered(arrived, response, request),
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { clock: fastClock() })
    for (const id of ['é-1', '日本🎈']) {
      expect(await client.tool(id)).toMatchObject(done)
      const field = ofKind(server.arrived, 'GET').at(-1)?.headers['last-event-id'] ?? ''
      expect(Buffer.from(field, 'latin1').toString()).toBe(id)
    }
    for (const id of ['a\u0001b', 'x'.repeat(5_000)]) {
      expect(await failureOf(client.tool(id))).toMatchObject({ kind: 'unknown-outcome' })
    }
    expect(ofKind(server.arrived, 'GET')).toHaveLength(3)
  })

  test('BR-239: a pause longer than any timer holds is no reason to come back at once', async () => {
    const { script } = legacy({
      calls: (_arrived, response) => {
        stream(response)
        response.end('id: e1\nretry: 99999999999\ndata:\n\n')
      },
      get: (arrived, response) => {
        if (arrived.headers['last-event-id'] === undefined) return plain(response, 405)
        stream(response)
        response.end(
          event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 1 } }, 'e2'),
        )
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { callTimeoutMs: 300 })
    expect(await failureOf(client.tool('a'))).toMatchObject({ kind: 'timeout' })
    expect(ofKind(server.arrived, 'GET').filter(({ headers }) => headers['last-event-id'] !== undefined)).toEqual([])
  })

  test('without ids, or when it cannot be taken up, the call fails as one of unknown outcome, after a bounded number of attempts', async () => {
    const waits: number[] = []
    const { script } = legacy({
      calls: (arrived, response) => {
        stream(response)
        const { name } = arrived.body['params'] as { readonly name: string }
        response.end(name === 'no-ids' ? ': bye\n\n' : `id: ${name}\ndata:\n\n`)
      },
      get: (arrived, response) => {
        const last = arrived.headers['last-event-id']
        if (last === 'empty') {
          stream(response)
          response.end(': empty\n\n')
        } else {
          plain(response, last === 'busy' ? 503 : 405)
        }
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url, { clock: fastClock(waits) })
    for (const [name, gets] of [
      ['no-ids', 0],
      ['refused', 1],
      ['empty', 5],
      ['busy', 5],
    ] as const) {
      expect(await failureOf(client.tool(name))).toMatchObject({ kind: 'unknown-outcome' })
      expect(ofKind(server.arrived, 'GET').filter(({ headers }) => headers['last-event-id'] === name)).toHaveLength(
        gets,
      )
    }
    expect(server.calls('tools/call')).toHaveLength(4)
  })

  test('BR-239: a stream that breaks while its call waits for its caller: the caller is told when it comes back', async () => {
    const { script } = legacy({
      calls: (_arrived, response) => {
        stream(response)
        response.write(event({ jsonrpc: '2.0', id: 's1', method: 'roots/list' }))
        setTimeout(() => response.end(), 100)
      },
    })
    await using server = await scriptedServer(script)
    await using client = await connectLegacy(server.url)
    const params = { name: 'asks', arguments: {} }
    const asked: Outcome = await client.call('tools/call', params)
    if (asked.kind !== 'ask' || asked.requestState === undefined) throw new Error(asked.kind)
    await server.calls('tools/call')[0]?.closed
    await new Promise((resolve) => setTimeout(resolve, 50))
    const [key = ''] = asked.inputRequests?.keys() ?? []
    const resume = { requestState: asked.requestState, inputResponses: { [key]: { roots: [] } } }
    expect(await failureOf(client.call('tools/call', params, { resume }))).toMatchObject({ code: -32_603 })
  })
})

test('BR-223: a server that asks for roots outside of any call is told of those that we have, also after its session was lost', async () => {
  const { script, state } = legacy({
    calls: answersAll,
    get: (_arrived, response) => {
      stream(response)
      response.write(event({ jsonrpc: '2.0', id: 'r', method: 'roots/list' }))
    },
  })
  await using server = await scriptedServer(script)
  await using client = await connectLegacy(server.url, { capabilities: {}, roots: [{ uri: 'file:///srv', name: 'S' }] })
  const told = (): readonly unknown[] =>
    server.arrived.flatMap(({ body }) => (body['id'] === 'r' ? body['result'] : []))
  await until(() => told().length === 1)
  state.sessions.clear()
  await client.tool('a')
  await until(() => told().length === 2)
  expect(new Set(told().map((result) => JSON.stringify(result)))).toEqual(
    new Set(['{"roots":[{"uri":"file:///srv","name":"S"}]}']),
  )
  const offered = server.calls('initialize').map(({ body }) => (body['params'] as JsonObject)['capabilities'])
  expect(offered).toEqual([{ roots: {} }, { roots: {} }])
})

test('the end: open calls fail at once, the server hears of it, and nothing stays open', async () => {
  const { script, state } = legacy({
    calls: (_arrived, response) => stream(response),
    get: (_arrived, response) => stream(response),
  })
  await using server = await scriptedServer(script)
  const client = await connectLegacy(server.url)
  const open = failureOf(client.tool('slow'))
  const listening = failureOf(client.call('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  await until(() => server.calls('tools/call').length === 1 && ofKind(server.arrived, 'GET').length === 1)
  await client[Symbol.asyncDispose]()
  expect(await open).toMatchObject({ kind: 'unknown-outcome' })
  expect(await listening).toMatchObject({ kind: 'closed' })
  expect(server.calls('notifications/cancelled')).toHaveLength(1)
  expect(state.sessions.size).toBe(0)
  await Promise.all(server.arrived.map(async ({ closed }) => await closed))
  expect(await failureOf(client.tool('a'))).toMatchObject({ kind: 'closed' })
  expect(await client.connection.ended).toBeUndefined()
})
