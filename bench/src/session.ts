import { createGenerator, type Generator } from './generator.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import type { Target } from './targets.ts'
import type { Wire } from './wire.ts'

/** Longest wait for anything that is not measured in seconds itself. */
export const patienceMs = 30_000

/** One target in one era, to be measured by a suite. */
export interface Job {
  readonly target: Target
  readonly wire: Wire
  /** 1 for a full measurement; repetitions shrink with it. */
  readonly scale: number
}

/** What a session needs of its server. */
export interface SessionOptions {
  readonly tools?: number
  readonly core?: number
}

/** A server that has answered the opening, and the generator that drives it. */
export interface Session {
  readonly server: ServerProcess
  readonly generator: Generator
  /** From just before the process was started to its first answer. */
  readonly startMs: number
}

/** Starts a fresh server, opens the connection as a client of the era does, runs `body`, and ends the server. */
export async function withSession<T>(
  { target, wire }: Job,
  { tools = 3, core }: SessionOptions,
  body: (session: Session) => Promise<T>,
): Promise<T> {
  const before = performance.now()
  const server = startServer({
    command: target.command,
    env: { BENCH_ERA: wire.era, BENCH_TOOLS: String(tools) },
    core,
  })
  try {
    const generator = createGenerator(server)
    await generator.ask(wire.opening, patienceMs)
    const startMs = performance.now() - before
    if (wire.opened !== '') generator.tell(wire.opened)
    return await body({ server, generator, startMs })
  } catch (cause) {
    throw new Error(`the server failed or was wrong: ${server.lastWords()}`, { cause })
  } finally {
    await server.end()
  }
}

/** A number of repetitions at the scale of a job, at least `least`. */
export function scaled({ scale }: Job, count: number, least: number): number {
  return Math.max(least, Math.round(count * scale))
}

/**
 * How many calls make a process warm: as many as the compiler needs, whatever the scale; fewer only where nobody looks at the figures, at a
 * few hundredths of it.
 */
export function warmUp(job: Job, count: number, least: number): number {
  return job.scale >= 0.1 ? count : scaled(job, count, least)
}
