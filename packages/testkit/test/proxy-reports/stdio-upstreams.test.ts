import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonObject, modernRevision } from '@atenea/mcpcompat'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fixture, mark } from '../_util/fixtures.ts'
import { processesWith, until } from '../_util/processes.ts'
import { Running } from '../_util/running.ts'
import { failureOf, Front, lastMessage, messagesIn } from './front.ts'

// Processes start slowly on a busy machine; this only catches a hang.
vi.setConfig({ testTimeout: 60_000 })

afterEach(async () => await until(() => processesWith(mark).length === 0))

/** The words that have the proxy start a server of `fixtures/servers`. */
function child(name: string, ...args: readonly string[]): readonly string[] {
  const { command, args: words = [] } = fixture(name, ...args)
  return ['--', command, ...words]
}

/** The servers that run; the words of the proxy hold the mark as well. */
function childrenOf({ proxy }: Front): readonly number[] {
  return processesWith(mark).filter((pid) => pid !== proxy.child.pid)
}

function textOf(message: JsonObject): string {
  const { result } = message
  if (!isJsonObject(result)) throw new Error(`no result: ${JSON.stringify(message)}`)
  return (result['content'] as readonly { readonly text: string }[])[0]?.text ?? ''
}

const tool = (name: string, args: JsonObject = {}) => ['tools/call', { name, arguments: args }] as const

test('A2: a server that dies of the probe is started again as a legacy one, and one process is left', async () => {
  await using front = new Front(...child('dies-on-probe'))
  expect(textOf(await front.answer(...tool('echo', { a: 1 })))).toBe('{"a":1}')
  expect(childrenOf(front)).toHaveLength(1)
})

describe('A10: a legacy server that answers modern calls without a word', () => {
  const refusal = JSON.stringify({ code: -32_601, message: 'Method not found' })

  test('is not shown as modern where that was demanded, and gets no call', async () => {
    await using front = new Front('--backend-protocol', 'modern', ...child('refuses-probe', refusal))
    expect(failureOf(await front.answer(...tool('echo'))).code).toBe(-32_603)
  })

  test('and is spoken to as legacy where it was not', async () => {
    await using front = new Front(...child('refuses-probe', refusal))
    expect(textOf(await front.answer(...tool('echo', { a: 1 })))).toBe('{"a":1}')
    expect(front.proxy.stderr).toMatch(/observed=2025/)
  })
})

describe('B1: resultType', () => {
  test.each([
    ['a legacy server', child('legacy')],
    ['a modern server', child('unruly', modernRevision)],
  ])('of %s: there for modern clients, and not for legacy ones', async (_name, words) => {
    await using front = new Front(...words)
    const session = await front.session()
    for (const [method, params] of [['tools/list', {}], tool('any')] as const) {
      expect(await front.answer(method, params)).toMatchObject({ result: { resultType: 'complete' } })
      const legacy = await lastMessage(await session.ask(method, params))
      expect(Object.keys(legacy['result'] as object)).not.toContain('resultType')
    }
    expect(await front.answer('server/discover')).toMatchObject({ result: { resultType: 'complete' } })
  })
})

test('D4: characters that come one byte at a time arrive whole', async () => {
  await using front = new Front(...child('unruly', modernRevision))
  expect(textOf(await front.answer(...tool('bytes')))).toBe('読🎉')
})

test('D16: a slow call holds nothing up, and answers come as they are ready', async () => {
  await using front = new Front(...child('served'))
  await front.answer(...tool('echo', { text: 'warm' }))
  const away = new AbortController()
  const order: string[] = []
  const slow = front.ask(...tool('sleep', { ms: 30_000 }), { signal: away.signal }).catch(() => order.push('cancelled'))
  const later = front.answer(...tool('sleep', { ms: 400 })).then(() => order.push('later'))
  const session = await front.session()
  const begun = performance.now()
  expect(await lastMessage(await session.ask('ping'))).toMatchObject({ result: {} })
  expect(await front.answer('tools/list')).toHaveProperty('result')
  expect(textOf(await front.answer(...tool('echo', { text: 'quick' })))).toBe('quick')
  order.push('quick')
  // far below the slow one; a busy machine takes its time
  expect(performance.now() - begun).toBeLessThan(5_000)
  await later
  away.abort()
  await slow
  expect(order).toEqual(['quick', 'later', 'cancelled'])
  while (textOf(await front.answer(...tool('aborted'))) !== '1') await new Promise((resolve) => setTimeout(resolve, 20))
})

