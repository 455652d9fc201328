import { processCpuNs, residentBytes } from '../../accounting.ts'
import { patienceMs, scaled } from '../../session.ts'
import { median } from '../../statistics.ts'
import type { Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withProxySession } from '../proxy-session.ts'
import { type Route, routeTitles } from '../routes.ts'

const youngCalls = 200

/**
 * What a person waits for: from the start of the proxy to its first answer, which a server behind it has given, and the first 200 calls. A
 * start before the measured ones fills what programs keep from one start to the next.
 */
export function proxyStartSuite(route: Route): Suite {
  return {
    name: `proxy-${route}-start`,
    title: `${routeTitles[route]}: start, from the second on`,
    carrier: 'proxy',
    route,
    metrics: [
      { key: 'coldMs', title: 'start to first answer, ms', ratio: 'cost', digits: 1, goals: { ours: 1.5 } },
      { key: 'youngUs', title: 'first 200 calls, µs CPU a call', ratio: 'cost', digits: 1 },
      { key: 'residentMb', title: 'memory after them, MB', ratio: 'cost', digits: 0 },
    ],
    async measure(job) {
      const coldMs: number[] = []
      const youngUs: number[] = []
      const residentMb: number[] = []
      await withProxySession(job, {}, () => Promise.resolve())
      for (let left = scaled(job, 12, 1); left > 0; left--) {
        await withProxySession(job, {}, async ({ proxy, drive, startMs }) => {
          coldMs.push(startMs)
          const before = processCpuNs(proxy.pid)
          await drive.pump(echoExchange(job.wire, 100), { count: youngCalls, inFlight: 1, deadlineMs: patienceMs })
          youngUs.push((processCpuNs(proxy.pid) - before) / youngCalls / 1_000)
          residentMb.push(residentBytes(proxy.pid) / 1e6)
        })
      }
      return { coldMs: median(coldMs), youngUs: median(youngUs), residentMb: median(residentMb) }
    },
  }
}
