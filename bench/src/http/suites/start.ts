import { processCpuNs, residentBytes } from '../../accounting.ts'
import { patienceMs, scaled } from '../../session.ts'
import { median } from '../../statistics.ts'
import { oursAtMost, type Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withHttpSession } from '../http-session.ts'

const youngCalls = 200

/** From the start of the process to its first answer, and the first 200 calls: what people feel of servers that are mostly idle. */
export const httpStartSuite: Suite = {
  name: 'http-start',
  title: 'Start',
  carrier: 'http',
  metrics: [
    { key: 'coldMs', title: 'start to first answer, ms', ratio: 'cost', digits: 1, goals: oursAtMost(1.2) },
    { key: 'youngUs', title: 'first 200 calls, µs CPU a call', ratio: 'cost', digits: 1, goals: oursAtMost(1.3) },
    { key: 'residentMb', title: 'memory after them, MB', ratio: 'cost', digits: 0 },
  ],
  async measure(job) {
    const coldMs: number[] = []
    const youngUs: number[] = []
    const residentMb: number[] = []
    for (let left = scaled(job, 12, 1); left > 0; left--) {
      await withHttpSession(job, {}, async ({ server, generator, startMs }) => {
        coldMs.push(startMs)
        const before = processCpuNs(server.pid)
        const echo = echoExchange(job.wire, 100)
        await generator.pump(echo, { count: youngCalls, connections: 1, deadlineMs: patienceMs })
        youngUs.push((processCpuNs(server.pid) - before) / youngCalls / 1_000)
        residentMb.push(residentBytes(server.pid) / 1e6)
      })
    }
    return { coldMs: median(coldMs), youngUs: median(youngUs), residentMb: median(residentMb) }
  },
}
