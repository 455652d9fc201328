import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test, vi } from 'vitest'
import { until } from '../_util/processes.ts'
import type { LegacySession } from '../_util/http-client.ts'
import { failureOf, Front, lastMessage, messagesIn } from './front.ts'
import { type Arrived, errorOf, type Instead, json, resultOf, upstream } from './upstream.ts'

// The proxy starts slowly on a busy machine; this only catches a hang.
vi.setConfig({ testTimeout: 60_000 })

const call = ['tools/call', { name: 'any', arguments: {} }] as const

describe('A7: 401 on the probe', () => {
  const challenge = { 'www-authenticate': 'Bearer realm="upstream"' }
  const refuses: Instead = (arrived, response) => {
    if (arrived.method === 'server/discover') json(response, 401, errorOf(arrived, -32_601, 'no'), challenge)
    else if (arrived.headers.authorization !== 'Bearer good') json(response, 401, undefined, challenge)
    else return false
    return true
  }

  test('is told as what it is, and is no reason to call the server legacy', async () => {
    await using server = await upstream('legacy', refuses)
    await using front = new Front('--sign-in', 'never', '--header', 'Authorization: Bearer good', server.url)
    const { code, message } = failureOf(await front.answer(...call))
    expect(code).toBe(-32_603)
    expect(message).toMatch(/401|sign|refus/i)
    expect(server.count('initialize')).toBe(0)
    const verdicts = join(front.folder, 'cache/atenea/verdicts.json')
    expect(existsSync(verdicts) ? readFileSync(verdicts, 'utf8') : '').not.toContain('legacy')
  })

  test('and a pin is the way out', async () => {
    await using server = await upstream('legacy', refuses)
    const pin = ['--backend-protocol', 'legacy', '--sign-in', 'never', '--header', 'Authorization: Bearer good']
    await using front = new Front(...pin, server.url)
    expect(await front.answer(...call)).toMatchObject({ result: { content: [{ text: 'fine' }] } })
    expect(server.count('server/discover')).toBe(0)
  })
})

describe('B2: a result of a type that nobody knows', () => {
  async function answersOf(resultType: string | null): Promise<readonly [modern: JsonObject, legacy: JsonObject]> {
    await using server = await upstream('modern', (arrived, response) => {
      if (arrived.method !== 'tools/call') return false
      json(response, 200, resultOf(arrived, { resultType, content: [] }))
      return true
    })
    await using front = new Front(server.url)
    return [await front.answer(...call), await lastMessage(await (await front.session()).ask(...call))]
  }

  test.each(['toolResult', 'inputRequired'])(
    'BR-125: %s keeps its type for a modern client, which may know the extension, and is no success for a legacy one',
    async (resultType) => {
      const [modern, legacy] = await answersOf(resultType)
      expect(modern).toMatchObject({ result: { resultType } })
      expect(legacy).toMatchObject({ result: { isError: true } })
    },
  )

  test('null is no type: an error for both', async () => {
    const answers = await answersOf(null)
    expect(answers.map((answer) => failureOf(answer).code)).toEqual([-32_603, -32_603])
  })
})

describe('C4: a server that forgets its sessions', () => {
  /** Knows the sessions since the last time it forgot them. */
  class Forgetful {
    /** Whether no call finds its session. */
    broken = false
    #begun = 0
    #forgotten = 0

    forget(): void {
      this.#forgotten = this.#begun
    }

    readonly instead: Instead = ({ headers, method, verb }, response) => {
      if (verb !== 'POST' || method === 'server/discover') return false
      if (method === 'initialize') {
        response.setHeader('mcp-session-id', `s${(this.#begun += 1)}`)
        return false
      }
      const session = Number(headers['mcp-session-id']?.slice(1))
      if (session > this.#forgotten && !(this.broken && method === 'tools/call')) return false
      return done(json(response, 404))
    }
  }

  test('gets one fresh initialize without an id, and the call again', async () => {
    const sessions = new Forgetful()
    await using server = await upstream('legacy', sessions.instead)
    await using front = new Front(server.url)
    const session = await front.session()
    expect(await lastMessage(await session.ask(...call))).toHaveProperty('result')
    const before = server.count('initialize')
    sessions.forget()
    expect(await lastMessage(await session.ask(...call))).toMatchObject({
      id: 1,
      result: { content: [{ text: 'fine' }] },
    })
    const since = server.arrived.filter(({ method }) => method === 'initialize').slice(before)
    expect(since.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined])
    const tail = server.arrived.slice(server.arrived.indexOf(since[0] as Arrived)).map(({ method }) => method)
    expect(tail.filter(Boolean)).toEqual(['initialize', 'notifications/initialized', 'tools/call'])
  })

  test('and one that forgets every session at once is told of, not tried for ever', async () => {
    const sessions = new Forgetful()
    await using server = await upstream('legacy', sessions.instead)
    await using front = new Front(server.url)
    const session = await front.session()
    await lastMessage(await session.ask(...call))
    const before = server.count('tools/call')
    sessions.broken = true
    expect(failureOf(await lastMessage(await session.ask(...call))).code).toBe(-32_603)
    expect(server.count('tools/call') - before).toBe(2)
  })
})

