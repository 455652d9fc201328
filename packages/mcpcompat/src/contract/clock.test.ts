import { expect, test } from 'vitest'
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
