import { processCpuNs } from '../../accounting.ts'
import { ownCore } from '../../own-core.ts'
import { type Job, patienceMs, scaled, warmUp } from '../../session.ts'
import type { Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { type Drive, withDirectSession, withProxySession } from '../proxy-session.ts'
import { type Route, routeTitles } from '../routes.ts'

/** One call after the other, all processes on one processor: what the proxy adds to what the server takes without it. */
export function proxySequentialSuite(route: Route): Suite {
  return {
    name: `proxy-${route}-1`,
    title: `${routeTitles[route]}: one call at a time`,
    carrier: 'proxy',
    route,
    metrics: [
      { key: 'addedUs', title: 'added to a call, µs', ratio: 'cost', digits: 1, goals: { ours: 1.2 } },
      { key: 'callsPerSecond', title: 'calls/s', ratio: 'rate', digits: 0 },
      { key: 'cpuUs', title: 'µs CPU a call', ratio: 'cost', digits: 1 },
    ],
    measure: async (job) =>
      await ownCore(async (core) => {
        const direct = await withDirectSession(job, { core }, async (drive) => await repeat(drive, job, () => 0))
        const through = await withProxySession(
          job,
          { core },
          async ({ proxy, drive }) => await repeat(drive, job, () => processCpuNs(proxy.pid)),
        )
        return {
          addedUs: through.callUs - direct.callUs,
          callsPerSecond: 1e6 / through.callUs,
          cpuUs: through.spent / 1_000,
        }
      }),
  }
}

/** Microseconds that a call takes once all is warm, and what it spends of something that is read before and after. */
async function repeat(
  drive: Drive,
  job: Job,
  read: () => number,
): Promise<{ readonly callUs: number; readonly spent: number }> {
  const echo = echoExchange(job.wire, 100)
  const repeated = { inFlight: 1, deadlineMs: 4 * patienceMs }
  await drive.pump(echo, { ...repeated, count: warmUp(job, 12_000, 20) })
  const before = read()
  const { calls, seconds } = await drive.pump(echo, { ...repeated, count: scaled(job, 20_000, 50) })
  return { callUs: (seconds / calls) * 1e6, spent: (read() - before) / calls }
}
