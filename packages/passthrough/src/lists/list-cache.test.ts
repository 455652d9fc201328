import type { CacheHints } from '@atenea/mcpcompat'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Fetched, ListCache, listOwner, type ListOwner } from './list-cache.ts'

const hour = 3_600_000
const mine: ListOwner = listOwner('a', 'tools/list', 'me')
const yours: ListOwner = listOwner('a', 'tools/list', 'you')
const never = new AbortController().signal

function setUp(options: { maxEntries?: number; maxSize?: number } = {}) {
  const clock = { now: 1_000 }
  return { clock, cache: new ListCache<string>({ now: () => clock.now, ...options }) }
}

const answer = (value: string, hints: Partial<CacheHints> = {}, size = value.length): Fetched<string> => ({
  value,
  hints: { ttlMs: hour, cacheScope: 'private', ...hints },
  size,
})

/** A request whose answer the test gives, and which it can look at. */
function request() {
  let answered!: (fetched: Fetched<string>) => void
  let failed!: (error: Error) => void
  const result = new Promise<Fetched<string>>((resolve, reject) => {
    answered = resolve
    failed = reject
  })
  const seen: AbortSignal[] = []
  return {
    answered,
    failed,
    seen,
    fetch: (signal: AbortSignal): Promise<Fetched<string>> => {
      seen.push(signal)
      return result
    },
  }
}

const reading = (cache: ListCache<string>, owner: ListOwner, fetched: Fetched<string>, item = '') =>
  cache.read(owner, item, () => Promise.resolve(fetched), never)

describe('how long something is good', () => {
  test('MC-CACHE-08, MC-CACHE-10: until its time has passed, and not at that moment', async () => {
    const { cache, clock } = setUp()
    await reading(cache, mine, answer('x', { ttlMs: 100 }))
    clock.now += 99
    expect(cache.fresh(mine)?.value).toBe('x')
    clock.now += 1
    expect(cache.fresh(mine)).toBeUndefined()
    expect(cache.peek(mine)?.value).toBe('x')
  })

  test('MC-CACHE-07, MC-CACHE-09: with a time of 0 it is stale at once', async () => {
    const { cache } = setUp()
    await reading(cache, mine, answer('x', { ttlMs: 0 }))
    expect(cache.fresh(mine)).toBeUndefined()
  })

  test('MC-CACHE-05: for what was asked for and nothing else', async () => {
    const { cache } = setUp()
    await reading(cache, mine, answer('page 2'), 'cursor')
    expect(cache.fresh(mine)).toBeUndefined()
    expect(cache.fresh(listOwner('a', 'prompts/list', 'me'), 'cursor')).toBeUndefined()
    expect(cache.fresh(listOwner('b', 'tools/list', 'me'), 'cursor')).toBeUndefined()
    expect(cache.fresh(mine, 'cursor')?.value).toBe('page 2')
  })

  test('MC-CACHE-18: each page from its own receipt', async () => {
    const { cache, clock } = setUp()
    await reading(cache, mine, answer('1', { ttlMs: 100 }))
    clock.now += 60
    await reading(cache, mine, answer('2', { ttlMs: 100 }), 'next')
    clock.now += 60
    expect(cache.fresh(mine)).toBeUndefined()
    expect(cache.fresh(mine, 'next')?.value).toBe('2')
  })
})

describe('for whom', () => {
  test('MC-CACHE-14, B16: what is private is never given to another', async () => {
    const { cache } = setUp()
    await reading(cache, mine, answer('secret'))
    expect(cache.peek(yours)).toBeUndefined()
    expect(cache.peek(mine)?.value).toBe('secret')
  })

  test('MC-CACHE-14: nor does another share the request for it', async () => {
    const { cache } = setUp()
    const first = request()
    const second = request()
    const both = [cache.read(mine, '', first.fetch, never), cache.read(yours, '', second.fetch, never)]
    first.answered(answer('mine'))
    second.answered(answer('yours'))
    expect((await Promise.all(both)).map(({ value }) => value)).toEqual(['mine', 'yours'])
  })

  test('MC-CACHE-15: what is public is given to everybody', async () => {
    const { cache } = setUp()
    await reading(cache, mine, answer('open', { cacheScope: 'public' }))
    expect(cache.fresh(yours)?.value).toBe('open')
  })

  test('B16: what was public and is private now is no longer given to others', async () => {
    const { cache } = setUp()
    await reading(cache, mine, answer('open', { cacheScope: 'public' }))
    await reading(cache, mine, answer('closed'))
    expect(cache.peek(yours)).toBeUndefined()
    expect(cache.peek(mine)?.value).toBe('closed')
  })
})