describe('C7: a server whose stream of changes is none', () => {
  test.each<[string, Instead, number]>([
    [
      'ends at once',
      (_arrived, response) => done(response.writeHead(200, { 'content-type': 'text/event-stream' }).end()),
      4,
    ],
    [
      'is text',
      (_arrived, response) => done(response.writeHead(200, { 'content-type': 'text/plain' }).end('hello')),
      4,
    ],
    ['is a bad request', (_arrived, response) => done(json(response, 400)), 4],
    ['is not allowed', (_arrived, response) => done(json(response, 405)), 1],
  ])('%s', async (_name, answer, most) => {
    await using server = await upstream('legacy', (arrived, response) =>
      arrived.verb === 'GET' ? answer(arrived, response) : false,
    )
    await using front = new Front(server.url)
    const away = new AbortController()
    const notifications = { toolsListChanged: true }
    const listen = await front.ask('subscriptions/listen', { notifications }, { signal: away.signal })
    expect(listen.status).toBe(200)
    await sleep(2_500)
    const gets = server.arrived.filter(({ verb }) => verb === 'GET').length
    expect(gets).toBeGreaterThan(0)
    expect(gets).toBeLessThanOrEqual(most)
    expect(await front.answer(...call)).toHaveProperty('result')
    away.abort()
  })
})

describe('C16: answers that are no JSON-RPC', () => {
  const page = `<html>${'<p>bad gateway</p>'.repeat(5_000)}</html>`
  test.each<[string, Instead]>([
    ['other JSON', (_arrived, response) => done(json(response, 200, { Output: 1 }))],
    ['a page', (_arrived, response) => done(response.writeHead(502, { 'content-type': 'text/html' }).end(page))],
    [
      'text',
      (_arrived, response) => done(response.writeHead(401, { 'content-type': 'text/plain' }).end('who are you?')),
    ],
    ['nothing', (_arrived, response) => done(response.destroy())],
  ])('%s: the client gets an error with its own id, of bounded size', async (_name, answer) => {
    await using server = await upstream('modern', (arrived, response) =>
      arrived.method === 'tools/call' ? answer(arrived, response) : false,
    )
    await using front = new Front('--sign-in', 'never', server.url)
    const text = await (await front.ask(...call, { id: 'mine' })).text()
    expect(messagesIn(text)).toMatchObject([{ id: 'mine', error: { code: -32_603 } }])
    expect(text.length).toBeLessThan(3_000)
  })

  test('nobody there at all', async () => {
    const server = await upstream('modern')
    await server[Symbol.asyncDispose]()
    await using front = new Front(server.url)
    expect(await front.answer(...call, { id: 'mine' })).toMatchObject({ id: 'mine', error: { code: -32_603 } })
  })
})

describe('C19: redirects', () => {
  const authorization = ['--sign-in', 'never', '--header', 'Authorization: Bearer zzz-token']
  const to =
    (location: string, status: number): Instead =>
    ({ path }, response) =>
      path === '/mcp' ? done(json(response, status, undefined, { location })) : false

  test.each([307, 308])('%i within the origin is followed with all of the request', async (status) => {
    await using server = await upstream('modern', to('/mcp/', status))
    await using front = new Front(...authorization, server.url)
    expect(await front.answer(...call)).toMatchObject({ result: { content: [{ text: 'fine' }] } })
    const last = server.arrived.at(-1)
    expect(last).toMatchObject({ path: '/mcp/', method: 'tools/call', headers: { authorization: 'Bearer zzz-token' } })
  })

  test.each([301, 302, 303])('%i is an error that says where to', async (status) => {
    await using server = await upstream('modern', to('/mcp/', status))
    await using front = new Front(...authorization, server.url)
    expect(failureOf(await front.answer(...call)).message).toContain('/mcp/')
    expect(server.arrived.filter(({ path }) => path === '/mcp/')).toEqual([])
  })

  test('to another origin nothing goes', async () => {
    await using other = await upstream('modern')
    await using server = await upstream('modern', to(`${other.origin}/mcp/`, 307))
    await using front = new Front(...authorization, server.url)
    failureOf(await front.answer(...call))
    expect(other.arrived).toEqual([])
  })

  test('a loop ends', async () => {
    await using server = await upstream('modern', ({ path }, response) =>
      done(json(response, 307, undefined, { location: path === '/mcp' ? '/mcp/' : '/mcp' })),
    )
    await using front = new Front(...authorization, server.url)
    failureOf(await front.answer(...call))
    expect(server.arrived.length).toBeLessThan(20)
  })
})

