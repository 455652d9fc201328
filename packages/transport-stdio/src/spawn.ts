import type { ChildProcessByStdio } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { AbortOptions, Principal } from '@atenea/mcpcompat'
import { type Connection, safeDiagnostics } from '@atenea/mcpcompat/transport'
import { type Environment, createChildEnv } from './child-env.ts'
import { guardGroup } from './orphan-guard.ts'
import { type ShutdownOptions, stopServer, within } from './shutdown.ts'
import { type ServerExit, ServerExitError, spawnError } from './spawn-errors.ts'
import { createStderrLines } from './stderr-lines.ts'
import { type LineOptions, createStreamConnection } from './stream-connection.ts'
import { type SpawnTarget, resolveWindowsCommand } from './windows-command.ts'

export interface SpawnServerOptions extends LineOptions, ShutdownOptions, AbortOptions {
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
  /** Takes secrets out of log lines before they become part of an error. */
  readonly redact?: ((line: string) => string) | undefined
  /** Whether the process group is stopped when this process dies without a chance to do so. Default true; POSIX only. */
  readonly orphanGuard?: boolean | undefined
}

/** A connection to a server process that we own. Disposing it stops the process and what that started in its group. */
export interface ServerConnection extends Connection {
  readonly pid: number
  /** Resolves when the process has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<ServerExit>
}

/** The process that we started: nobody else can write to its pipes. */
const local: Principal = { id: 'local', authenticated: true }

/** How long the exit status and the last log lines may take after the output has ended. */
const statusMs = 200

/**
 * Starts a server process and connects to its stdin and stdout. It runs in a process group of its own with a minimal environment.
 *
 * Rejects with a `TransportError` of kind `unreachable` when it cannot be started. `signal` stops the start only. When the process ends
 * or closes its output without being asked, the iteration throws a `ServerExitError` after everything that it had sent, and what is left of
 * it is stopped in the background; disposing waits for that.
 */
export async function spawnServer(options: SpawnServerOptions): Promise<ServerConnection> {
  options.signal?.throwIfAborted()
  const { command } = options
  const child = await start(options)
  const pid = child.pid
  if (pid === undefined) throw spawnError(command, options.cwd, new Error('it has no process id'))

  const unguard = options.orphanGuard === false ? () => undefined : guardGroup(pid)
  const exited = new Promise<ServerExit>((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
  const logs = createStderrLines(typeof options.stderr === 'function' ? options.stderr : () => undefined)
  const logsEnded = forwardLogs(child.stderr, logs, options.stderr ?? 'inherit')

  let stopping: Promise<void> | undefined
  function stop(): Promise<void> {
    stopping ??= stopServer(child, exited, options).finally(() => {
      unguard()
      // A process that left the group may still hold the other ends; they must not hold us.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    })
    return stopping
  }

  async function describeEnd(): Promise<ServerExitError> {
    const known = await within(exited, statusMs)
    if (known) await within(logsEnded, statusMs)
    void stop()
    const redact = options.redact ?? ((line: string) => line)
    return new ServerExitError(command, known ? await exited : { code: null, signal: null }, logs.last.map(redact))
  }

  const connection = createStreamConnection({
    ...options,
    readable: child.stdout,
    writable: child.stdin,
    principal: local,
    peerName: `server "${command}"`,
    onPeerEnd: describeEnd,
    teardown: stop,
  })

  // Whatever the process left running may hold its stdout open, so that its end is never seen.
  void exited.then(async () => {
    if (stopping !== undefined || (await within(event(child.stdout, 'end'), statusMs)) || child.stdout.isPaused())
      return
    connection.fail(await describeEnd())
  })

  if (options.signal?.aborted === true) {
    await connection[Symbol.asyncDispose]()
    options.signal.throwIfAborted()
  }
  return { ...connection, pid, exited }
}

type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>

async function start(options: SpawnServerOptions): Promise<PipedChild> {
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
    await event(child, 'spawn')
    child.on('error', (error) =>
      safeDiagnostics(options.onDiagnostic)?.({ level: 'warning', code: 'process-error', message: error.message }),
    )
    return child
  } catch (error) {
    throw spawnError(command, cwd, error instanceof Error ? error : new Error(String(error)))
  }
}

function resolveTarget({ command, args = [], cwd }: SpawnServerOptions, env: Environment): SpawnTarget {
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
  mode: NonNullable<SpawnServerOptions['stderr']>,
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
function event(emitter: EventEmitter, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    emitter.once(name, () => resolve())
    emitter.once('error', reject)
  })
}
