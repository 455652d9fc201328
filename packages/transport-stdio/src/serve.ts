import type { Readable, Writable } from 'node:stream'
import type { Principal } from '@atenea/mcpcompat'
import { type Connection, safeDiagnostics } from '@atenea/mcpcompat/transport'
import { type LineOptions, createStreamConnection } from './stream-connection.ts'
import { openStdin } from './stdin-source.ts'
import { guardStdout } from './stdout-guard.ts'

export interface OpenStdioOptions extends LineOptions {
  /** Default: file descriptor 0, which must not be read through `process.stdin` as well. */
  readonly stdin?: Readable | undefined
  /** Default `process.stdout`, guarded: see `openStdio`. A stream given here is not guarded. */
  readonly stdout?: Writable | undefined
}

/** Whoever started this process. */
const local: Principal = { id: 'local', authenticated: true }

/**
 * Serves the one client that started this process, over its stdin and stdout.
 *
 * From now until the connection is closed stdout carries protocol only (MS-FRM-02): whatever else writes to `process.stdout`,
 * `console.log` included, ends up on stderr. Output of child processes that inherit stdout, and writes to file descriptor 1
 * itself, cannot be redirected; do not make any.
 *
 * The iteration ends when the client has closed our stdin (MS-LIFE-02) or does not read any more; answers can be sent until the
 * connection is disposed. Nothing here keeps the process alive after that, but handles of handlers may: exit when the
 * connection has been served.
 */
export function openStdio(options: OpenStdioOptions = {}): Connection {
  const stdin = options.stdin ?? openStdin()
  const guard = options.stdout === undefined ? guardStdout() : undefined
  return createStreamConnection({
    ...options,
    readable: stdin,
    writable: options.stdout ?? process.stdout,
    writeText: guard?.write,
    principal: local,
    peerName: 'the client',
    onPeerEnd(error) {
      if (error !== undefined) {
        const message = `the client is gone: ${error.message}`
        safeDiagnostics(options.onDiagnostic)?.({ level: 'info', code: 'peer-gone', message, cause: error })
      }
      return undefined
    },
    async teardown() {
      guard?.restore()
    },
  })
}
