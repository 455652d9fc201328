import { peakMemoryBytes, processCpuNs } from '../../accounting.ts'
import { ownCore } from '../../own-core.ts'
import { type Job, patienceMs, scaled } from '../../session.ts'
import { percentile } from '../../statistics.ts'
import { type Figures, oursAtMost, type Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withHttpSession } from '../http-session.ts'

/** Echoes on so many connections, each with one call at a time; a single one shares a processor with the server. */
export function httpFlightSuite(connections: number): Suite {
  const goal = oursAtMost(connections === 1 ? 1.1 : 1.15)
  return {
    name: `http-${connections}`,
    title: `${connections} ${connections === 1 ? 'connection' : 'connections'}`,
    carrier: 'http',
    metrics: [
      { key: 'cpuUs', title: 'µs CPU a call', ratio: 'cost', digits: 1, goals: goal },
      { key: 'callsPerSecond', title: 'calls/s', ratio: 'rate', digits: 0, goals: goal },
      { key: 'p50Ms', title: 'median, ms', ratio: 'cost', digits: 3 },
      { key: 'p99Ms', title: '99th percentile, ms', ratio: 'cost', digits: 3 },
      { key: 'peakMb', title: 'peak memory, MB', ratio: 'cost', digits: 0 },
    ],
    measure: async (job) =>
      connections === 1
        ? await ownCore(async (core) => await measure(job, connections, core))
        : await measure(job, connections, undefined),
  }
}

async function measure(job: Job, connections: number, core: number | undefined): Promise<Figures> {
  return await withHttpSession(job, core === undefined ? {} : { core }, async ({ server, generator }) => {
    const echo = echoExchange(job.wire, 100)
    // slow servers are warm after 15,000 calls, and are not asked for more
    const count = scaled(job, 40_000, 4 * connections)
    const deadlineMs = 4 * patienceMs
    await generator.pump(echo, { count: scaled(job, 30_000, connections), connections, deadlineMs })
    const before = processCpuNs(server.pid)
    const { calls, seconds, latenciesMs } = await generator.pump(echo, { count, connections, deadlineMs })
    const cpuUs = (processCpuNs(server.pid) - before) / calls / 1_000
    const latencies = [...latenciesMs]
    return {
      cpuUs,
      callsPerSecond: calls / seconds,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      peakMb: peakMemoryBytes(server.pid) / 1e6,
    }
  })
}
