import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The words that start a server of `fixtures` on stdio. */
export function stdioServer(name: 'sdk-v1' | 'sdk-v2'): readonly [command: string, ...args: string[]] {
  return [process.execPath, '--no-warnings', join(import.meta.dirname, `../fixtures/${name}.ts`)]
}

export interface StartedServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a server of the test kit that serves HTTP and prints its URL. */
export async function startHttpServer(name: 'sdk-v1' | 'sdk-v2' | 'sse-sdk-v1', port = '0'): Promise<StartedServer> {
  const file = join(import.meta.dirname, `../../../../packages/testkit/fixtures/servers/http-${name}.ts`)
  const child = spawn(process.execPath, ['--no-warnings', file], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, PORT: port },
  })
  for await (const url of createInterface({ input: child.stdout })) {
    return { url, [Symbol.asyncDispose]: async () => await stop(child) }
  }
  throw new Error(`${name} has not started`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** Whether a process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    return false
  }
}
