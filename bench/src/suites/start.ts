import { processCpuNs } from '../accounting.ts'
import { patienceMs, scaled, withSession } from '../session.ts'
import { median } from '../statistics.ts'
import { echoExchange } from '../wire.ts'
import { oursAtMost, type Suite } from './suite.ts'

const youngCalls = 200

/** What a user waits for when a client starts the server: the first answer, and the first 200 calls of the young process. */
export const startSuite: Suite = {
  name: 'start',
  title: 'Start',
  metrics: [
    {
      key: 'coldMs',
      title: 'start to first answer, ms',
      ratio: 'cost',
      digits: 1,
      goals: { ...oursAtMost(1.25), 'atenea-server': 2 },
    },
    { key: 'youngUs', title: 'first 200 calls, µs CPU a call', ratio: 'cost', digits: 1, goals: oursAtMost(1.3) },
  ],
  async measure(job) {
    const coldMs: number[] = []
    const youngUs: number[] = []
    for (let left = scaled(job, 12, 1); left > 0; left--) {
      await withSession(job, {}, async ({ server, generator, startMs }) => {
        coldMs.push(startMs)
        if (job.target.noTools === true) return
        const before = processCpuNs(server.pid)
        await generator.pump(echoExchange(job.wire, 100), { count: youngCalls, inFlight: 1, deadlineMs: patienceMs })
        youngUs.push((processCpuNs(server.pid) - before) / youngCalls / 1_000)
      })
    }
    return { coldMs: median(coldMs), youngUs: youngUs.length === 0 ? undefined : median(youngUs) }
  },
}
