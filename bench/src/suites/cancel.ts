import { setTimeout as delay } from 'node:timers/promises'
import { withDeadline } from '../deadline.ts'
import { patienceMs, scaled, type Session, withSession } from '../session.ts'
import { median } from '../statistics.ts'
import type { Wire } from '../wire.ts'
import { oursAtMost, type Suite } from './suite.ts'

const graceMs = 1_000

/** Time in which a handler has surely begun. */
const headStartMs = 20

/**
 * From the write of a cancel to the moment at which the handler saw it, by the monotonic clock that both processes share:
 * the `sleep` tool tells the moment on stderr. A call that was cancelled must never be answered.
 */
export const cancelSuite: Suite = {
  name: 'cancel',
  title: 'Cancel',
  metrics: [
    { key: 'cancelMs', title: 'write to abort in the handler, ms', ratio: undefined, digits: 3, goals: oursAtMost(2) },
    { key: 'slowestMs', title: 'slowest, ms', ratio: undefined, digits: 3 },
    { key: 'answered', title: 'answers to cancelled calls', ratio: undefined, digits: 0, goals: oursAtMost(0) },
  ],
  measure: async (job) =>
    await withSession(job, {}, async (session) => {
      const answered = await countAnswers(job.wire, session)
      const times: number[] = []
      for (let left = scaled(job, 30, 2); left > 0; left--) {
        const took = await cancelOnce(job.wire, session)
        if (took === undefined) return { cancelMs: undefined, slowestMs: undefined, answered }
        times.push(took)
      }
      return { cancelMs: median(times), slowestMs: Math.max(...times), answered }
    }),
}

/** Milliseconds, or undefined when the handler never saw it. */
async function cancelOnce(wire: Wire, { generator, server }: Session): Promise<number | undefined> {
  const seen = new Promise<bigint>((resolve) => {
    server.onStderr = (line) => {
      const found = /^aborted (\d+)$/.exec(line)
      if (found !== null) resolve(BigInt(found[1] as string))
    }
  })
  const { id } = generator.start(wire.callTool('sleep', { ms: 60_000 }, () => 'slept'))
  await delay(headStartMs)
  const before = process.hrtime.bigint()
  generator.tell(wire.cancel(id))
  return await withDeadline(seen, graceMs, 'abort').then(
    (at) => Number(at - before) / 1e6,
    () => undefined,
  )
}

/** Cancels a short call, waits until after it would have ended, and shows that the connection still works. */
async function countAnswers(wire: Wire, { generator }: Session): Promise<number> {
  const { id, answered } = generator.start(wire.callTool('sleep', { ms: 100 }, () => 'slept'))
  let answers = 0
  void answered.then(
    () => answers++,
    () => {},
  )
  await delay(headStartMs)
  generator.tell(wire.cancel(id))
  await delay(200)
  await generator.ask(
    wire.callTool('bump', {}, () => '1'),
    patienceMs,
  )
  return answers
}
