import { processCpuNs, residentBytes } from '../../accounting.ts'
import { patienceMs, scaled } from '../../session.ts'
import { median } from '../../statistics.ts'
import { oursAtMost, type Suite } from '../../suites/suite.ts'
import { withHttpSession } from '../http-session.ts'
import { collect, fanOut, openStreams } from '../standing-streams.ts'

/** Open streams on which nothing happens but, now and then, one change for all: a listen each, or a session with its GET stream. */
export function streamsSuite(count: number): Suite {
  return {
    name: `streams-${count}`,
    title: `${count.toLocaleString('en')} open streams`,
    carrier: 'http',
    metrics: [
      { key: 'residentKb', title: 'KB of memory a stream', ratio: 'cost', digits: 1, goals: oursAtMost(1.15) },
      { key: 'heapKb', title: 'KB of heap and buffers a stream', ratio: 'cost', digits: 1 },
      { key: 'openUs', title: 'opening, µs CPU', ratio: 'cost', digits: 0 },
      { key: 'fanOutMs', title: 'one change to all, ms', ratio: 'cost', digits: 1, goals: oursAtMost(1.3) },
      { key: 'fanOutUs', title: 'one change to one, µs CPU', ratio: 'cost', digits: 1, goals: oursAtMost(1.3) },
    ],
    measure: async (job) =>
      await withHttpSession(job, { streams: true }, async (session) => {
        const { server } = session
        // what the first streams load and compile, and what V8 gets for its work, is not memory of the others
        const first = await openStreams(session, scaled(job, 1_000, 5))
        await fanOut(server, first, patienceMs)
        const wanted = scaled(job, count, 10)
        const heapBefore = await collect(server)
        const residentBefore = residentBytes(server.pid)
        const cpuBefore = processCpuNs(server.pid)
        const streams = await openStreams(session, wanted)
        const openUs = (processCpuNs(server.pid) - cpuBefore) / wanted / 1_000
        const heapKb = ((await collect(server)) - heapBefore) / wanted / 1_000
        const residentKb = (residentBytes(server.pid) - residentBefore) / wanted / 1_000
        const all = [...first, ...streams]
        const times: number[] = []
        const cpuOfFanOut = processCpuNs(server.pid)
        for (let left = 5; left > 0; left--) times.push(await fanOut(server, all, patienceMs))
        const fanOutUs = (processCpuNs(server.pid) - cpuOfFanOut) / times.length / all.length / 1_000
        for (const stream of all) stream.destroy()
        return { residentKb, heapKb, openUs, fanOutMs: median(times), fanOutUs }
      }),
  }
}
