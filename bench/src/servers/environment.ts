import type { Era } from '../targets.ts'

/** What the generator tells a bench server about its job. */
export interface BenchEnvironment {
  readonly era: Era
  /** How many tools the server offers, the three named ones included. */
  readonly tools: number
}

/** Reads the job of this process; a server that is started by hand offers three tools to a modern client. */
export function benchEnvironment(): BenchEnvironment {
  return {
    era: process.env['BENCH_ERA'] === 'legacy' ? 'legacy' : 'modern',
    tools: Number(process.env['BENCH_TOOLS'] ?? 3),
  }
}
