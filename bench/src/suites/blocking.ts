import { patienceMs, scaled, withSession } from '../session.ts'
import { percentile } from '../statistics.ts'
import { echoExchange } from '../wire.ts'
import type { Suite } from './suite.ts'

/** How long a quick call takes while a slow one is open: the slow one must not stand in its way. */
export const blockingSuite: Suite = {
  name: 'blocking',
  title: 'Echo while a 500 ms call is open',
  metrics: [
    { key: 'p50Ms', title: 'median, ms', ratio: undefined, digits: 3 },
    { key: 'p99Ms', title: '99th percentile, ms', ratio: undefined, digits: 3 },
  ],
  measure: async (job) =>
    await withSession(job, {}, async ({ generator }) => {
      const echo = echoExchange(job.wire, 100)
      await generator.pump(echo, { count: scaled(job, 5_000, 20), inFlight: 1, deadlineMs: patienceMs })
      const ms = scaled(job, 500, 50)
      const slow = generator.start(job.wire.callTool('sleep', { ms }, () => 'slept'))
      const slowCall = { open: true }
      const over = slow.answered.finally(() => {
        slowCall.open = false
      })
      const times: number[] = []
      while (slowCall.open) {
        const before = performance.now()
        await generator.ask(echo, patienceMs)
        times.push(performance.now() - before)
      }
      await over
      return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) }
    }),
}
