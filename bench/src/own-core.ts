import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Binds all threads of this process to one processor while `body` runs, and tells it which. */
export async function ownCore<T>(body: (core: number) => Promise<T>): Promise<T> {
  const core = availableParallelism() - 1
  await bind(String(core))
  try {
    return await body(core)
  } finally {
    await bind(`0-${core}`)
  }
}

async function bind(processors: string): Promise<void> {
  await run('taskset', ['-a', '-p', '-c', processors, String(process.pid)], { timeout: 5_000 })
}
