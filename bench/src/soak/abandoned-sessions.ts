import { withDeadline } from '../deadline.ts'
import { createHttpGenerator } from '../http/http-generator.ts'
import type { ServerProcess } from '../server-process.ts'
import { type Scenario, scaledTo } from './scenario.ts'
import { demand } from './trial.ts'

const maxSessions = 10_000
const sessionTimeoutMs = 5_000

/** Legacy sessions that are opened and never used: no more than allowed are kept, and these not for ever. */
export const abandonedSessionsScenario: Scenario = {
  name: 'sessions',
  title: 'sessions created and abandoned',
  era: 'legacy',
  env: { BENCH_MAX_SESSIONS: String(maxSessions), BENCH_SESSION_TIMEOUT_MS: String(sessionTimeoutMs) },
  async run(scene) {
    const { endpoint, server } = scene
    const { port, wire } = endpoint
    const generator = createHttpGenerator({ port, wire })
    const { calls } = await generator.pump(wire.opening, {
      count: scaledTo(scene, 100_000),
      connections: 16,
      deadlineMs: 240_000,
    })
    generator.close()
    const kept = await openSessions(server)
    demand(kept <= maxSessions, `at most ${maxSessions} sessions are kept (${kept})`)
    const until = performance.now() + 4 * sessionTimeoutMs
    let left = kept
    // the session of the scene itself goes on being used
    while (left > 1 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      left = await openSessions(server)
    }
    demand(left <= 1, `abandoned sessions end (${left} are left)`)
    return `${calls} sessions, at most ${kept} kept, ${left} left after ${sessionTimeoutMs} ms of rest`
  },
}

async function openSessions(server: ServerProcess): Promise<number> {
  const told = new Promise<number>((resolve) => {
    server.onStderr = (line) => {
      const found = /^open \d+ (\d+)$/.exec(line)
      if (found !== null) resolve(Number(found[1]))
    }
  })
  process.kill(server.pid, 'SIGHUP')
  return await withDeadline(told, 30_000, 'number of sessions')
}
