import { peakMemoryBytes, processCpuNs } from '../../accounting.ts'
import { patienceMs, scaled, warmUp } from '../../session.ts'
import type { Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withProxySession } from '../proxy-session.ts'
import { type Route, routeTitles } from '../routes.ts'

/** As many calls as the proxy can take, so many of them open at any time. */
export function proxyFlightSuite(route: Route, inFlight: number): Suite {
  const goals = { ours: 1.1 }
  return {
    name: `proxy-${route}-${inFlight}`,
    title: `${routeTitles[route]}: ${inFlight} calls in flight`,
    carrier: 'proxy',
    route,
    metrics: [
      { key: 'cpuUs', title: 'µs CPU a call', ratio: 'cost', digits: 1, goals },
      { key: 'callsPerSecond', title: 'calls/s', ratio: 'rate', digits: 0, goals },
      { key: 'peakMb', title: 'peak memory, MB', ratio: 'cost', digits: 0 },
    ],
    measure: async (job) =>
      await withProxySession(job, {}, async ({ proxy, drive }) => {
        const echo = echoExchange(job.wire, 100)
        const repeated = { inFlight, deadlineMs: 4 * patienceMs }
        // slow proxies are warm after 15,000 calls, and are not asked for more
        await drive.pump(echo, { ...repeated, count: warmUp(job, 20_000, inFlight) })
        const before = processCpuNs(proxy.pid)
        const { calls, seconds } = await drive.pump(echo, { ...repeated, count: scaled(job, 40_000, 4 * inFlight) })
        return {
          cpuUs: (processCpuNs(proxy.pid) - before) / calls / 1_000,
          callsPerSecond: calls / seconds,
          peakMb: peakMemoryBytes(proxy.pid) / 1e6,
        }
      }),
  }
}
