import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { withDeadline } from './deadline.ts'

/** How a server is started. */
export interface StartOptions {
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** The only processor on which it may run. */
  readonly core: number | undefined
  /** What is sent to end it, for servers that do not look at their stdin. */
  readonly endSignal?: NodeJS.Signals
}

/** A running server with raw pipes. Whoever started it must `end` it. */
export interface ServerProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** Called for every complete line on stderr. */
  onStderr: (line: string) => void
  /** How it ended, if it has, and the last lines that it wrote to stderr. */
  lastWords(): string
  /** Closes stdin and waits for the exit; after two seconds kills the process by its id. */
  end(): Promise<void>
}

/** Servers that run. None of them outlives this process, whether it ends by itself, by an error or as `exitOnSignals` does. */
const running = new Set<ChildProcessByStdio<Writable, Readable, Readable>>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Lines of stderr that are kept for errors. */
const keptLines = 20

/** Starts a server. It inherits nothing of our environment but PATH and the home directory. */
export function startServer({ command, env, core, endSignal }: StartOptions): ServerProcess {
  const pinned = core === undefined ? command : (['taskset', '-c', String(core), ...command] as const)
  const [program, ...args] = pinned
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: homedir(), NODE_ENV: 'production', ...env },
    stdio: 'pipe',
  })
  if (child.pid === undefined) throw new Error(`could not start ${command.join(' ')}`)
  const exited = once(child, 'exit')
  running.add(child)
  child.once('exit', () => running.delete(child))
  // A write to a process that is gone shows as a missing answer, which has a deadline.
  child.stdin.on('error', () => {})

  const server: ServerProcess = {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    onStderr: () => {},
    lastWords: () => [`exit code ${child.exitCode}, signal ${child.signalCode}`, ...log].join('\n'),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.stdin.end()
      if (endSignal !== undefined) child.kill(endSignal)
      await withDeadline(exited, 2_000, 'exit').catch(async () => {
        child.kill('SIGKILL')
        await withDeadline(exited, 5_000, `exit of process ${child.pid} after SIGKILL`)
      })
    },
  }

  let rest = ''
  const log: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) server.onStderr(line)
    log.push(...lines)
    log.splice(0, log.length - keptLines)
  })
  return server
}
