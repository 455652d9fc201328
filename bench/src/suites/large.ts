import { peakMemoryBytes, processCpuNs } from '../accounting.ts'
import { patienceMs, scaled, withSession } from '../session.ts'
import { echoExchange } from '../wire.ts'
import { oursAtMost, type Suite } from './suite.ts'

const mebibyte = 1 << 20

/** An echo of 1 MiB, one at a time. */
export const largeSuite: Suite = {
  name: 'large',
  title: '1 MiB echo',
  metrics: [
    { key: 'mbPerSecond', title: 'MB/s', ratio: 'rate', digits: 0, goals: oursAtMost(1.1) },
    { key: 'cpuMs', title: 'ms CPU a call', ratio: 'cost', digits: 2 },
    { key: 'peakMb', title: 'peak memory, MB', ratio: 'cost', digits: 0, goals: oursAtMost(1.5) },
  ],
  measure: async (job) =>
    await withSession(job, {}, async ({ server, generator }) => {
      const echo = echoExchange(job.wire, mebibyte)
      await generator.pump(echo, { count: scaled(job, 60, 2), inFlight: 1, deadlineMs: patienceMs })
      const before = processCpuNs(server.pid)
      const { calls, seconds } = await generator.pump(echo, {
        count: scaled(job, 240, 3),
        inFlight: 1,
        deadlineMs: patienceMs,
      })
      return {
        mbPerSecond: (calls * mebibyte) / 1e6 / seconds,
        cpuMs: (processCpuNs(server.pid) - before) / calls / 1e6,
        peakMb: peakMemoryBytes(server.pid) / 1e6,
      }
    }),
}
