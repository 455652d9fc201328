import { createRevisionPolicy, type Dispatcher, type JsonObject, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import { withResolvers } from '@atenea/mcpcompat/transport'
import type { CreateHttpHandlerOptions } from '@atenea/transport-http'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { type HttpAnswer, type HttpCarrier, type OpenCarrier, overFetch, overNode } from './_util/http-carriers.ts'
import { askModern, both, Events, messageOf, openSession, postFields } from './_util/http-client.ts'
import { until } from './_util/processes.ts'

const policy = createRevisionPolicy()
const [latestLegacy = '', , olderLegacy = ''] = revisionsOf('legacy')

type Serving = (
  use: (carrier: HttpCarrier) => Promise<void>,
  options?: Partial<CreateHttpHandlerOptions>,
) => Promise<void>

/** Serves the suite's core while a test uses it, and looks that nothing is left open then. */
function serving(open: OpenCarrier, dispatcher: () => Dispatcher = createServedCore): Serving {
  return async (use, options = {}) => {
    const carrier = await open(dispatcher(), { policy, ...options })
    try {
      await use(carrier)
    } finally {
      await carrier[Symbol.asyncDispose]()
    }
    expect([carrier.handler.openCalls, carrier.handler.sessions]).toEqual([0, 0])
  }
}

const echo = { name: 'echo', arguments: { text: 'hi' } }
const sleepLong = { name: 'sleep', arguments: { ms: 60_000 } }
const works = { name: 'works', arguments: {} }

/** Asks for a session, and does not use it. */
async function opening({ ask }: HttpCarrier): Promise<HttpAnswer> {
  const params = { protocolVersion: 'x', capabilities: {}, clientInfo: { name: 'n', version: '1' } }
  return await ask({
    headers: postFields,
    body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'initialize', params }),
  })
}

/** What one tool answered, as text. */
function textOf(message: JsonObject): unknown {
  const { result } = message as { result?: { content?: readonly { text?: unknown }[] } }
  return result?.content?.[0]?.text
}

function codeOf(message: JsonObject): unknown {
  return (message['error'] as { code?: unknown } | undefined)?.code
}

