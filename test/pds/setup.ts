/** Installs a real PDS and PLC directory on first use, and starts them once for all tests of the project. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestProject } from 'vitest/node'
import { runCommand } from '../../scripts/run-command.ts'
import { rootDir } from '../_util/workspace.ts'

/** A PDS and its PLC directory on loopback. Each test makes accounts of its own; handles end in `.test`. */
export interface RunningPds {
  readonly plcUrl: string
  readonly pdsUrl: string
  readonly pdsDid: string
  /** Where the PDS keeps blobs: `<did>/<cid>`. It does not look at them again, so that they can be tampered with. */
  readonly blobFolder: string
}

declare module 'vitest' {
  interface ProvidedContext {
    pds: RunningPds
  }
}

const folder = join(rootDir, 'test/pds/server')

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Not a member of the workspace: what is installed to use Atenea must not bring a PDS along.
  const installed = await runCommand('pnpm', ['install', '--frozen-lockfile'], { cwd: folder, timeoutMs: 280_000 })
  if (!installed.ok) throw new Error(`the PDS cannot be installed: ${installed.reason}\n${installed.output}`)

  const child = spawn(process.execPath, ['main.mjs'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, 'line'), exited])) as [unknown]
  if (typeof line !== 'string') throw new Error(`the PDS did not start: exit code ${String(line)}`)
  project.provide('pds', JSON.parse(line) as RunningPds)

  return async () => {
    child.stdin.end()
    await exited
  }
}
