import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RateLimit, createPrincipalLimit } from './rate-limit.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

test('gives a burst, then a steady rate, and never saves up more than a burst', () => {
  const limit = new RateLimit({ burst: 3, perSecond: 10 })
  const takeAll = (): number => {
    let count = 0
    while (limit.take()) count++
    return count
  }
  expect(limit.full).toBe(true)
  expect(takeAll()).toBe(3)
  expect(limit.full).toBe(false)
  vi.advanceTimersByTime(99)
  expect(takeAll()).toBe(0)
  vi.advanceTimersByTime(101)
  expect(takeAll()).toBe(2)
  vi.advanceTimersByTime(60_000)
  expect(limit.full).toBe(true)
  expect(takeAll()).toBe(3)
})

test('remembers a bounded number of principals, the quiet ones last', () => {
  const check = createPrincipalLimit({ burst: 1, perSecond: 1 }, 2)
  const isLet = (id: string): boolean => {
    try {
      check({ id, authenticated: true })
      return true
    } catch {
      return false
    }
  }
  expect([isLet('a'), isLet('a'), isLet('b'), isLet('b')]).toEqual([true, false, true, false])
  // The first is forgotten for the third.
  expect([isLet('c'), isLet('b'), isLet('a')]).toEqual([true, false, true])
  vi.advanceTimersByTime(900)
  expect(isLet('c')).toBe(false)
  vi.advanceTimersByTime(100)
  // Whoever has been quiet is forgotten before anybody else.
  expect([isLet('d'), isLet('e'), isLet('d')]).toEqual([true, true, false])
})
