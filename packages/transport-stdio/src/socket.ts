import type { Socket } from 'node:net'
import { type AbortOptions, type Principal, TransportError } from '@atenea/mcpcompat'
import { type Connection, safeDiagnostics, withResolvers } from '@atenea/mcpcompat/transport'
import { within } from './shutdown.ts'
import { prepareSocketFolder } from './socket-folder.ts'
import { assertSocketPath, bindSocket, codeOf } from './socket-path.ts'
import { type LineOptions, type StreamConnection, createStreamConnection } from './stream-connection.ts'

export interface ListenSocketOptions extends LineOptions {
  /** How long connections get to finish what they accepted when the listener closes. Default 2,000 ms. */
  readonly closeTimeoutMs?: number | undefined
}

export interface SocketListener extends AsyncDisposable {
  readonly path: string
  /**
   * Takes the path away if it is still ours, accepts nothing new, and ends the input of every connection, so that each finishes what it
   * accepted. Resolves when all have been served, or were cut off after the time for that. Same as `asyncDispose`.
   */
  close(): Promise<void>
}

/**
 * Listens on a unix socket that only this user can reach: mode 0600, in a directory that is made with mode 0700 when it is missing.
 *
 * `serve` gets each connection and keeps it until its promise settles; then it is disposed. What it rejects with is reported, and ends that
 * connection only. Rejects with a `TransportError` of kind `unreachable` when the path cannot be used: it is too long, in use, no
 * socket, or in a directory where others could replace it.
 */
export async function listenSocket(
  path: string,
  serve: (connection: Connection) => Promise<void>,
  options: ListenSocketOptions = {},
): Promise<SocketListener> {
  const uid = ownUid()
  assertSocketPath(path)
  prepareSocketFolder(process.getBuiltinModule('node:path').dirname(path), uid, safeDiagnostics(options.onDiagnostic))

  // Half open, so that a client that has said all it wants still gets its answers.
  const server = process.getBuiltinModule('node:net').createServer({ allowHalfOpen: true })
  const principal: Principal = { id: `uid:${uid}`, authenticated: true }
  const active = new Map<StreamConnection, Promise<void>>()

  async function keep(connection: StreamConnection): Promise<void> {
    try {
      await serve(connection)
    } catch (cause) {
      safeDiagnostics(options.onDiagnostic)?.({
        level: 'error',
        code: 'connection-failed',
        message: `a connection at ${path} failed`,
        cause,
      })
    } finally {
      await connection[Symbol.asyncDispose]()
      active.delete(connection)
    }
  }

  server.on('connection', (socket) => {
    const connection = createSocketConnection(socket, {
      ...options,
      principal,
      peerName: `a client at ${path}`,
      onPeerEnd(error) {
        if (error !== undefined) {
          const message = `a client at ${path} is gone: ${error.message}`
          safeDiagnostics(options.onDiagnostic)?.({ level: 'info', code: 'peer-gone', message, cause: error })
        }
        return undefined
      },
    })
    active.set(connection, keep(connection))
  })

  const bound = await bindSocket(server, path)
  server.on('error', (cause) => {
    safeDiagnostics(options.onDiagnostic)?.({
      level: 'error',
      code: 'listener-failed',
      message: `cannot accept at ${path}`,
      cause,
    })
  })

  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    closing ??= (async () => {
      bound.unlink()
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      for (const connection of active.keys()) connection.endInput()
      if (!(await within(Promise.all(active.values()), options.closeTimeoutMs ?? 2_000))) {
        await Promise.all([...active.keys()].map((connection) => connection[Symbol.asyncDispose]()))
      }
      await closed
    })()
    await closing
  }

  return { path, close, [Symbol.asyncDispose]: close }
}

export interface ConnectSocketOptions extends AbortOptions {
  /** Default 5,000 ms. */
  readonly connectTimeoutMs?: number | undefined
}

export interface DialSocketOptions extends LineOptions, ConnectSocketOptions {}

/** Connects to a unix socket. Rejects with a `TransportError` of kind `unreachable` that says what is at the path instead. */
export async function dialSocket(path: string, options: DialSocketOptions = {}): Promise<Connection> {
  const socket = await connectSocket(path, options)
  const owner = process.getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false })?.uid
  return createSocketConnection(socket, {
    ...options,
    principal: { id: `uid:${owner ?? ownUid()}`, authenticated: true },
    peerName: `the server at ${path}`,
    onPeerEnd(error) {
      return (
        error &&
        new TransportError('closed', `the server at ${path} is gone: ${error.message}`, {
          cause: error,
          retryable: true,
        })
      )
    },
  })
}

/** The socket alone, half open, for those who want its bytes as they are. Rejects as `dialSocket` does. Whoever has it must destroy it. */
export async function connectSocket(path: string, options: ConnectSocketOptions = {}): Promise<Socket> {
  options.signal?.throwIfAborted()
  assertSocketPath(path)
  const socket = process.getBuiltinModule('node:net').connect({ path, allowHalfOpen: true })
  await connected(socket, path, options)
  return socket
}

/** Waits for the connection; whatever ends the waiting early also ends the socket. */
async function connected(socket: Socket, path: string, options: ConnectSocketOptions): Promise<void> {
  const { signal, connectTimeoutMs = 5_000 } = options
  const { promise, resolve, reject } = withResolvers<void>()
  const onAbort = (): void => reject(signal?.reason)
  const timer = setTimeout(() => {
    const message = `the server at ${path} did not accept the connection within ${connectTimeoutMs} ms`
    reject(new TransportError('timeout', message, { retryable: true }))
  }, connectTimeoutMs)
  signal?.addEventListener('abort', onAbort, { once: true })
  socket.once('connect', resolve)
  socket.on('error', (error) => reject(dialError(path, error)))
  try {
    await promise
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

type SocketConnectionParts = Omit<Parameters<typeof createStreamConnection>[0], 'readable' | 'writable' | 'teardown'>

function createSocketConnection(socket: Socket, parts: SocketConnectionParts): StreamConnection {
  return createStreamConnection({
    ...parts,
    readable: socket,
    writable: socket,
    async teardown() {
      // Everything was flushed already, or the time for it is over.
      const closed = new Promise<void>((resolve) => {
        socket.once('close', () => resolve())
      })
      if (socket.closed) return
      socket.destroySoon()
      if (!(await within(closed, 100))) socket.destroy()
    },
  })
}

function dialError(path: string, error: Error): TransportError {
  const why = dialReason(codeOf(error)) ?? error.message
  return new TransportError('unreachable', `cannot connect to ${path}: ${why}`, { cause: error, retryable: true })
}

function dialReason(code: unknown): string | undefined {
  switch (code) {
    case 'ENOENT':
      return 'there is no socket. Start the server, or correct the path.'
    case 'ECONNREFUSED':
      return 'nobody listens there; the server that made the socket is gone. Start it again.'
    case 'EACCES':
      return 'you may not; the socket belongs to another user.'
    case 'EAGAIN':
      return 'too many others are waiting to be accepted. Try again.'
    case 'ENOTSOCK':
      return 'it is not a socket.'
    default:
      return undefined
  }
}

function ownUid(): number {
  const uid = process.getuid?.()
  if (uid === undefined) throw new TransportError('unreachable', 'unix sockets are not available on this system')
  return uid
}
