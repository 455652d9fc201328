import type { ChildProcessByStdio } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { AbortOptions, OnDiagnostic } from '@atenea/mcpcompat'
import { safeDiagnostics } from '@atenea/mcpcompat/transport'
import { type Environment, createChildEnv } from './child-env.ts'
import { guardGroup } from './orphan-guard.ts'
import { type ShutdownOptions, stopServer } from './shutdown.ts'
import { type ServerExit, spawnError } from './spawn-errors.ts'
import { createStderrLines } from './stderr-lines.ts'
import { type SpawnTarget, resolveWindowsCommand } from './windows-command.ts'

export interface StartServerOptions extends ShutdownOptions, AbortOptions {
  /** A program, looked up in the `PATH` of the child. No shell reads it or the arguments. */
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Default: ours. */
  readonly cwd?: string | undefined
  /** Set on top of what is inherited; `undefined` takes a variable away. */
  readonly env?: Environment | undefined
  /** Variables that are inherited besides the safelist `inheritedVariables`, or `'all'`. */
  readonly inheritEnv?: readonly string[] | 'all' | undefined
  /**
   * What becomes of its log output, which is no sign of failure (MS-FRM-05): `'inherit'` sends it to our stderr as it comes, a
   * function gets it line by line, `'ignore'` drops it. Default `'inherit'`.
   */
  readonly stderr?: 'inherit' | 'ignore' | ((line: string) => void) | undefined
  /** Whether the process group is stopped when this process dies without a chance to do so. Default true; POSIX only. */
  readonly orphanGuard?: boolean | undefined
  /** Hears of a process that cannot be signalled. What it throws is dropped. */
  readonly onDiagnostic?: OnDiagnostic | undefined
}

/** A server process with its pipes, for those who want its bytes as they are. */
export interface ServerProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** The last lines of its log output, oldest first: at most 20, of 500 characters each. */
  readonly lastLogs: readonly string[]
  /** Resolves when its log output has ended. Never rejects. */
  readonly logsEnded: Promise<void>
  /** Resolves when the process has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<ServerExit>
  /** Whether `stop` was called. */
  readonly isStopping: boolean
  /** Stops it in order, with what it started in its group. Resolves when that is done; may be called again. */
  stop(): Promise<void>
}

/**
 * Starts a server process in a process group of its own with a minimal environment. Whoever has it must stop it.
 *
 * Rejects with a `TransportError` of kind `unreachable` when it cannot be started. `signal` stops the start only.
 */
export async function startServer(options: StartServerOptions): Promise<ServerProcess> {
  options.signal?.throwIfAborted()
  const { command } = options
  const { child, unguard } = await start(options)
  const pid = child.pid
  if (pid === undefined) throw spawnError(command, options.cwd, new Error('it has no process id'))

  const exited = new Promise<ServerExit>((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
  const logs = createStderrLines(typeof options.stderr === 'function' ? options.stderr : () => undefined)
  const logsEnded = forwardLogs(child.stderr, logs, options.stderr ?? 'inherit')

  let stopping: Promise<void> | undefined
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    lastLogs: logs.last,
    logsEnded,
    exited,
    get isStopping() {
      return stopping !== undefined
    },
    stop() {
      stopping ??= stopServer(child, exited, options).finally(() => {
        unguard()
        // A process that left the group may still hold the other ends; they must not hold us.
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      })
      return stopping
    },
  }
}

type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>

async function start(
  options: StartServerOptions,
): Promise<{ readonly child: PipedChild; readonly unguard: () => void }> {
  const { command, cwd } = options
  const env = createChildEnv({
    from: process.env,
    inherit: options.inheritEnv,
    add: options.env,
    platform: process.platform,
  })
  // Loaded here, because a server that only serves would pay milliseconds of its start for it.
  const { spawn } = process.getBuiltinModule('node:child_process')
  try {
    const target = resolveTarget(options, env)
    const child = spawn(target.file, target.args, {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, so that a signal reaches all that it starts, and Ctrl+C at our terminal only us.
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: target.verbatim,
    })
    // At once: whoever kills us while something else is still loaded must not leave it behind.
    const unguard = child.pid === undefined || options.orphanGuard === false ? () => undefined : guardGroup(child.pid)
    await event(child, 'spawn')
    child.on('error', (error) =>
      safeDiagnostics(options.onDiagnostic)?.({ level: 'warning', code: 'process-error', message: error.message }),
    )
    return { child, unguard }
  } catch (error) {
    throw spawnError(command, cwd, error instanceof Error ? error : new Error(String(error)))
  }
}

function resolveTarget({ command, args = [], cwd }: StartServerOptions, env: Environment): SpawnTarget {
  if (process.platform !== 'win32') return { file: command, args, verbatim: false }
  return resolveWindowsCommand({
    command,
    args,
    env,
    cwd: cwd ?? process.cwd(),
    isFile: (path) => process.getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  })
}

/** Resolves when the log output has ended. */
function forwardLogs(
  stderr: Readable,
  logs: ReturnType<typeof createStderrLines>,
  mode: NonNullable<StartServerOptions['stderr']>,
): Promise<void> {
  stderr.on('data', (chunk: Buffer) => {
    logs.push(chunk)
    if (mode === 'inherit') process.stderr.write(chunk)
  })
  stderr.on('error', () => undefined)
  return new Promise((resolve) => {
    stderr.on('close', () => {
      logs.end()
      resolve()
    })
  })
}

/** Resolves at the first event of this name, rejects at the first error. */
export function event(emitter: EventEmitter, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    emitter.once(name, () => resolve())
    emitter.once('error', reject)
  })
}
