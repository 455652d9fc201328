import type { Principal } from '@atenea/mcpcompat'
import type { Connection } from '@atenea/mcpcompat/transport'
import { event, type StartServerOptions, startServer } from './server-process.ts'
import { within } from './shutdown.ts'
import { type ServerExit, ServerExitError } from './spawn-errors.ts'
import { type LineOptions, createStreamConnection } from './stream-connection.ts'

export interface SpawnServerOptions extends LineOptions, StartServerOptions {
  /** Takes secrets out of log lines before they become part of an error. */
  readonly redact?: ((line: string) => string) | undefined
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
  const { command } = options
  const server = await startServer(options)
  const { pid, exited } = server

  async function describeEnd(): Promise<ServerExitError> {
    const known = await within(exited, statusMs)
    if (known) await within(server.logsEnded, statusMs)
    void server.stop()
    const redact = options.redact ?? ((line: string) => line)
    return new ServerExitError(
      command,
      known ? await exited : { code: null, signal: null },
      server.lastLogs.map(redact),
    )
  }

  const connection = createStreamConnection({
    ...options,
    readable: server.stdout,
    writable: server.stdin,
    principal: local,
    peerName: `server "${command}"`,
    onPeerEnd: describeEnd,
    teardown: () => server.stop(),
  })

  // Whatever the process left running may hold its stdout open, so that its end is never seen.
  void exited.then(async () => {
    const ended = async (): Promise<boolean> => await within(event(server.stdout, 'end'), statusMs)
    if (server.isStopping || (await ended()) || server.stdout.isPaused()) return
    connection.fail(await describeEnd())
  })

  if (options.signal?.aborted === true) {
    await connection[Symbol.asyncDispose]()
    options.signal.throwIfAborted()
  }
  return { ...connection, pid, exited }
}
