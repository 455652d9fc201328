import { createRevisionPolicy, type Dispatcher, type JsonObject, legacyRevision, revisionsOf } from '@atenea/mcpcompat'
import { busyError, isSessionId, type PeerSession, withResolvers } from '@atenea/mcpcompat/transport'
import type { CreateHttpHandlerOptions } from '@atenea/transport-http'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { type HttpAnswer, type HttpCarrier, overFetch, overNode } from './_util/http-carriers.ts'
import {
  askModern,
  Events,
  type LegacySession,
  messageOf,
  openSession,
  postFields,
  type SseEvent,
} from './_util/http-client.ts'
import { until } from './_util/processes.ts'

const [latestLegacy = ''] = revisionsOf('legacy')
const policy = createRevisionPolicy({ legacy: [latestLegacy, legacyRevision] })
const echo = { name: 'echo', arguments: { text: 'hi' } }
const works = { name: 'works', arguments: {} }
const progress = { progressToken: 'p' }

function methodsOf(events: readonly SseEvent[]): string[] {
  return events.map(({ message }) => (message['method'] as string | undefined) ?? 'answer')
}

function textOf(message: JsonObject | undefined): unknown {
  return (message as { result?: { content?: readonly { text?: unknown }[] } } | undefined)?.result?.content?.[0]?.text
}

