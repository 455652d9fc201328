import { TransportError } from '@atenea/mcpcompat'

/** How a server process ended: by itself with a code, or by a signal. Both are `null` when it lives and only its output has ended. */
export interface ServerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server process ended, or closed its output, without being asked to. Pending calls fail with it at once. */
export class ServerExitError extends TransportError {
  override readonly name: string = 'ServerExitError'
  readonly exit: ServerExit
  /** The last lines that it wrote to stderr, passed through the `redact` option: at most 20, of 500 characters each. */
  readonly stderr: readonly string[]

  constructor(command: string, exit: ServerExit, stderr: readonly string[]) {
    const how =
      exit.signal !== null
        ? `was ended by ${exit.signal}`
        : exit.code !== null
          ? `exited with code ${exit.code}`
          : 'closed its output but still ran, and is being stopped'
    const words = lastWords(stderr)
    super('closed', `server "${command}" ${how}${words === undefined ? '' : `; its last words: ${words}`}`, {
      retryable: true,
    })
    this.exit = exit
    this.stderr = stderr
  }
}

/** The line that tells most: the last one that speaks of a fault and is no step of a stack, else just the last one. */
function lastWords(lines: readonly string[]): string | undefined {
  const telling = lines.filter((line) => !/^\s*(?:at |throw )/.test(line) && faultWords.test(line))
  return (telling.at(-1) ?? lines.at(-1))?.trim()
}

const faultWords =
  /error|exception|fail|fatal|panic|cannot|can't|could not|not found|no such|missing|denied|refused|invalid/i

/** Why a process could not be started, with the command and what to do about it. Arguments are left out: they may hold secrets. */
export function spawnError(command: string, cwd: string | undefined, error: Error): TransportError {
  return new TransportError('unreachable', `cannot start server "${command}": ${reason(command, cwd, error)}`, {
    cause: error,
  })
}

function reason(command: string, cwd: string | undefined, error: Error): string {
  const code = 'code' in error ? error.code : undefined
  // Node says ENOENT or EACCES of the command also when it is the working directory that is wrong.
  const badFolder = cwd === undefined ? undefined : folderFault(cwd)
  if (badFolder !== undefined) return `its working directory ${cwd} ${badFolder}. Correct "cwd".`
  switch (code) {
    case 'ENOENT':
      if (/^\S+\s+\S/.test(command) && !command.includes('/')) {
        return 'no such command. What follows the program in it are arguments, which have to be given one by one.'
      }
      return 'no such command. Install it, correct the name, or give its full path; it is looked up in the PATH of the child.'
    case 'EACCES':
      return 'it is not an executable file, or you may not run it. Check its path and mode (chmod +x).'
    case 'E2BIG':
      return 'its arguments and environment are too large for this system.'
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return `this system is out of processes, files or memory (${code}). Stop something and try again.`
    default:
      return `${error.message}.`
  }
}

function folderFault(cwd: string): string | undefined {
  try {
    return process.getBuiltinModule('node:fs').statSync(cwd).isDirectory() ? undefined : 'is not a directory'
  } catch {
    return 'does not exist or cannot be read'
  }
}
