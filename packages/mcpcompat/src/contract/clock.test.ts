import { afterEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

test.for([2 ** 31, 99_999_999_999, Number.POSITIVE_INFINITY])(
  'a delay of %d ms, longer than a timer can hold, does not run at once',
  async (delayMs) => {
    let ran = false
    using _ = systemClock.after(delayMs, () => (ran = true))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(ran).toBe(false)
  },
)

describe('now', () => {
  afterEach(() => void vi.unstubAllGlobals())

  test.for([
    ['on Node', process],
    ['elsewhere', undefined],
    ['where only the name of it is there', {}],
  ] as const)('grows by the milliseconds that pass, %s', async ([, global]) => {
    vi.stubGlobal('process', global)
    const begun = systemClock.now()
    const reference = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 30))
    const passed = systemClock.now() - begun
    vi.unstubAllGlobals()
    expect(passed).toBeGreaterThanOrEqual(29)
    expect(passed).toBeLessThanOrEqual(performance.now() - reference + 1)
  })
})
