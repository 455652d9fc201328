import { setTimeout as delay } from 'node:timers/promises'
import { peakMemoryBytes } from '../accounting.ts'
import { createHttpGenerator } from '../http/http-generator.ts'
import { withHttpSession } from '../http/http-session.ts'
import { collect } from '../http/standing-streams.ts'
import { revisionOf } from '../revision-of.ts'
import { targets } from '../targets.ts'
import { createWire, echoExchange } from '../wire.ts'
import type { Scenario } from './scenario.ts'
import { settledHeap } from './settled-heap.ts'
import type { Endurance } from './trial.ts'

/** A bystander who waits longer than this was not served. */
const bystanderMs = 15_000

/**
 * Runs a scenario against a fresh server while a bystander goes on calling. Throws when the bystander was not served, when a
 * promise of the scenario is broken, or when the memory does not come back.
 */
export async function endure(scenario: Scenario, scale: number): Promise<Endurance> {
  const target = targets.find(({ name, carrier }) => name === 'ours' && carrier === 'http')
  if (target === undefined) throw new Error('our HTTP server is no target')
  const wire = createWire(scenario.era, revisionOf(scenario.era))
  return await withHttpSession({ target, wire }, { streams: true, env: scenario.env }, async (session) => {
    const { endpoint, generator, server } = session
    const echo = echoExchange(wire, 100)
    await generator.pump(echo, { count: 2_000, connections: 16, deadlineMs: 30_000 })
    const heapBefore = await collect(server)
    const started = performance.now()
    const bystander = { leaves: false, calls: 0, slowestMs: 0 }
    const own = createHttpGenerator(endpoint)
    const standing = (async () => {
      while (!bystander.leaves) {
        const before = performance.now()
        await own.ask(echo, bystanderMs)
        bystander.calls++
        bystander.slowestMs = Math.max(bystander.slowestMs, performance.now() - before)
        await delay(20)
      }
    })()
    // it is awaited below, and may fail before
    standing.catch(() => {})
    const what = await scenario.run({ ...session, scale })
    bystander.leaves = true
    await standing
    own.close()
    const seconds = (performance.now() - started) / 1_000
    const heapAfter = await settledHeap(server, heapBefore)
    const { calls, slowestMs } = bystander
    return {
      what,
      seconds,
      bystander: { calls, slowestMs },
      heapBefore,
      heapAfter,
      peakResident: peakMemoryBytes(server.pid),
    }
  })
}
