import { afterEach, expect, test, vi } from 'vitest'
import { createSessionIds } from './session-ids.ts'

afterEach(() => void vi.restoreAllMocks())

test.for(['linux', 'win32'] as const)('LG-SESS-02: ids of 128 bits, none twice, as on %s', (platform) => {
  vi.spyOn(process, 'platform', 'get').mockReturnValue(platform)
  const of = [createSessionIds(), createSessionIds()]
  const ids = Array.from({ length: 2_000 }, (_, index) => (of[index % 2] as () => string)())
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[\da-f]{32}$/.test(id))).toEqual([])
  // each of the 128 bits is set in half of them, give or take six standard deviations
  const counts = Array.from({ length: 128 }, (_, bit) => ids.filter((id) => bitOf(id, bit)).length)
  expect(Math.min(...counts)).toBeGreaterThan(866)
  expect(Math.max(...counts)).toBeLessThan(1_134)
})

function bitOf(id: string, bit: number): boolean {
  return ((Number.parseInt(id[bit >> 2] ?? '', 16) >> (bit & 3)) & 1) === 1
}
