import { ownCore } from '../own-core.ts'
import { processCpuNs } from '../accounting.ts'
import { patienceMs, scaled, withSession } from '../session.ts'
import { echoExchange } from '../wire.ts'
import { oursAtMost, type Suite } from './suite.ts'

/**
 * One call after the other, both ends on one processor: on two, the time in which an idle processor wakes up hides what the
 * server does.
 */
export const sequentialSuite: Suite = {
  name: 'sequential',
  title: 'One call at a time',
  metrics: [
    { key: 'callsPerSecond', title: 'calls/s', ratio: 'rate', digits: 0, goals: oursAtMost(1.1) },
    { key: 'cpuUs', title: 'µs CPU a call', ratio: 'cost', digits: 2 },
  ],
  measure: async (job) =>
    await ownCore(
      async (core) =>
        await withSession(job, { core }, async ({ server, generator }) => {
          const echo = echoExchange(job.wire, 100)
          await generator.pump(echo, { count: scaled(job, 30_000, 20), inFlight: 1, deadlineMs: patienceMs })
          const before = processCpuNs(server.pid)
          const { calls, seconds } = await generator.pump(echo, {
            count: scaled(job, 40_000, 100),
            inFlight: 1,
            deadlineMs: patienceMs,
          })
          return { callsPerSecond: calls / seconds, cpuUs: (processCpuNs(server.pid) - before) / calls / 1_000 }
        }),
    ),
}
