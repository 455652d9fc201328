import { expect, test, vi } from 'vitest'
import { createExpiringMap } from './expiring-map.ts'

test('a value goes when its time is over, and not before', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const map = createExpiringMap<number>({ ttlMs: 1000, maxEntries: 10 })
    map.set('a', 1)
    vi.advanceTimersByTime(999)
    expect(map.get('a')).toBe(1)
    vi.advanceTimersByTime(1)
    expect(map.get('a')).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('the value that was set first goes when there are too many; setting anew counts', () => {
  const map = createExpiringMap<number>({ ttlMs: 60_000, maxEntries: 2 })
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  map.set('c', 4)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
  map.delete('c')
  expect(map.get('c')).toBeUndefined()
})

test('without a time nothing is kept', () => {
  const map = createExpiringMap<number>({ ttlMs: 0, maxEntries: 2 })
  map.set('a', 1)
  expect(map.get('a')).toBeUndefined()
})