describe('E1: ids', () => {
  const ids = ['1', 1, '01', '', 0, -1, 9_007_199_254_740_991, '1.0']

  test('come back as they were, though many calls are open at once', async () => {
    await using front = new Front(...child('served'))
    const session = await front.session()
    const answers = await Promise.all(
      ids.flatMap((id) => {
        const [method, params] = tool('echo', { text: JSON.stringify(id) })
        return [front.answer(method, params, { id }), session.ask(method, params, { id }).then(lastMessage)]
      }),
    )
    for (const answer of answers) expect(JSON.stringify(answer['id'])).toBe(textOf(answer))
    expect(answers).toHaveLength(16)
  })

  test.each([1.5, null, true, {}])('%j is none', async (id) => {
    await using front = new Front(...child('served'))
    const answer = await front.answer(...tool('echo'), { id: id as unknown as string })
    expect(failureOf(answer).code).toBe(-32_600)
    expect(answer).not.toHaveProperty('id')
  })
})

test('E8: answers and progress that nobody waits for any more are dropped, and all goes on', async () => {
  await using front = new Front(...child('unruly', modernRevision))
  expect(textOf(await front.answer(...tool('unruly')))).toBe('unruly')
  const away = new AbortController()
  const late = front.ask(...tool('late'), { signal: away.signal }).catch(() => 'given up')
  await front.answer(...tool('any'))
  away.abort()
  expect(await late).toBe('given up')
  const answers = await Promise.all(Array.from({ length: 5 }, () => front.answer(...tool('unruly'))))
  expect(answers.map(textOf)).toEqual(Array.from({ length: 5 }, () => 'unruly'))
  expect(childrenOf(front)).toHaveLength(1)
})

test('E10: members of _meta that nobody knows cross in both directions, with progress too', async () => {
  await using front = new Front(...child('unruly', modernRevision))
  const meta = { 'example.com/trace': { deep: [1, 'two', null] }, traceparent: '00-a-b-01', progressToken: 'mine' }
  const messages = messagesIn(await (await front.ask(...tool('any'), { meta })).text())
  const answer = messages.at(-1) ?? {}
  const { progressToken, ...arrived } = JSON.parse(textOf(answer)) as JsonObject
  expect(arrived).toMatchObject({ 'example.com/trace': meta['example.com/trace'], traceparent: '00-a-b-01' })
  expect(progressToken).toBeDefined()
  expect(answer).toMatchObject({ result: { _meta: { 'example.com/answer': { kept: [1, null] } } } })
  const [progress] = messages.filter(({ method }) => method === 'notifications/progress')
  expect(progress?.['params']).toMatchObject({
    progressToken: 'mine',
    progress: 1,
    _meta: { 'example.com/step': 'one' },
    'x-more': true,
  })
})

test('BR-111: a legacy client that goes away in the middle of a call has not cancelled it', async () => {
  await using front = new Front('--backend-protocol', 'modern', ...child('served'))
  const session = await front.session()
  const away = new AbortController()
  const [method, params] = tool('sleep', { ms: 600 })
  const gone = session.ask(method, params, { signal: away.signal }).catch(() => 'gone')
  await new Promise((resolve) => setTimeout(resolve, 200))
  away.abort()
  expect(await gone).toBe('gone')
  await front.answer(...tool('sleep', { ms: 600 }))
  expect(textOf(await front.answer(...tool('aborted')))).toBe('0')
})

describe('F19: the socket of the proxy', () => {
  let folder = ''
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function place(): string {
    folder = mkdtempSync(join(tmpdir(), 'proxy-socket-'))
    return join(folder, 'sockets', 'proxy.sock')
  }

  function start(path: string): Running {
    return new Running({ app: 'proxy', folder, args: ['--socket', path, ...child('legacy')] })
  }

  test('is taken over from one that was killed, not from one that lives, and only its user can reach it', async () => {
    const path = place()
    await using first = start(path)
    await first.url()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'sockets')).mode & 0o777).toBe(0o700)
    const second = start(path)
    expect(await second.ended).toBe(4)
    expect(second.stderr).toContain(path)
    await first[Symbol.asyncDispose]()
    expect(existsSync(path)).toBe(true)
    await using third = start(path)
    await third.url()
  })

  test.each<[string, (path: string) => void]>([
    ['a file', (path) => writeFileSync(path, 'mine')],
    ['a link', (path) => symlinkSync('/dev/null', path)],
    ['a folder', (path) => mkdirSync(path)],
  ])('leaves %s alone that is in its place, and says so', async (_name, put) => {
    const path = place()
    mkdirSync(join(folder, 'sockets'), { mode: 0o700 })
    put(path)
    const before = lstatSync(path).ino
    const proxy = start(path)
    expect(await proxy.ended).toBe(4)
    expect(proxy.stderr).toContain(path)
    expect(lstatSync(path).ino).toBe(before)
  })

  test('at a path that is too long is an error that says so', async () => {
    const path = join(place(), 'x'.repeat(120))
    const proxy = start(path)
    expect(await proxy.ended).toBe(4)
    expect(proxy.stderr).toMatch(/is \d+ bytes long; this system allows/)
  })
})
