import {
  type ExitCode,
  ExitError,
  exitCode,
  type Logger,
  printErr,
  type ProgramContext,
  type Redactor,
  UsageError,
} from '@atenea/cli'
import {
  createRevisionPolicy,
  type Dispatcher,
  type OnDiagnostic,
  RevisionError,
  type RevisionPolicy,
  TransportError,
} from '@atenea/mcpcompat'
import { type Connection, serveConnection } from '@atenea/mcpcompat/transport'
import { type LineOptions, listenSocket, openStdio, type SocketListener } from '@atenea/transport-stdio'
import { logDiagnostics } from './log-diagnostics.ts'
import type { Settings } from './settings.ts'
import type { HttpFronts } from './http/listen.ts'
import { terminalHint, tryHttpText, tryItText } from './try-it.ts'

/**
 * Serves a dispatcher on all fronts of the settings until the client on stdin has left or a signal came. Then nothing new is
 * accepted, subscriptions end with their result, calls that were accepted are answered, and the fronts close.
 */
export async function serve(
  dispatcher: Dispatcher,
  settings: Settings,
  { shutdown }: ProgramContext,
  logger: Logger,
  redactor: Pick<Redactor, 'add'>,
): Promise<ExitCode> {
  const policy = revisionPolicy(settings)
  const onDiagnostic = logDiagnostics(logger)
  const stopping = new AbortController()
  const stop = (): void => stopping.abort(shutdown.reason)
  shutdown.addEventListener('abort', stop, { once: true })
  const serveOne = (connection: Connection): Promise<void> =>
    serveConnection(connection, dispatcher, {
      policy,
      signal: stopping.signal,
      maxInFlight: settings.maxInFlight,
      flushTimeoutMs: settings.shutdownTimeoutMs,
      onDiagnostic,
    })

  const listeners = await listen(settings, serveOne, onDiagnostic)
  let http: HttpFronts | undefined
  if (settings.http.length > 0) {
    // all fronts or none
    const { listenOnHttp } = await import('./http/listen.ts')
    http = await listenOnHttp(dispatcher, settings, policy, onDiagnostic, redactor).catch(async (error: unknown) => {
      await Promise.all(listeners.map((listener) => listener.close()))
      throw error
    })
  }
  for (const { path } of listeners) logger.info('listening', { socket: path })
  for (const url of http?.urls ?? []) logger.info('listening', { url })
  if (http !== undefined && settings.bearerTokenFile === undefined) {
    logger.info(
      'nobody signs in over HTTP, so all clients there are one to this server and share what it keeps for them',
    )
  }
  if (settings.logFormat === 'text' && logger.isOn('info')) {
    printErr(settings.stdio ? terminalHint() : tryItText(settings.sockets) + tryHttpText(http?.urls ?? []))
  }
  try {
    if (settings.stdio) {
      logger.debug('serving stdin and stdout')
      await serveOne(openStdio(lineOptions(settings, onDiagnostic)))
    } else await aborted(shutdown)
  } finally {
    // The client that started us has left, or a signal came: the sockets go with it.
    stop()
    await Promise.all([...listeners.map((listener) => listener.close()), http?.close(), dispatcher.drain()])
    shutdown.removeEventListener('abort', stop)
  }
  return exitCode.ok
}

/** Opens all sockets or none. */
async function listen(
  settings: Settings,
  serveOne: (connection: Connection) => Promise<void>,
  onDiagnostic: OnDiagnostic,
): Promise<readonly SocketListener[]> {
  const open: SocketListener[] = []
  try {
    for (const path of settings.sockets) {
      const options = { ...lineOptions(settings, onDiagnostic), closeTimeoutMs: settings.shutdownTimeoutMs }
      open.push(await listenSocket(path, serveOne, options))
    }
    return open
  } catch (error) {
    await Promise.all(open.map((listener) => listener.close()))
    if (TransportError.is(error)) throw new ExitError(exitCode.unreachable, error.message, { cause: error })
    throw error
  }
}

/** How lines are read and written. A client that does not read holds up the end no longer than calls that do not end do. */
function lineOptions({ maxBodyBytes, shutdownTimeoutMs }: Settings, onDiagnostic: OnDiagnostic): LineOptions {
  return { maxLineBytes: maxBodyBytes, flushTimeoutMs: shutdownTimeoutMs, onDiagnostic }
}

/** The revisions that the settings allow. A `UsageError` for one that is not known. */
function revisionPolicy({ protocol, legacyRevisions }: Pick<Settings, 'protocol' | 'legacyRevisions'>): RevisionPolicy {
  if (protocol === 'modern' && legacyRevisions !== undefined) {
    throw new UsageError('legacy revisions are named, but the protocol is modern only: leave one of the two out')
  }
  try {
    return createRevisionPolicy({
      ...(protocol === 'legacy' && { modern: [] }),
      ...(protocol === 'modern' && { legacy: [] }),
      ...(legacyRevisions !== undefined && { legacy: legacyRevisions }),
    })
  } catch (error) {
    if (RevisionError.is(error)) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
