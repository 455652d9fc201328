import { processCpuNs } from '../../accounting.ts'
import { patienceMs, scaled } from '../../session.ts'
import { oursAtMost, type Suite } from '../../suites/suite.ts'
import { echoExchange } from '../../wire.ts'
import { withHttpSession } from '../http-session.ts'

/** What a long list of tools costs those who ask for it, and those who only call one of them. */
export function httpScaleSuite(tools: number): Suite {
  const goals = tools >= 1_000 ? { goals: oursAtMost(1.1) } : {}
  return {
    name: `http-scale-${tools}`,
    title: `${tools.toLocaleString('en')} tools`,
    carrier: 'http',
    metrics: [
      { key: 'listsPerSecond', title: 'tools/list a second', ratio: 'rate', digits: 0, ...goals },
      { key: 'listUs', title: 'tools/list, µs CPU', ratio: 'cost', digits: 1, ...goals },
      { key: 'listBytes', title: 'bytes of an answer', ratio: undefined, digits: 0 },
      { key: 'callUs', title: 'tools/call, µs CPU', ratio: 'cost', digits: 1 },
    ],
    measure: async (job) =>
      await withHttpSession(job, { tools }, async ({ server, generator }) => {
        const list = job.wire.listTools(tools)
        const lists = Math.min(10_000, 500_000 / tools)
        const repeated = { connections: 1, deadlineMs: 4 * patienceMs }
        await generator.pump(list, { ...repeated, count: scaled(job, lists / 5, 1) })
        const start = processCpuNs(server.pid)
        const { calls, seconds, answerBytes } = await generator.pump(list, {
          ...repeated,
          count: scaled(job, lists, 2),
        })
        const listUs = (processCpuNs(server.pid) - start) / calls / 1_000
        // a call of some peers takes longer the more tools there are
        const echoes = Math.min(10_000, 2_000_000 / tools)
        const echo = echoExchange(job.wire, 100)
        await generator.pump(echo, { ...repeated, count: scaled(job, echoes, 4) })
        const before = processCpuNs(server.pid)
        const echoed = await generator.pump(echo, { ...repeated, count: scaled(job, echoes, 4) })
        return {
          listsPerSecond: calls / seconds,
          listUs,
          listBytes: answerBytes,
          callUs: (processCpuNs(server.pid) - before) / echoed.calls / 1_000,
        }
      }),
  }
}
