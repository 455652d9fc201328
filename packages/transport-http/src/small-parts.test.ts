import { systemClock } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { discard, readSome, readText, snippet } from './read-body.ts'
import { parseRetryAfter } from './retry-after.ts'
import { safeUrl } from './safe-url.ts'
import { backoffMs, wait } from './wait.ts'

const encoder = new TextEncoder()

/** A body that counts how it was treated. */
function body(
  chunks: readonly Uint8Array[],
  endless = false,
): AsyncIterable<Uint8Array> & { ended: 'end' | 'return' | undefined; read: number } {
  const state = {
    ended: undefined as 'end' | 'return' | undefined,
    read: 0,
    [Symbol.asyncIterator]: () => ({
      async next(): Promise<IteratorResult<Uint8Array>> {
        const value = chunks[state.read]
        if (value === undefined) {
          if (endless) return await new Promise(() => undefined)
          state.ended = 'end'
          return { value: undefined, done: true }
        }
        state.read++
        return { value, done: false }
      },
      async return(): Promise<IteratorResult<Uint8Array>> {
        state.ended = 'return'
        return await Promise.resolve({ value: undefined, done: true })
      },
    }),
  }
  return state
}

describe('bodies', () => {
  const bytes = encoder.encode('读🎉')
  const cut = Array.from(bytes, (byte) => Uint8Array.of(byte))

  test('become text, wherever they are cut', async () => {
    expect(await readText(body([bytes]), 100)).toBe('读🎉')
    expect(await readText(body(cut), bytes.length)).toBe('读🎉')
    expect(await readText(body([]), 1)).toBe('')
  })

  test('C17: a limit counts bytes, and what is over it is not read on', async () => {
    const big = body(cut)
    await expect(readText(big, bytes.length - 1)).rejects.toMatchObject({ kind: 'too-large' })
    expect(big.ended).toBe('return')
    expect(await readSome(body([encoder.encode('abcdef')]), 3)).toBe('abc')
  })

  test('that nobody needs are read to a near end, or left', async () => {
    const short = body([bytes])
    await discard(short, systemClock)
    expect(short.ended).toBe('end')
    const long = body(Array.from({ length: 100 }, () => new Uint8Array(10_000)))
    await discard(long, systemClock)
    expect([long.ended, long.read]).toEqual(['return', 7])
    const silent = body([], true)
    const fast = { now: () => 0, after: (ms: number, run: () => void) => systemClock.after(ms / 100, run) }
    await discard(silent, fast)
    expect(silent.ended).toBe('return')
  })
})

test('C16, F16: a snippet is one short printable line without secrets', () => {
  expect(snippet('<html>\r\n\t<b>Bad\u0000\u001b[31m  token-123</b>', ['token-123'])).toBe(
    '<html> <b>Bad [31m [redacted]</b>',
  )
  expect(snippet('x'.repeat(1_000), [])).toHaveLength(201)
})

test('F16: a URL in a message has no credentials and no query', () => {
  expect(safeUrl('https://user:pass@a.example:8443/mcp?key=zzz#frag')).toBe('https://a.example:8443/mcp?…')
  expect(safeUrl('http://a.example')).toBe('http://a.example/')
  expect(safeUrl('zzz')).not.toContain('zzz')
})

test.each([
  ['7', 7_000],
  [' 0 ', 0],
  ['Thu, 01 Jan 1970 00:01:40 GMT', 90_000],
  ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['tomorrow', undefined],
  ['2030-01-01', undefined],
  ['99999999999', undefined],
  [undefined, undefined],
])('Retry-After %s', (field, expected) => {
  expect(parseRetryAfter(field, 10_000)).toBe(expected)
})

test('C7: pauses double up to their cap, with jitter on top, and never below what was asked for', () => {
  const options = { firstMs: 1_000, maxMs: 60_000 }
  for (const [attempt, asked, low] of [
    [0, undefined, 1_000],
    [3, undefined, 8_000],
    [6, undefined, 60_000],
    [1_000, undefined, 60_000],
    [0, 5_000, 5_000],
    [9, 100_000, 100_000],
  ] as const) {
    const pauses = Array.from({ length: 50 }, () => backoffMs(attempt, asked, options))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(low)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(low * 1.5)
    expect(new Set(pauses).size).toBeGreaterThan(10)
  }
})

test('a wait ends with the reason of its signal, and its timer with it', async () => {
  const disposed: number[] = []
  const clock = { now: () => 0, after: (ms: number) => ({ [Symbol.dispose]: () => void disposed.push(ms) }) }
  const reason = new Error('enough')
  await expect(wait(5, AbortSignal.abort(reason), clock, true)).rejects.toBe(reason)
  expect(disposed).toEqual([5])
})
