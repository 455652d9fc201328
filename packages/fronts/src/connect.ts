import type { Socket } from 'node:net'
import { ExitError, type ExitCode, exitCode } from '@atenea/cli'

export interface ConnectToServerOptions {
  /** Name of the program that serves, for advice. */
  readonly program: string
  readonly shutdown: AbortSignal
}

/**
 * Joins our stdin and stdout to a server's unix socket, byte for byte, for clients that can only start a command. Ends when the
 * server has closed the connection; the end of stdin is passed on, so that what was asked is still answered.
 */
export async function connectToServer(path: string, { program, shutdown }: ConnectToServerOptions): Promise<ExitCode> {
  const socket = await dial(path, program)
  const ended = new Promise<void>((resolve, reject) => {
    // It may fail more than once; the first failure counts.
    socket.on('error', reject)
    socket.once('end', resolve)
    socket.once('close', () => resolve())
  })
  // A client that reads no more has left.
  process.stdout.on('error', () => socket.destroy())
  shutdown.addEventListener('abort', () => socket.end(), { once: true })
  process.stdin.pipe(socket)
  socket.pipe(process.stdout, { end: false })
  try {
    await Promise.race([ended.then(written), abandoned(socket, shutdown)])
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ExitError(exitCode.unreachable, `the connection to ${path} broke: ${reason}`, { cause: error })
  }
  return exitCode.ok
}

/** Resolves when the client has everything that was written so far. */
function written(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write('', () => resolve())
  })
}

/** How long an end in order may take after a signal, and a client that has closed its side may go without reading. */
const patienceMs = 1500

/** Resolves when nobody takes what the server still sends, which would hold up the end for ever. */
async function abandoned(socket: Socket, shutdown: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    process.stdin.once('end', () => resolve())
    shutdown.addEventListener('abort', () => resolve(), { once: true })
  })
  for (let before = -1; !(process.stdout.writableLength > 0 && socket.bytesRead === before); ) {
    before = socket.bytesRead
    await delay(patienceMs)
    if (shutdown.aborted) return
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

function dial(path: string, program: string): Promise<Socket> {
  const socket = process.getBuiltinModule('node:net').connect({ path, allowHalfOpen: true })
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      const advice = `Start one with: ${program} --socket default`
      reject(
        new ExitError(exitCode.unreachable, `no server answers at ${path}: ${error.message}. ${advice}`, {
          cause: error,
        }),
      )
    })
  })
}
