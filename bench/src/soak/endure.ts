import { setTimeout as delay } from 'node:timers/promises'
import { peakMemoryBytes } from '../accounting.ts'
import { createHttpGenerator } from '../http/http-generator.ts'
import { withHttpSession } from '../http/http-session.ts'
import { collect } from '../http/standing-streams.ts'
import { revisionOf } from '../revision-of.ts'
import type { ServerProcess } from '../server-process.ts'
import { targets } from '../targets.ts'
import { createWire, echoExchange } from '../wire.ts'
import { demand, type Scenario } from './scenario.ts'

/** What a scenario did to the server. */
export interface Endurance {
  readonly scenario: Scenario
  readonly what: string
  readonly seconds: number
  /** Calls of somebody else who was served meanwhile, one at a time, and the longest that one took. */
  readonly calls: number
  readonly slowestMs: number
  readonly heapBefore: number
  readonly heapAfter: number
  readonly peakResident: number
}

/** A heap may be larger afterwards by what code and caches have grown meanwhile. */
const heapSlackBytes = 3e6
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
    demand(heapAfter <= heapBefore + heapSlackBytes, `memory comes back (${heapBefore} before, ${heapAfter} after)`)
    const { calls, slowestMs } = bystander
    return {
      scenario,
      what,
      seconds,
      calls,
      slowestMs,
      heapBefore,
      heapAfter,
      peakResident: peakMemoryBytes(server.pid),
    }
  })
}

/** Connections take a moment to be gone. */
async function settledHeap(server: ServerProcess, before: number): Promise<number> {
  let heap = await collect(server)
  for (let left = 20; left > 0 && heap > before + heapSlackBytes; left--) {
    await delay(500)
    heap = await collect(server)
  }
  return heap
}