test('C23: sessions of clients that vanish make room, here and in the server behind', async () => {
  let begun = 0
  await using server = await upstream('legacy', ({ method }, response) => {
    if (method === 'initialize') response.setHeader('mcp-session-id', `s${(begun += 1)}`)
    return false
  })
  await using front = new Front(server.url)
  const sessions: LegacySession[] = []
  for (let n = 0; n < 300; n++) {
    const session = await front.session()
    expect(await lastMessage(await session.ask(...call))).toHaveProperty('result')
    sessions.push(session)
  }
  expect(await front.answer(...call)).toHaveProperty('result')
  const ended = (): number => server.arrived.filter(({ verb }) => verb === 'DELETE').length
  await until(() => begun - ended() <= 256)
  // Whoever was silent longest begins anew, as the protocol has it; whoever came last goes on.
  expect((await sessions[0]?.ask(...call))?.status).toBe(404)
  expect((await sessions.at(-1)?.ask(...call))?.status).toBe(200)
})

test('MC-ELIC-11, F10: what a server names is fetched by nobody here: no icon, no page that it asks for, no schema', async () => {
  await using server = await upstream('modern', (arrived, response) => {
    const own = `http://${response.req.headers.host}`
    if (arrived.method === 'tools/list') {
      const icons = [{ src: `${own}/icon.png`, mimeType: 'image/png' }]
      const inputSchema = { type: 'object', properties: { a: { $ref: `${own}/schema.json` } } }
      const tools = [{ name: 'any', icons, inputSchema, outputSchema: { $ref: `${own}/schema.json` } }]
      return done(json(response, 200, resultOf(arrived, { resultType: 'complete', tools })))
    }
    if (arrived.method !== 'tools/call') return false
    const url = `${own}/page?secret=1`
    const params = { mode: 'url', message: 'Look there', url, elicitationId: 'e' }
    const inputRequests = { page: { method: 'elicitation/create', params } }
    return done(json(response, 200, resultOf(arrived, { resultType: 'input_required', inputRequests })))
  })
  await using front = new Front(server.url)
  expect(await front.answer('tools/list')).toMatchObject({
    result: { tools: [{ icons: [{ mimeType: 'image/png' }] }] },
  })
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } }
  const asked = await front.answer('tools/call', { name: 'any', arguments: { a: 1 } }, { meta })
  expect(JSON.stringify(asked)).toContain('/page?secret=1')
  await lastMessage(await (await front.session()).ask(...call))
  expect(new Set(server.arrived.map(({ path }) => path))).toEqual(new Set(['/mcp']))
})

describe('F17: headers of answers reach whoever needs them', () => {
  test('Mcp-Session-Id is for the proxy, whose clients have ids of their own', async () => {
    await using server = await upstream('legacy', ({ method }, response) => {
      if (method === 'initialize') response.setHeader('mcp-session-id', 'of-the-server')
      return false
    })
    await using front = new Front(server.url)
    const session = await front.session()
    const answer = await session.ask(...call)
    expect(await lastMessage(answer)).toHaveProperty('result')
    expect(session.id).toMatch(/./)
    expect([session.id, answer.headers['mcp-session-id']]).not.toContain('of-the-server')
    const { headers } = server.arrived.find(({ method }) => method === 'tools/call') as Arrived
    expect(headers['mcp-session-id']).toBe('of-the-server')
  })

  test('WWW-Authenticate is for the proxy, which signs in by what it says and never sends a client there', async () => {
    await using server = await upstream('modern', ({ path }, response) => {
      if (path !== '/mcp') return done(json(response, 404))
      const metadata = `http://${response.req.headers.host}/named-in-the-header`
      return done(json(response, 401, undefined, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }))
    })
    await using front = new Front(server.url)
    const answer = await front.ask(...call)
    expect(failureOf(await lastMessage(answer)).code).toBe(-32_603)
    expect(answer.headers['www-authenticate']).toBeUndefined()
    expect(server.arrived.map(({ path }) => path)).toContain('/named-in-the-header')
  })

  test('Retry-After is for the proxy: a read waits that long and is asked once more, a call is not', async () => {
    let busy = true
    await using server = await upstream('modern', ({ method }, response) => {
      if (!busy || (method !== 'tools/list' && method !== 'tools/call')) return false
      busy = false
      return done(json(response, 503, undefined, { 'retry-after': '1' }))
    })
    await using front = new Front(server.url)
    await front.answer('server/discover')
    const begun = performance.now()
    expect(await front.answer('tools/list')).toHaveProperty('result')
    expect(performance.now() - begun).toBeGreaterThan(900)
    const before = server.count('tools/call')
    busy = true
    expect(failureOf(await front.answer(...call)).code).toBe(-32_603)
    expect(server.count('tools/call') - before).toBe(1)
  })
})

test('C8: a stream of the front begins at once, and asks whoever is on the way not to hold it back', async () => {
  await using server = await upstream('legacy')
  await using front = new Front(server.url)
  const away = new AbortController()
  const notifications = { toolsListChanged: true }
  const listen = await front.ask('subscriptions/listen', { notifications }, { signal: away.signal })
  expect(listen.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  expect(messagesIn((await listen.next()) ?? '')).toMatchObject([
    { method: 'notifications/subscriptions/acknowledged' },
  ])
  away.abort()
})

function done(_: unknown): true {
  return true
}
