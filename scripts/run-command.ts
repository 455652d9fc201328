import { spawn } from 'node:child_process'

/** How a command ended. */
export interface CommandResult {
  readonly ok: boolean
  /** Standard output and standard error in the order in which they came; empty when they were passed on as they came. */
  readonly output: string
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
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const output = () => Buffer.concat(chunks).toString()
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, options.timeoutMs)
  child.on('error', (error) => {
    clearTimeout(timer)
    resolve({ ok: false, output: output(), reason: error.message })
  })
  child.on('close', (code, signal) => {
    clearTimeout(timer)
    if (late)
      resolve({ ok: false, output: output(), reason: `not finished after ${options.timeoutMs / 60_000} minutes` })
    else if (code === 0) resolve({ ok: true, output: output() })
    else resolve({ ok: false, output: output(), reason: signal === null ? `exit code ${code}` : `ended by ${signal}` })
  })
  return promise
}

/** Runs a command and gives what it printed. Throws, with all of it, when the command fails. */
export async function outputOf(command: string, args: readonly string[], options: RunCommandOptions): Promise<string> {
  const result = await runCommand(command, args, options)
  if (!result.ok) throw new Error(`${command} ${args.join(' ')}: ${result.reason}\n${result.output}`)
  return result.output
}
