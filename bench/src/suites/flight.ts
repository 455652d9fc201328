import { peakMemoryBytes, processCpuNs } from '../accounting.ts'
import { patienceMs, scaled, withSession } from '../session.ts'
import { echoExchange } from '../wire.ts'
import { oursAtMost, type Suite } from './suite.ts'

const inFlight = 64

/** As many calls as the server can take, 64 of them open at any time. */
export const flightSuite: Suite = {
  name: 'flight',
  title: '64 calls in flight',
  metrics: [
    { key: 'callsPerSecond', title: 'calls/s', ratio: 'rate', digits: 0, goals: oursAtMost(1.3) },
    { key: 'cpuUs', title: 'µs CPU a call', ratio: 'cost', digits: 2, goals: oursAtMost(1.5) },
    { key: 'peakMb', title: 'peak memory, MB', ratio: 'cost', digits: 0, goals: oursAtMost(1.5) },
  ],
  measure: async (job) =>
    await withSession(job, {}, async ({ server, generator }) => {
      const echo = echoExchange(job.wire, 100)
      await generator.pump(echo, { count: scaled(job, 60_000, 100), inFlight, deadlineMs: patienceMs })
      const before = processCpuNs(server.pid)
      const { calls, seconds } = await generator.pump(echo, {
        count: scaled(job, 200_000, 200),
        inFlight,
        deadlineMs: patienceMs,
      })
      return {
        callsPerSecond: calls / seconds,
        cpuUs: (processCpuNs(server.pid) - before) / calls / 1_000,
        peakMb: peakMemoryBytes(server.pid) / 1e6,
      }
    }),
}
