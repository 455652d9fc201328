import { peakMemoryBytes, processCpuNs } from '../../accounting.ts'
import { patienceMs, scaled } from '../../session.ts'
import { oursAtMost, type Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withHttpSession } from '../http-session.ts'

const mebibyte = 1 << 20

/** An echo of 1 MiB, one at a time. */
export const httpLargeSuite: Suite = {
  name: 'http-large',
  title: '1 MiB echo',
  carrier: 'http',
  metrics: [
    { key: 'mbPerSecond', title: 'MB/s', ratio: 'rate', digits: 0, goals: oursAtMost(1.2) },
    { key: 'cpuMs', title: 'ms CPU a call', ratio: 'cost', digits: 2, goals: oursAtMost(1.2) },
    { key: 'peakMb', title: 'peak memory, MB', ratio: 'cost', digits: 0 },
  ],
  measure: async (job) =>
    await withHttpSession(job, {}, async ({ server, generator }) => {
      const echo = echoExchange(job.wire, mebibyte)
      const repeated = { connections: 1, deadlineMs: 2 * patienceMs }
      await generator.pump(echo, { ...repeated, count: scaled(job, 60, 2) })
      const before = processCpuNs(server.pid)
      const { calls, seconds } = await generator.pump(echo, { ...repeated, count: scaled(job, 240, 3) })
      return {
        mbPerSecond: (calls * mebibyte) / 1e6 / seconds,
        cpuMs: (processCpuNs(server.pid) - before) / calls / 1e6,
        peakMb: peakMemoryBytes(server.pid) / 1e6,
      }
    }),
}
