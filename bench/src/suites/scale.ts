import { processCpuNs } from '../accounting.ts'
import { patienceMs, scaled, withSession } from '../session.ts'
import { echoExchange } from '../wire.ts'
import { oursAtMost, type Suite } from './suite.ts'

/** What a long list of tools costs those who ask for it, and those who only call one of them. */
export function scaleSuite(tools: number): Suite {
  return {
    name: `scale-${tools}`,
    title: `${tools.toLocaleString('en')} tools`,
    metrics: [
      {
        key: 'listsPerSecond',
        title: 'tools/list a second',
        ratio: 'rate',
        digits: 0,
        ...(tools >= 1_000 ? { goals: oursAtMost(1.1) } : {}),
      },
      { key: 'listBytes', title: 'bytes of an answer', ratio: undefined, digits: 0 },
      { key: 'callUs', title: 'tools/call, µs CPU', ratio: 'cost', digits: 1 },
    ],
    measure: async (job) =>
      await withSession(job, { tools }, async ({ server, generator }) => {
        const list = job.wire.listTools(tools)
        const lists = Math.min(3_000, 300_000 / tools)
        await generator.pump(list, { count: scaled(job, lists / 5, 2), inFlight: 1, deadlineMs: patienceMs })
        const { calls, seconds, answerBytes } = await generator.pump(list, {
          count: scaled(job, lists, 3),
          inFlight: 1,
          deadlineMs: patienceMs,
        })
        const echo = echoExchange(job.wire, 100)
        await generator.pump(echo, { count: scaled(job, 10_000, 20), inFlight: 1, deadlineMs: patienceMs })
        const before = processCpuNs(server.pid)
        const echoes = await generator.pump(echo, {
          count: scaled(job, 10_000, 20),
          inFlight: 1,
          deadlineMs: patienceMs,
        })
        return {
          listsPerSecond: calls / seconds,
          listBytes: answerBytes,
          callUs: (processCpuNs(server.pid) - before) / echoes.calls / 1_000,
        }
      }),
  }
}
