import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RateLimit } from './rate-limit.ts'

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