describe.each([
  ['node:http', overNode],
  ['fetch', overFetch],
] as const)('a legacy session served by %s', (_name, open) => {
  async function served(
    use: (carrier: HttpCarrier) => Promise<void>,
    options: Partial<CreateHttpHandlerOptions> = {},
    dispatcher: Dispatcher = createServedCore(),
  ): Promise<void> {
    const carrier = await open(dispatcher, { policy, ...options })
    try {
      await use(carrier)
    } finally {
      await carrier[Symbol.asyncDispose]()
    }
    expect([carrier.handler.openCalls, carrier.handler.sessions]).toEqual([0, 0])
  }

  test('LG-SESS-01, LG-SESS-02, LG-SESS-03: has an id that nobody can guess, given with the handshake', async () => {
    await served(async (carrier) => {
      const ids = new Set<string>()
      for (let count = 0; count < 20; count++) ids.add((await openSession(carrier)).id)
      expect(ids.size).toBe(20)
      for (const id of ids) expect(isSessionId(id) && id.length >= 32).toBe(true)
    })
  })

  /** A server that says only when a test wants it what it offers. */
  function slowToOffer(): {
    readonly dispatcher: Dispatcher
    readonly waiting: (() => void)[]
    fault: Error | undefined
  } {
    const core = createServedCore()
    const slow: ReturnType<typeof slowToOffer> = {
      dispatcher: {
        call: (call, context) => core.call(call, context),
        notify: (notice, context) => core.notify(notice, context),
        drain: () => core.drain(),
        view: async (principal, viewer) => {
          await new Promise<void>((resolve) => slow.waiting.push(resolve))
          if (slow.fault !== undefined) throw slow.fault
          return await core.view(principal, viewer)
        },
      },
      waiting: [],
      fault: undefined,
    }
    return slow
  }

  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  })

  test('C23: those that are being opened have their places, so that a burst of them is refused beyond these', async () => {
    const slow = slowToOffer()
    await served(
      async (carrier) => {
        const opening = async (): Promise<readonly (number | boolean)[]> => {
          const { status, headers } = await carrier.ask({ headers: postFields, body: initialize })
          return [status, headers['retry-after'] !== undefined]
        }
        const asked = Promise.all(Array.from({ length: 5 }, opening))
        await until(() => slow.waiting.length === 2)
        for (const offer of slow.waiting.splice(0)) offer()
        const outcomes = await asked
        expect(outcomes.filter(([status]) => status === 200)).toHaveLength(2)
        expect(outcomes.filter(([status]) => status === 503)).toEqual(Array.from({ length: 3 }, () => [503, true]))
        expect(carrier.handler.sessions).toBe(2)
      },
      { maxSessions: 2 },
      slow.dispatcher,
    )
  })

  test('a handshake that fails gives its place back; where there is no room for it, its status says so', async () => {
    const slow = slowToOffer()
    await served(
      async (carrier) => {
        const asks = async (body: string, fields: Record<string, string> = {}): Promise<HttpAnswer> => {
          const answer = carrier.ask({ headers: { ...postFields, ...fields }, body })
          await until(() => slow.waiting.length === 1)
          for (const offer of slow.waiting.splice(0)) offer()
          return await answer
        }
        slow.fault = new Error('broken')
        for (let i = 0; i < 3; i++) expect((await asks(initialize)).status).toBe(200)
        slow.fault = busyError('no room', 1_500)
        const full = { code: -32_603, message: 'no room', data: { retryAfterMs: 1_500 } }
        for (const accept of ['application/json, text/event-stream', 'application/json']) {
          const refused = await asks(initialize, { accept })
          expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
          expect(await messageOf(refused)).toMatchObject({ id: 1, error: full })
        }
        slow.fault = undefined
        expect((await asks(initialize)).headers['mcp-session-id']).toBeDefined()
      },
      { maxSessions: 1 },
      slow.dispatcher,
    )
  })

  test('a modern request for which there is no room is refused in the same way', async () => {
    const core = createServedCore()
    const full: Dispatcher = {
      call: (call, context) => core.call(call, context),
      notify: (notice, context) => core.notify(notice, context),
      drain: () => core.drain(),
      view: () => Promise.reject(busyError('no room', 7_000)),
    }
    await served(
      async (carrier) => {
        const refused = await askModern(carrier, 'tools/call', echo)
        expect([refused.status, refused.headers['retry-after']]).toEqual([503, '7'])
        expect(await messageOf(refused)).toMatchObject({ error: { code: -32_603, message: 'no room' } })
      },
      {},
      full,
    )
  })

  test('BR-307: is the only one for which the server behind is asked what it offers', async () => {
    const core = createServedCore()
    const viewers: (string | undefined)[] = []
    const watched: Dispatcher = {
      call: (call, context) => core.call(call, context),
      notify: (notice, context) => core.notify(notice, context),
      drain: () => core.drain(),
      view(principal, viewer) {
        viewers.push(viewer?.session === undefined ? 'nobody' : 'session')
        return core.view(principal, viewer)
      },
    }
    await served(
      async (carrier) => {
        const refused = await carrier.ask({
          headers: postFields,
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        })
        expect(refused.status).toBe(400)
        const session = await openSession(carrier)
        expect(textOf(await messageOf(await session.ask('tools/call', echo)))).toBe('hi')
        expect(viewers).toEqual(['session'])
        await askModern(carrier, 'tools/call', echo)
        expect(viewers).toContain('nobody')
      },
      {},
      watched,
    )
  })

  test('LG-HTTP-01, LG-HTTP-05, LG-HTTP-07: answers with JSON, or with a stream that the answer ends', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      expect(textOf(await messageOf(await session.ask('tools/call', echo)))).toBe('hi')
      const events = await new Events(await session.ask('tools/call', works, { meta: progress })).rest()
      expect(methodsOf(events)).toEqual([
        'notifications/progress',
        'notifications/message',
        'notifications/progress',
        'answer',
      ])
      expect(events[0]?.message).toMatchObject({ params: { progressToken: 'p' } })
    })
  })

  test('LG-HTTP-04: notifications and responses are 202 without a body', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      for (const message of [{ method: 'notifications/unknown' }, { id: 77, result: {} }]) {
        const answer = await session.tell(message)
        expect([answer.status, await answer.text()]).toEqual([202, ''])
      }
    })
  })

  test('LG-SESS-05, LG-SESS-07: ends with DELETE, and with it its stream and its calls', async () => {
    let aborted = 0
    const asleep = withResolvers<void>()
    const core = createServedCore({ onAsleep: asleep.resolve, onAborted: () => (aborted += 1) })
    await served(
      async (carrier) => {
        const session = await openSession(carrier)
        const stream = await session.bare('GET')
        const open = session.ask('tools/call', { name: 'sleep', arguments: { ms: 60_000 } })
        await asleep.promise
        const deleted = await session.bare('DELETE')
        expect([deleted.status, await deleted.text()]).toEqual([204, ''])
        await stream.text()
        expect(await messageOf(await open)).toMatchObject({ error: { code: -32_603 } })
        expect(aborted).toBe(1)
        for (const method of ['GET', 'DELETE']) expect((await session.bare(method)).status).toBe(404)
        expect((await session.ask('tools/call', echo)).status).toBe(404)
      },
      {},
      core,
    )
  })

  test('decisions 2.2: other methods are 405, and GET needs an Accept of event streams', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      const put = await session.bare('PUT')
      expect([put.status, put.headers['allow']]).toEqual([405, 'GET, POST, DELETE'])
      expect((await session.bare('GET', { accept: 'application/json' })).status).toBe(406)
    })
  })

  test('LG-GET-02, LG-GET-03, LG-GET-04, BR-102: list changes go to exactly one stream, the GET stream', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      const stream = new Events(await session.bare('GET'))
      const call = await session.ask('tools/call', { name: 'changes' })
      expect(textOf(await messageOf(call))).toBe('changed')
      expect((await stream.next())?.message['method']).toBe('notifications/tools/list_changed')
      await session.ask('resources/subscribe', { uri: 'note:///today' })
      await session.ask('tools/call', { name: 'changes' })
      expect(methodsOf([(await stream.next()) as SseEvent, (await stream.next()) as SseEvent]).sort()).toEqual([
        'notifications/resources/updated',
        'notifications/tools/list_changed',
      ])
    })
  })

  test('a session says whether its client would hear of something now', async () => {
    const core = createServedCore()
    let kept: PeerSession | undefined
    const looking: Dispatcher = {
      call(call, context) {
        kept = context.session
        return core.call(call, context)
      },
      notify: (notice, context) => core.notify(notice, context),
      view: (principal, viewer) => core.view(principal, viewer),
      drain: () => core.drain(),
    }
    await served(
      async (carrier) => {
        const session = await openSession(carrier)
        await session.ask('tools/call', echo)
        expect(kept?.isReachable).toBe(false)
        const stream = await session.bare('GET')
        expect(kept?.isReachable).toBe(true)
        stream.leave()
        await until(() => kept?.isReachable === false)
      },
      {},
      looking,
    )
  })

  test('LG-GET-02: a second GET replaces the first, and what nobody was given waits for it', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      // nobody listens yet
      await session.ask('tools/call', { name: 'changes' })
      const first = new Events(await session.bare('GET'))
      expect((await first.next())?.message['method']).toBe('notifications/tools/list_changed')
      const second = new Events(await session.bare('GET'))
      expect(await first.next()).toBeUndefined()
      await session.ask('tools/call', { name: 'changes' })
      expect((await second.next())?.message['method']).toBe('notifications/tools/list_changed')
    })
  })

  test('LG-RESUME-01, LG-RESUME-02: a GET stream that was lost goes on after its last event', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      const answer = await session.bare('GET')
      const lost = new Events(answer)
      await session.ask('tools/call', { name: 'changes' })
      const last = await lost.next()
      answer.leave()
      await new Promise((resolve) => setTimeout(resolve, 50))
      await session.ask('resources/subscribe', { uri: 'note:///other' })
      // events of a request in between: another stream, which is not replayed here
      await new Events(await session.ask('tools/call', works, { meta: progress })).rest()
      await session.ask('tools/call', { name: 'changes' })
      const again = new Events(await session.bare('GET', { 'last-event-id': last?.id ?? '' }))
      const missed = [(await again.next()) as SseEvent, (await again.next()) as SseEvent]
      expect(methodsOf(missed).sort()).toEqual(['notifications/resources/updated', 'notifications/tools/list_changed'])
      expect(new Set(missed.map(({ id }) => id)).size).toBe(2)
    })
  })

  test('LG-HTTP-08, A-45, LG-RESUME-01: a client that goes cancels nothing; its answer waits for it', async () => {
    let aborted = 0
    const core = createServedCore({ onAborted: () => (aborted += 1) })
    await served(
      async (carrier) => {
        // a stream whose connection is lost while the call goes on
        const session = await openSession(carrier, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
        const asked = await session.ask('tools/call', { name: 'asks', arguments: { greeting: 'Hello' } })
        const stream = new Events(asked)
        const questions: SseEvent[] = []
        for (let count = 0; count < 3; count++) questions.push((await stream.next()) as SseEvent)
        asked.leave()
        await new Promise((resolve) => setTimeout(resolve, 50))
        await answerAll(session, questions)
        const rest = await new Events(await session.bare('GET', { 'last-event-id': questions[2]?.id ?? '' })).rest()
        expect(rest.map(({ message }) => textOf(message))).toEqual(['Hello, Ada of file:///home, says m-1'])
        // and once more: it is still there, and nothing else
        const again = await new Events(await session.bare('GET', { 'last-event-id': questions[1]?.id ?? '' })).rest()
        expect(methodsOf(again)).toEqual([questions[2]?.message['method'], 'answer'])
        expect(aborted).toBe(0)
      },
      {},
      core,
    )
  })

  test('LG-RESUME-01: a client that comes back before the answer gets it live', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
      const asked = await session.ask('tools/call', { name: 'asks', arguments: { greeting: 'Hello' } })
      const stream = new Events(asked)
      const questions: SseEvent[] = []
      for (let count = 0; count < 3; count++) questions.push((await stream.next()) as SseEvent)
      const back = new Events(await session.bare('GET', { 'last-event-id': questions[0]?.id ?? '' }))
      expect(methodsOf([(await back.next()) as SseEvent, (await back.next()) as SseEvent])).toEqual(
        questions.slice(1).map(({ message }) => message['method']),
      )
      // the first connection was given up for the new one
      expect(await stream.next()).toBeUndefined()
      await answerAll(session, questions)
      expect((await back.rest()).map(({ message }) => textOf(message))).toEqual([
        'Hello, Ada of file:///home, says m-1',
      ])
    })
  })

  test('LG-RESUME-01: who comes back for an answer of which nothing was seen gets it, and the first request does not wait on', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      const first = session.ask('tools/call', { name: 'sleep', arguments: { ms: 200 } })
      // the handshake had the first stream of the session
      let back = await session.bare('GET', { 'last-event-id': '2-0' })
      while (back.status === 400) back = await session.bare('GET', { 'last-event-id': '2-0' })
      expect(await (await first).text()).toBe('')
      expect((await new Events(back).rest()).map(({ message }) => textOf(message))).toEqual(['slept'])
    })
  })

  test.each(['nonsense', '99-1', '-1', '1-', '0-x'])(
    'LG-RESUME-02: an event id that was never given (%s) is 400',
    async (id) => {
      await served(async (carrier) => {
        const session = await openSession(carrier)
        expect((await session.bare('GET', { 'last-event-id': id })).status).toBe(400)
      })
    },
  )

  test('LG-HTTP-06, BR-121: questions come on the stream of the call that asks', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
      const elsewhere = await session.bare('GET')
      const stream = new Events(await session.ask('tools/call', { name: 'asks', arguments: { greeting: 'Hi' } }))
      const questions: SseEvent[] = []
      for (let count = 0; count < 3; count++) questions.push((await stream.next()) as SseEvent)
      expect(methodsOf(questions).sort()).toEqual(['elicitation/create', 'roots/list', 'sampling/createMessage'])
      await answerAll(session, questions)
      expect((await stream.rest()).map(({ message }) => textOf(message))).toEqual(['Hi, Ada of file:///home, says m-1'])
      await session.bare('DELETE')
      expect(await elsewhere.text()).toBe(':\n\n')
    })
  })

  test('MC-STL-01: modern requests in between change nothing, and see nothing of the session', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier)
      const modern = await askModern(
        carrier,
        'tools/call',
        { name: 'who' },
        { headers: { 'mcp-session-id': session.id } },
      )
      expect(await messageOf(modern)).toMatchObject({ result: { structuredContent: { client: { name: 'test' } } } })
      expect(textOf(await messageOf(await session.ask('tools/call', echo)))).toBe('hi')
    })
  })

  test('what a session keeps of its streams is bounded; the newest event is always there', async () => {
    await served(
      async (carrier) => {
        const session = await openSession(carrier)
        for (let count = 0; count < 10; count++) await (await session.ask('tools/call', { name: 'changes' })).text()
        const stream = new Events(await session.bare('GET'))
        const given = [await stream.next(), await stream.next(), await stream.next()]
        expect(given.map((event) => event?.id)).toEqual(['0-8', '0-9', '0-10'])
      },
      { maxLoggedEvents: 3 },
    )
  })

  test('a later revision: streams begin with an id, so that a client can come back before the first message', async () => {
    await served(async (carrier) => {
      const session = await openSession(carrier, { revision: latestLegacy })
      const stream = await session.bare('GET')
      expect(await stream.next()).toBe('id: 0-0\ndata:\n\n')
      const call = await session.ask('tools/call', works, { meta: progress })
      expect(await call.text()).toMatch(/^id: \d+-\d+\ndata:\n\nid: /)
      // the default revision does not know that
      const older = await openSession(carrier)
      expect(await (await older.ask('tools/call', works, { meta: progress })).text()).not.toContain('data:\n')
    })
  })

  test('draining: what runs is answered, streams end, sessions are gone, and no new one is let in', async () => {
    const asleep = withResolvers<void>()
    const use = async (carrier: HttpCarrier): Promise<void> => {
      const session = await openSession(carrier)
      const stream = await session.bare('GET')
      const open = session.ask('tools/call', { name: 'sleep', arguments: { ms: 1_000 } })
      await asleep.promise
      const drained = carrier.handler.drain()
      const refused = await session.ask('tools/call', echo, { id: 8 })
      expect([refused.status, await messageOf(refused)]).toMatchObject([503, { id: 8 }])
      expect((await carrier.ask({ method: 'GET', path: '/healthz' })).status).toBe(503)
      expect(textOf(await messageOf(await open))).toBe('slept')
      await drained
      await stream.text()
      expect(carrier.handler.sessions).toBe(0)
    }
    await served(use, {}, createServedCore({ onAsleep: asleep.resolve }))
  })

  test('draining: what does not end in time is answered with an error', async () => {
    let asleep = 0
    const use = async (carrier: HttpCarrier): Promise<void> => {
      const session = await openSession(carrier)
      const legacy = session.ask('tools/call', { name: 'sleep', arguments: { ms: 60_000 } })
      const modern = askModern(carrier, 'tools/call', { name: 'sleep', arguments: { ms: 60_000 } })
      await until(() => asleep === 2)
      await carrier.handler.drain({ timeoutMs: 50 })
      for (const answer of [await legacy, await modern]) {
        expect(await messageOf(answer)).toMatchObject({ id: 1, error: { code: -32_603 } })
      }
    }
    await served(use, {}, createServedCore({ onAsleep: () => (asleep += 1) }))
  })
})

async function answerAll(session: LegacySession, questions: readonly SseEvent[]): Promise<void> {
  const answers: Readonly<Record<string, JsonObject>> = {
    'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
    'sampling/createMessage': { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Hi' } },
    'roots/list': { roots: [{ uri: 'file:///home' }] },
  }
  for (const { message } of questions) {
    const result = answers[message['method'] as string]
    expect((await session.tell({ id: message['id'], result })).status).toBe(202)
  }
}
