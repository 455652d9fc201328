import type { Socket } from 'node:net'
import { ExitError, type ExitCode, exitCode } from '@atenea/cli'

/**
 * Joins our stdin and stdout to a server's unix socket, byte for byte, for clients that can only start a command. Ends when the
 * server has closed the connection; the end of stdin is passed on, so that what was asked is still answered.
 */
export async function connectToServer(path: string, shutdown: AbortSignal): Promise<ExitCode> {
  const socket = await dial(path)
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
    await ended
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ExitError(exitCode.unreachable, `the connection to ${path} broke: ${reason}`, { cause: error })
  }
  await new Promise<void>((resolve) => {
    process.stdout.write('', () => resolve())
  })
  return exitCode.ok
}

function dial(path: string): Promise<Socket> {
  const socket = process.getBuiltinModule('node:net').connect({ path, allowHalfOpen: true })
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      const advice = 'Start one with: atenea-server --socket default'
      reject(
        new ExitError(exitCode.unreachable, `no server answers at ${path}: ${error.message}. ${advice}`, {
          cause: error,
        }),
      )
    })
  })
}
