import { setTimeout as delay } from 'node:timers/promises'
import { processCpuNs } from '../../accounting.ts'
import { patienceMs } from '../../session.ts'
import { oursAtMost, type Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withHttpSession } from '../http-session.ts'

const calls = 300

/**
 * Whether a server that rested still is what it was: V8 throws compiled code away when a heap that had grown is left alone. The
 * figure of interest is how many times dearer calls are after the rest than before it.
 */
export const idleSuite: Suite = {
  name: 'idle',
  title: 'After 60 s of rest',
  carrier: 'http',
  metrics: [
    { key: 'timesDearer', title: 'times dearer', ratio: undefined, digits: 2, goals: oursAtMost(2) },
    { key: 'warmUs', title: 'before, µs CPU a call', ratio: 'cost', digits: 1 },
    { key: 'restedUs', title: 'after, µs CPU a call', ratio: 'cost', digits: 1 },
  ],
  measure: async (job) =>
    await withHttpSession(job, {}, async ({ server, generator }) => {
      const echo = echoExchange(job.wire, 100)
      const costOf = async (): Promise<number> => {
        const before = processCpuNs(server.pid)
        await generator.pump(echo, { count: calls, connections: 1, deadlineMs: patienceMs })
        return (processCpuNs(server.pid) - before) / calls / 1_000
      }
      const until = performance.now() + 5_000 * job.scale
      do await generator.pump(echo, { count: 500, connections: 16, deadlineMs: patienceMs })
      while (performance.now() < until)
      const warmUs = await costOf()
      await delay(60_000 * job.scale)
      const restedUs = await costOf()
      return { timesDearer: restedUs / warmUs, warmUs, restedUs }
    }),
}
