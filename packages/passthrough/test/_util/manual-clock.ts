import type { Clock } from '@atenea/mcpcompat/transport'

/** A clock that only moves when a test says so. */
export interface ManualClock extends Clock {
  /** Lets time pass and runs what was due, in order. */
  advance(ms: number): void
  readonly waiting: number
}

export function createManualClock(): ManualClock {
  let now = 0
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run }
      timers.add(timer)
      return { [Symbol.dispose]: () => void timers.delete(timer) }
    },
    advance(ms) {
      const until = now + ms
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers.delete(due)
        now = due.at
        due.run()
      }
      now = until
    },
    get waiting() {
      return timers.size
    },
  }
}
