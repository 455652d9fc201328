import { peakMemoryBytes, processCpuNs } from '../../accounting.ts'
import { patienceMs, scaled, warmUp } from '../../session.ts'
import type { Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withProxySession } from '../proxy-session.ts'
import { type Route, routeTitles } from '../routes.ts'

const kibibyte = 1 << 10

/** An echo of so many KiB, one at a time: there it shows who parses what is only passed on. */
export function proxyLargeSuite(route: Route, kibibytes: number): Suite {
  const bytes = kibibytes * kibibyte
  const goals = { ours: 1 }
  return {
    name: `proxy-${route}-${kibibytes}-kib`,
    title: `${routeTitles[route]}: ${kibibytes.toLocaleString('en')} KiB echo`,
    carrier: 'proxy',
    route,
    metrics: [
      { key: 'cpuMs', title: 'ms CPU a call', ratio: 'cost', digits: 2, goals },
      { key: 'mbPerSecond', title: 'MB/s', ratio: 'rate', digits: 0, goals },
      { key: 'peakMb', title: 'peak memory, MB', ratio: 'cost', digits: 0 },
    ],
    measure: async (job) =>
      await withProxySession(job, {}, async ({ proxy, drive }) => {
        const echo = echoExchange(job.wire, bytes)
        const repeated = { inFlight: 1, deadlineMs: 2 * patienceMs }
        const full = 100_000 / kibibytes
        await drive.pump(echo, { ...repeated, count: warmUp(job, Math.max(60, full / 2), 2) })
        const before = processCpuNs(proxy.pid)
        const { calls, seconds } = await drive.pump(echo, { ...repeated, count: scaled(job, full, 3) })
        return {
          cpuMs: (processCpuNs(proxy.pid) - before) / calls / 1e6,
          mbPerSecond: (calls * bytes) / 1e6 / seconds,
          peakMb: peakMemoryBytes(proxy.pid) / 1e6,
        }
      }),
  }
}