describe('readers that come together', () => {
  test('share one request and one answer', async () => {
    const { cache } = setUp()
    const { fetch, answered, seen } = request()
    const both = [cache.read(mine, '', fetch, never), cache.read(mine, '', fetch, never)]
    answered(answer('x'))
    expect((await Promise.all(both)).map(({ value }) => value)).toEqual(['x', 'x'])
    expect(seen).toHaveLength(1)
    await cache.read(mine, '', fetch, never)
    expect(seen).toHaveLength(2)
  })

  test('share a failure, which is not kept', async () => {
    const { cache } = setUp()
    const { fetch, failed } = request()
    const both = [cache.read(mine, '', fetch, never), cache.read(mine, '', fetch, never)]
    failed(new Error('no list today'))
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((await reading(cache, mine, answer('x'))).value).toBe('x')
  })

  test('one that leaves takes it from nobody', async () => {
    const { cache } = setUp()
    const { fetch, answered, seen } = request()
    const leaving = new AbortController()
    const left = cache.read(mine, '', fetch, leaving.signal)
    const stayed = cache.read(mine, '', fetch, never)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(seen[0]?.aborted).toBe(false)
    answered(answer('x'))
    expect((await stayed).value).toBe('x')
  })

  test('the last one that leaves ends the request, and who comes then begins another', async () => {
    const { cache } = setUp()
    const first = request()
    const leaving = new AbortController()
    const left = cache.read(mine, '', first.fetch, leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(first.seen[0]?.aborted).toBe(true)
    expect((await reading(cache, mine, answer('again'))).value).toBe('again')
    first.answered(answer('late'))
    await new Promise((resolve) => setTimeout(resolve))
    expect(cache.peek(mine)?.value).toBe('again')
  })

  test('the request is not ended when its answer is there', async () => {
    const { cache } = setUp()
    const { fetch, answered, seen } = request()
    const read = cache.read(mine, '', fetch, never)
    answered(answer('x'))
    await read
    expect(seen[0]?.aborted).toBe(false)
  })
})

test('what came along is kept under its own name, and becomes stale with the rest', async () => {
  const { cache } = setUp()
  await reading(cache, mine, { ...answer('page'), also: { item: 'whole', value: 'whole list' } }, 'page')
  expect(cache.fresh(mine, 'whole')?.value).toBe('whole list')
  cache.invalidate(mine)
  expect(cache.peek(mine, 'whole')).toBeUndefined()
})

describe('a change', () => {
  test('MC-CACHE-16: makes all pages stale at once, for one audience', async () => {
    const { cache } = setUp()
    await reading(cache, mine, answer('1'))
    await reading(cache, mine, answer('2'), 'next')
    await reading(cache, yours, answer('other'))
    cache.invalidate(mine)
    expect(cache.peek(mine)).toBeUndefined()
    expect(cache.peek(mine, 'next')).toBeUndefined()
    expect(cache.peek(yours)?.value).toBe('other')
    expect(cache.load).toEqual({ entries: 1, size: 5 })
  })

  test('MC-CACHE-16: makes what is on its way stale, and who comes afterwards does not wait for it', async () => {
    const { cache } = setUp()
    const old = request()
    const fresh = request()
    const before = cache.read(mine, '', old.fetch, never)
    cache.invalidate(mine)
    const after = cache.read(mine, '', fresh.fetch, never)
    fresh.answered(answer('new'))
    expect((await after).value).toBe('new')
    old.answered(answer('old'))
    expect((await before).value).toBe('old')
    expect(cache.peek(mine)?.value).toBe('new')
  })

  test('MC-CACHE-16: what all may share is kept only when it was asked for after it, whoever asked', async () => {
    const { cache } = setUp()
    const old = request()
    const read = cache.read(yours, '', old.fetch, never)
    cache.invalidate(mine)
    old.answered(answer('old', { cacheScope: 'public' }))
    await read
    expect(cache.peek(mine)).toBeUndefined()
    await reading(cache, yours, answer('new', { cacheScope: 'public' }))
    expect(cache.peek(mine)?.value).toBe('new')
  })
})

describe('bounds', () => {
  test('what was not used for longest goes first', async () => {
    const { cache } = setUp({ maxEntries: 2 })
    await reading(cache, mine, answer('1'), '1')
    await reading(cache, mine, answer('2'), '2')
    cache.peek(mine, '1')
    await reading(cache, mine, answer('3'), '3')
    expect(['1', '2', '3'].map((item) => cache.peek(mine, item)?.value)).toEqual(['1', undefined, '3'])
  })

  test('what is larger than everything is not kept', async () => {
    const { cache } = setUp({ maxSize: 10 })
    await reading(cache, mine, answer('small'), '1')
    expect((await reading(cache, mine, answer('x'.repeat(11)), '2')).value).toHaveLength(11)
    expect(cache.load).toEqual({ entries: 1, size: 5 })
  })

  test('hold whatever is read, in any order', async () => {
    const step = fc.record({
      audience: fc.constantFrom('me', 'you'),
      item: fc.constantFrom('', 'a', 'b'),
      size: fc.integer({ min: 0, max: 12 }),
      cacheScope: fc.constantFrom('public', 'private'),
      change: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { cache } = setUp({ maxEntries: 3, maxSize: 20 })
        for (const { audience, item, size, cacheScope, change } of steps) {
          const owner = listOwner('a', 'tools/list', audience)
          await reading(cache, owner, answer(audience, { cacheScope }, size), item)
          if (change) cache.invalidate(owner)
          const { entries, size: total } = cache.load
          expect(entries).toBeLessThanOrEqual(3)
          expect(total).toBeLessThanOrEqual(20)
        }
        for (const audience of ['me', 'you']) cache.invalidate(listOwner('a', 'tools/list', audience))
        expect(cache.load).toEqual({ entries: 0, size: 0 })
      }),
    )
  })
})
