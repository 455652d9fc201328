import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The file that `npx @atenea/probe` runs. It loads the built bundle, so these tests need a build. */
export const probePath: string = join(import.meta.dirname, '../../bin/atenea-probe.js')
/** Our own server, likewise built. */
export const serverPath: string = join(import.meta.dirname, '../../../server/bin/atenea-server.js')

for (const app of ['probe', 'server']) {
  if (!existsSync(join(import.meta.dirname, `../../../${app}/dist/main.js`))) {
    throw new Error(`apps/${app} is not built: run npx -y pnpm@12 build first`)
  }
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
}

/** Starts the binary with nothing on stdin. */
export function startProbe(args: readonly string[], { env = {}, cwd }: RunOptions = {}): Running {
  const child = spawn(process.execPath, [probePath, ...args], {
    env: { ...process.env, NO_COLOR: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  return { child, ended }
}

/** Runs the binary to its end. */
export async function runProbe(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return await startProbe(args, options).ended
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string
}

/** Our own server on HTTP, with further arguments. */
export async function httpServer(...args: readonly string[]): Promise<HttpServer> {
  const child = spawn(process.execPath, [serverPath, '--http', '0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const closed = new Promise((resolve) => child.on('close', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const found = /listening url=(\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('close', () => reject(new Error(`the server ended: ${text}`)))
  })
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await closed
    },
  }
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