describe.each([
  ['node:http', overNode],
  ['fetch', overFetch],
] as const)('served by %s', (_name, open) => {
  const served = serving(open)

  describe('a modern exchange', () => {
    test('MH-EP-01, MH-POST-07, MH-SSE-05: is JSON when one message is enough', async () => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', echo)
        expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json'])
        const message = await messageOf(answer)
        expect(message).toMatchObject({ jsonrpc: '2.0', id: 1, result: { resultType: 'complete' } })
        expect(textOf(message)).toBe('hi')
      })
    })

    test('MH-ERA-06, MH-ERA-07, MH-ERA-08: knows no session: an id is neither read nor made, and nothing is resumed', async () => {
      await served(async (carrier) => {
        const headers = { 'mcp-session-id': 'gone', 'last-event-id': '1-1' }
        const answer = await askModern(carrier, 'tools/call', echo, { headers })
        expect(answer.status).toBe(200)
        expect(answer.headers).not.toHaveProperty('mcp-session-id')
        expect(textOf(await messageOf(answer))).toBe('hi')
        expect(carrier.handler.sessions).toBe(0)
      })
    })

    test('MH-SSE-01, MH-SSE-03, MH-SSE-05, MH-SSE-08, A-50: is a stream when a notice comes first, without ids', async () => {
      await served(async (carrier) => {
        const meta = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'warning' }
        const answer = await askModern(carrier, 'tools/call', works, { meta })
        expect(answer.headers).toMatchObject({
          'content-type': 'text/event-stream',
          'cache-control': expect.stringContaining('no-cache') as string,
          'x-accel-buffering': 'no',
        })
        const events = await new Events(answer).rest()
        expect(events.every(({ id }) => id === undefined)).toBe(true)
        expect(events.map(({ message }) => message['method'] ?? textOf(message))).toEqual([
          'notifications/progress',
          'notifications/message',
          'notifications/progress',
          'worked',
        ])
      })
    })

    test('A-20, A-50: only JSON is accepted: notices are left out', async () => {
      await served(async (carrier) => {
        const options = { meta: { progressToken: 'p' }, headers: { accept: 'application/json' } }
        const message = await messageOf(await askModern(carrier, 'tools/call', works, options))
        expect(textOf(message)).toBe('worked')
      })
    })

    test('A-20: only a stream is accepted: the one message is an event', async () => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', echo, { headers: { accept: 'text/event-stream' } })
        const events = await new Events(answer).rest()
        expect(events.map(({ message }) => textOf(message))).toEqual(['hi'])
      })
    })

    test('MH-SSE-10, MC-CANC-03, A-47: a client that goes cancels its call at once, as JSON and as a stream', async () => {
      let aborted = 0
      const counting = serving(open, () => createServedCore({ onAborted: () => (aborted += 1) }))
      await counting(async (carrier) => {
        for (const accept of ['application/json', both]) {
          const away = new AbortController()
          const asked = askModern(carrier, 'tools/call', sleepLong, { headers: { accept }, signal: away.signal })
          asked.catch(() => undefined)
          await until(() => carrier.handler.openCalls === 1)
          away.abort()
          await until(() => carrier.handler.openCalls === 0)
        }
        expect(aborted).toBe(2)
      })
    })

    test('MH-SSE-10: so does one that goes in the middle of a stream', async () => {
      let aborted = 0
      const counting = serving(open, () => createServedCore({ onAborted: () => (aborted += 1) }))
      await counting(async (carrier) => {
        const answer = await askModern(carrier, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
        await new Events(answer).next()
        expect(carrier.handler.openCalls).toBe(1)
        answer.leave()
        await until(() => carrier.handler.openCalls === 0)
      })
      expect(aborted).toBe(0)
    })

    test('C20: the same id twice at the same time: both get their own answers', async () => {
      await served(async (carrier) => {
        const slow = askModern(carrier, 'tools/call', { name: 'sleep', arguments: { ms: 150 } }, { id: 5 })
        const fast = await askModern(carrier, 'tools/call', echo, { id: 5 })
        expect(textOf(await messageOf(fast))).toBe('hi')
        expect(textOf(await messageOf(await slow))).toBe('slept')
      })
    })

    test('MC-ERR-12, MH-POST-10: a method that is not there is 404 with the id', async () => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'resources/subscribe', { uri: 'note:///today' }, { id: 'x' })
        expect(answer.status).toBe(404)
        expect(await messageOf(answer)).toMatchObject({ id: 'x', error: { code: -32_601 } })
      })
    })

    test('MC-REQ-09, MC-MRTR-06: a call that needs what the client did not declare is 400, with what is missing', async () => {
      await served(async (carrier) => {
        const params = { name: 'asks', arguments: { greeting: 'Hi' } }
        const answer = await askModern(carrier, 'tools/call', params, { id: 'q' })
        expect(answer.status).toBe(400)
        expect(await messageOf(answer)).toMatchObject({
          id: 'q',
          error: { code: -32_021, data: { requiredCapabilities: { elicitation: {} } } },
        })
      })
    })

    test('MH-SSE-02, MC-MSG-10: what a tool asks is part of its result; no request is ever put on a stream', async () => {
      await served(async (carrier) => {
        const params = { name: 'asks', arguments: { greeting: 'Hi' } }
        const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {}, roots: {} } }
        const headers = { accept: 'text/event-stream' }
        const events = await new Events(await askModern(carrier, 'tools/call', params, { meta, headers })).rest()
        expect(events.map(({ message }) => message)).toMatchObject([
          { id: 1, result: { resultType: 'input_required' } },
        ])
        expect(events.filter(({ message }) => 'method' in message)).toEqual([])
      })
    })

    test('A-10: what a handler refuses is 200, and so is an unknown tool', async () => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', { name: 'nothing' })
        expect([answer.status, codeOf(await messageOf(answer))]).toEqual([200, -32_602])
      })
    })

    test('MC-DISC-01, A-25: discovery names all that is served', async () => {
      await served(async (carrier) => {
        const { result } = await messageOf(await askModern(carrier, 'server/discover'))
        expect(result).toMatchObject({ supportedVersions: policy.supported, capabilities: { tools: {} } })
      })
    })

    test('MC-SUB-03, MC-SUB-11, MH-SSE-04, A-07: a subscription is a stream, ended with its result when the server ends', async () => {
      await served(async (carrier) => {
        const params = { notifications: { toolsListChanged: true } }
        const answer = await askModern(carrier, 'subscriptions/listen', params, { id: 's' })
        const events = new Events(answer)
        const first = await events.next()
        expect(first?.message).toMatchObject({
          method: 'notifications/subscriptions/acknowledged',
          params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 's' } },
        })
        await (await askModern(carrier, 'tools/call', { name: 'changes' })).text()
        expect((await events.next())?.message['method']).toBe('notifications/tools/list_changed')
        const drained = carrier.handler.drain()
        const last = await events.rest()
        expect(last.map(({ message }) => message)).toMatchObject([
          { id: 's', result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 's' } } },
        ])
        await drained
        const refused = await askModern(carrier, 'tools/call', echo)
        expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
      })
    })

    test('A-31: subscriptions beyond the limit are refused before they are acknowledged', async () => {
      await served(
        async (carrier) => {
          const params = { notifications: {} }
          const first = await askModern(carrier, 'subscriptions/listen', params)
          await new Events(first).next()
          const second = await askModern(carrier, 'subscriptions/listen', params)
          expect([second.status, codeOf(await messageOf(second))]).toEqual([200, -32_603])
          first.leave()
        },
        { maxListens: 1 },
      )
    })

    test('calls beyond the limit are refused, and let in again afterwards', async () => {
      await served(
        async (carrier) => {
          const slow = askModern(carrier, 'tools/call', { name: 'sleep', arguments: { ms: 200 } })
          await until(() => carrier.handler.openCalls === 1)
          const late = askModern(carrier, 'tools/call', { name: 'sleep', arguments: { ms: 1 } })
          expect(codeOf(await messageOf(await late))).toBe(-32_603)
          await (await slow).text()
          expect(textOf(await messageOf(await askModern(carrier, 'tools/call', echo)))).toBe('hi')
        },
        { maxInFlight: 1 },
      )
    })

    test('C25, MH-POST-05, A-19: a notification is 202 without a body, a contradiction 400', async () => {
      await served(async (carrier) => {
        const headers = { ...postFields, 'mcp-protocol-version': modernRevision }
        for (const method of ['notifications/initialized', 'notifications/unknown', 'notifications/cancelled']) {
          const body = JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 1 } })
          const answer = await carrier.ask({ headers, body })
          expect([answer.status, await answer.text()]).toEqual([202, ''])
        }
        const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' })
        const refused = await carrier.ask({ headers: { ...headers, 'mcp-method': 'notifications/y' }, body })
        expect([refused.status, codeOf(await messageOf(refused))]).toEqual([400, -32_020])
      })
    })

    test('MH-POST-04, MC-MSG-13: arrays and responses are refused', async () => {
      await served(async (carrier) => {
        for (const body of ['[]', '{"jsonrpc":"2.0","id":1,"result":{}}']) {
          const answer = await carrier.ask({ headers: postFields, body })
          const message = await messageOf(answer)
          expect([answer.status, codeOf(message), 'id' in message]).toEqual([400, -32_600, false])
        }
      })
    })
  })

  describe('field reports', () => {
    test('A14: a broken modern request is an error, never served as legacy', async () => {
      await served(async (carrier) => {
        const headers = { ...postFields, 'mcp-protocol-version': modernRevision, 'mcp-method': 'tools/list' }
        const body = JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/list', params: {} })
        const answer = await carrier.ask({ headers, body })
        expect([answer.status, await messageOf(answer)]).toMatchObject([400, { id: 3, error: { code: -32_602 } }])
      })
    })

    test('A16, A-62: a handshake is served from its body; a later request with another revision is 400', async () => {
      await served(async (carrier) => {
        const session = await openSession(carrier, { headers: { 'mcp-protocol-version': latestLegacy } }).catch(
          (error: unknown) => error,
        )
        // the helper goes on with that header, which is the later request
        expect(session).toMatchObject({ message: expect.stringContaining('400') as string })
        const good = await openSession(carrier)
        const refused = await good.ask('tools/call', echo, { headers: { 'mcp-protocol-version': olderLegacy }, id: 9 })
        expect([refused.status, await messageOf(refused)]).toMatchObject([400, { id: 9 }])
      })
    })

    test('A17, A-48: neither a handshake nor a request of a session needs the version header', async () => {
      await served(async (carrier) => {
        const session = await openSession(carrier, { headers: { 'mcp-protocol-version': undefined } })
        const answer = await session.ask('tools/call', echo)
        expect([answer.status, textOf(await messageOf(answer))]).toEqual([200, 'hi'])
      })
    })

    test('B5: a header that is missing or differs is -32020 with the id, and no handler runs', async () => {
      let calls = 0
      const core = createServedCore()
      const counting = serving(open, () => ({
        call: (call, context) => {
          calls += 1
          return core.call(call, context)
        },
        notify: (notice, context) => core.notify(notice, context),
        view: (principal) => core.view(principal),
        drain: async () => await core.drain(),
      }))
      await counting(async (carrier) => {
        for (const headers of [
          { 'mcp-name': 'other' },
          { 'mcp-method': undefined },
          { 'mcp-method': 'Tools/Call' },
          { 'mcp-name': undefined },
          { 'mcp-name': 'echo, echo' },
          { 'mcp-protocol-version': undefined },
        ]) {
          const answer = await askModern(carrier, 'tools/call', echo, { headers, id: 'b5' })
          expect([answer.status, await messageOf(answer)]).toMatchObject([400, { id: 'b5', error: { code: -32_020 } }])
        }
        expect(calls).toBe(0)
      })
    })

    test.each<[string | undefined, number, string?]>([
      [undefined, 200],
      ['*/*', 200],
      ['application/*, text/*;q=0.5', 200],
      ['application/json', 200],
      ['TEXT/EVENT-STREAM,application/JSON', 200],
      ['application/json;q=0, text/event-stream', 200, 'text/event-stream'],
      ['text/html', 406],
      ['application/json;q=0, text/event-stream;q=0', 406],
    ])('C1: Accept %j is understood', async (accept, status, type = 'application/json') => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', echo, { headers: { accept } })
        expect([answer.status, answer.headers['content-type']]).toEqual([status, type])
        await answer.text()
      })
    })

    test.each([
      ['application/json; charset=utf-8', 200],
      ['Application/JSON', 200],
      ['application/json;charset="UTF-8"', 200],
      ['text/plain', 415],
      ['application/jsonx', 415],
      ['text/plain; x=application/json', 415],
    ])('C2: Content-Type %j is %d', async (type, status) => {
      await served(async (carrier) => {
        const answer = await askModern(carrier, 'tools/call', echo, { headers: { 'content-type': type } })
        expect(answer.status).toBe(status)
        await answer.text()
      })
    })

    test('C4: an unknown session is 404, a missing one 400, on every method', async () => {
      await served(async (carrier) => {
        const session = await openSession(carrier)
        for (const [headers, status] of [
          [{ 'mcp-session-id': 'nobody-knows' }, 404],
          [{ 'mcp-session-id': undefined }, 400],
        ] as const) {
          expect((await session.ask('tools/call', echo, { headers })).status).toBe(status)
          expect((await session.tell({ method: 'notifications/initialized' }, headers)).status).toBe(status)
          expect((await session.bare('GET', headers)).status).toBe(status)
          expect((await session.bare('DELETE', headers)).status).toBe(status)
        }
        expect(textOf(await messageOf(await session.ask('tools/call', echo)))).toBe('hi')
      })
    })

    test('C7: where no stream is offered, GET and DELETE are 405 with Allow, and nobody is asked who they are', async () => {
      await served(
        async (carrier) => {
          for (const method of ['GET', 'DELETE', 'PUT']) {
            const answer = await carrier.ask({ method, headers: { accept: 'text/event-stream' } })
            expect([answer.status, answer.headers['allow'], await answer.text()]).toEqual([405, 'POST', ''])
            expect(answer.headers).not.toHaveProperty('www-authenticate')
          }
        },
        { policy: createRevisionPolicy({ legacy: [] }), authenticate: () => ({ status: 401 }) },
      )
    })

    test('C8: a stream sends its first byte at once, and a sign of life while it is quiet', async () => {
      await served(
        async (carrier) => {
          const session = await openSession(carrier)
          const stream = await session.bare('GET')
          expect(stream.headers['x-accel-buffering']).toBe('no')
          expect(await stream.next()).toBe(':\n\n')
          expect(await stream.next()).toBe(':\n\n')
          stream.leave()
          // a call that says nothing for long becomes a stream as well
          const slow = await session.ask('tools/call', { name: 'sleep', arguments: { ms: 1_500 } })
          expect(await slow.next()).toBe(':\n\n')
          const events = await new Events(slow).rest()
          expect(events.map(({ message }) => textOf(message))).toEqual(['slept'])
        },
        { keepAliveMs: 160 },
      )
    })

    test('C16: a path that is no endpoint is 404 and no JSON-RPC', async () => {
      await served(async (carrier) => {
        const answer = await carrier.ask({ path: '/other', headers: postFields, body: '{}' })
        expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8'])
        await answer.text()
        for (const path of ['/mcp/', '/mcp?x=1']) {
          const found = await carrier.ask({ path, headers: postFields, body: '' })
          expect([found.status, codeOf(await messageOf(found))]).toEqual([400, -32_700])
        }
      })
    })

    test.each([99_000, 110_000, 3_000_000])('C17: a body of %d bytes is read', async (size) => {
      await served(async (carrier) => {
        const text = 'x'.repeat(size)
        const answer = await askModern(carrier, 'tools/call', { name: 'echo', arguments: { text } })
        expect(textOf(await messageOf(answer))).toBe(text)
      })
    })

    test('C17, MC-ERR-05: a body over the limit is 413 with a JSON-RPC error, and the server goes on', async () => {
      await served(
        async (carrier) => {
          const exact = '{"jsonrpc":"2.0"}'.padEnd(2_000)
          expect((await carrier.ask({ headers: postFields, body: exact })).status).toBe(400)
          for (const size of [2_001, 10_000, 100_000]) {
            const answer = await carrier.ask({ headers: postFields, body: ' '.repeat(size) })
            expect([answer.status, codeOf(await messageOf(answer))]).toEqual([413, -32_600])
          }
          expect(textOf(await messageOf(await askModern(carrier, 'tools/call', echo)))).toBe('hi')
        },
        { maxBodyBytes: 2_000 },
      )
    })

    test('MC-MSG-15: bytes that are not UTF-8 are -32700; a replacement character that was sent is none', async () => {
      await served(async (carrier) => {
        const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x\u00ff"}', 'latin1')
        const answer = await carrier.ask({ headers: postFields, body: bytes })
        expect([answer.status, codeOf(await messageOf(answer))]).toEqual([400, -32_700])
        const text = 'a\ufffdb読🎉'
        const good = await askModern(carrier, 'tools/call', { name: 'echo', arguments: { text } })
        expect(textOf(await messageOf(good))).toBe(text)
      })
    })

    test('C20: one session, the same id twice: both get their own answers, and it can be used again', async () => {
      await served(async (carrier) => {
        const session = await openSession(carrier)
        const slow = session.ask('tools/call', { name: 'sleep', arguments: { ms: 150 } }, { id: 5 })
        const fast = session.ask('tools/call', echo, { id: 5 })
        expect(await messageOf(await fast)).toMatchObject({ id: 5, result: { content: [{ text: 'hi' }] } })
        expect(await messageOf(await slow)).toMatchObject({ id: 5, result: { content: [{ text: 'slept' }] } })
        expect(textOf(await messageOf(await session.ask('tools/call', echo, { id: 5 })))).toBe('hi')
      })
    })

    test('C20, LG-CANC-01: a cancelled request ends without an answer and frees its id', async () => {
      let aborted = 0
      const asleep = withResolvers<void>()
      const counting = serving(open, () =>
        createServedCore({ onAsleep: asleep.resolve, onAborted: () => (aborted += 1) }),
      )
      await counting(async (carrier) => {
        const session = await openSession(carrier)
        const open5 = session.ask('tools/call', sleepLong, { id: 5 })
        await asleep.promise
        await session.tell({ method: 'notifications/cancelled', params: { requestId: 5 } })
        expect(await new Events(await open5).rest()).toEqual([])
        expect(aborted).toBe(1)
        expect(textOf(await messageOf(await session.ask('tools/call', echo, { id: 5 })))).toBe('hi')
      })
    })

    test('C22: a session is bound to who opened it, not to the bytes of a token', async () => {
      const people: Readonly<Record<string, string>> = { a1: 'anna', a2: 'anna', b: 'ben' }
      await served(
        async (carrier) => {
          const as = (token: string) => ({ authorization: `Bearer ${token}` })
          const session = await openSession(carrier, { headers: as('a1') })
          expect((await session.ask('tools/call', echo, { headers: as('b') })).status).toBe(404)
          expect((await session.bare('GET', as('b'))).status).toBe(404)
          expect((await session.bare('DELETE', as('b'))).status).toBe(404)
          const refreshed = await session.ask('tools/call', { name: 'who' }, { headers: as('a2') })
          expect(await messageOf(refreshed)).toMatchObject({ result: { structuredContent: { principal: 'anna' } } })
          expect((await session.bare('DELETE', as('a2'))).status).toBe(204)
        },
        {
          authenticate: ({ headers }) => {
            const id = people[headers['authorization']?.slice('Bearer '.length) ?? '']
            return id === undefined ? { status: 401 } : { id, authenticated: true }
          },
        },
      )
    })

    test('C23: a session that is silent for long ends, though a GET stream is open', async () => {
      await served(
        async (carrier) => {
          const session = await openSession(carrier)
          const stream = await session.bare('GET')
          await stream.text()
          expect(carrier.handler.sessions).toBe(0)
          expect((await session.ask('tools/call', echo)).status).toBe(404)
        },
        { sessionIdleTimeoutMs: 200 },
      )
    })

    test('C23: a session that works is not idle', async () => {
      await served(
        async (carrier) => {
          const session = await openSession(carrier)
          const answer = await session.ask('tools/call', { name: 'sleep', arguments: { ms: 500 } })
          expect(textOf(await messageOf(answer))).toBe('slept')
        },
        { sessionIdleTimeoutMs: 200 },
      )
    })

    test('C23: when there are too many sessions, the most silent idle one makes room', async () => {
      const asleep = withResolvers<void>()
      await serving(open, () => createServedCore({ onAsleep: asleep.resolve }))(
        async (carrier) => {
          const [first, second] = [await openSession(carrier), await openSession(carrier)]
          const busy = first.ask('tools/call', { name: 'sleep', arguments: { ms: 1_000 } })
          await asleep.promise
          const third = await openSession(carrier)
          expect((await second.ask('tools/call', echo)).status).toBe(404)
          expect((await third.ask('tools/call', echo)).status).toBe(200)
          expect(textOf(await messageOf(await busy))).toBe('slept')
          expect(carrier.handler.sessions).toBe(2)
        },
        { maxSessions: 2 },
      )
    })

    test('C23: a flood of sessions that nobody uses ends only such ones', async () => {
      await served(
        async (carrier) => {
          const quiet = await openSession(carrier)
          for (let count = 0; count < 30; count++) await (await opening(carrier)).text()
          expect(carrier.handler.sessions).toBe(8)
          expect((await quiet.ask('tools/call', echo)).status).toBe(200)
        },
        { maxSessions: 8 },
      )
    })

    test('C23: a session in use outlives any number of others that are used once', async () => {
      await served(
        async (carrier) => {
          const working = await openSession(carrier)
          const silent = await openSession(carrier)
          for (let count = 0; count < 30; count++) {
            await openSession(carrier)
            expect((await working.ask('tools/call', echo)).status).toBe(200)
          }
          expect((await silent.ask('tools/call', echo)).status).toBe(404)
        },
        { maxSessions: 8 },
      )
    })

    test('C23: when all of them work, one more is refused for now', async () => {
      const asleep = withResolvers<void>()
      await serving(open, () => createServedCore({ onAsleep: asleep.resolve }))(
        async (carrier) => {
          const only = await openSession(carrier)
          const busy = only.ask('tools/call', { name: 'sleep', arguments: { ms: 1_000 } })
          await asleep.promise
          const refused = await opening(carrier)
          expect([refused.status, await messageOf(refused)]).toMatchObject([503, { id: 4 }])
          await (await busy).text()
        },
        { maxSessions: 1 },
      )
    })
  })
})
