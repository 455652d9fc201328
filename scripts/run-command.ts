import { spawn } from 'node:child_process'

/** How a command ended. */
export interface CommandResult {
  readonly ok: boolean
  /** Standard output and standard error in the order in which they came; empty when they were passed on as they came. */
  readonly output: string
  /** Standard output alone. */
  readonly stdout: string
  /** Why it is not ok: exit code, signal, time limit, or that it could not be started. */
  readonly reason?: string
}

export interface RunCommandOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Passes the output on while the command runs. */
  readonly live?: boolean
  readonly timeoutMs: number
}

/** Runs a command to its end, or ends it at its time limit. Never throws. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: RunCommandOptions,
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>()
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', options.live === true ? 'inherit' : 'pipe', options.live === true ? 'inherit' : 'pipe'],
  })
  const all: Buffer[] = []
  const out: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => {
    all.push(chunk)
    out.push(chunk)
  })
  child.stderr?.on('data', (chunk: Buffer) => all.push(chunk))
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, options.timeoutMs)
  const end = (reason: string | undefined): void => {
    clearTimeout(timer)
    const printed = { output: Buffer.concat(all).toString(), stdout: Buffer.concat(out).toString() }
    resolve(reason === undefined ? { ok: true, ...printed } : { ok: false, ...printed, reason })
  }
  child.on('error', (error) => end(error.message))
  child.on('close', (code, signal) => {
    if (late) end(`not finished after ${options.timeoutMs / 60_000} minutes`)
    else if (code === 0) end(undefined)
    else end(signal === null ? `exit code ${code}` : `ended by ${signal}`)
  })
  return promise
}

/** Runs a command and gives its standard output. Throws, with all that it printed, when it fails. */
export async function outputOf(command: string, args: readonly string[], options: RunCommandOptions): Promise<string> {
  const result = await runCommand(command, args, options)
  if (!result.ok) throw new Error(`${command} ${args.join(' ')}: ${result.reason}\n${result.output}`)
  return result.stdout
}
