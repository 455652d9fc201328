import {
  type ExitCode,
  ExitError,
  exitCode,
  type Logger,
  printErr,
  type ProgramContext,
  type Redactor,
} from '@atenea/cli'
import { type Dispatcher, type OnDiagnostic, TransportError } from '@atenea/mcpcompat'
import { type Connection, serveConnection } from '@atenea/mcpcompat/transport'
import type { Readiness } from '@atenea/transport-http'
import { type LineOptions, listenSocket, openStdio, type SocketListener } from '@atenea/transport-stdio'
import type { FrontSettings } from './front-settings.ts'
import type { HttpFronts } from './http/listen.ts'
import { logDiagnostics } from './log-diagnostics.ts'
import { revisionPolicy } from './revision-policy.ts'
import { terminalHint, tryHttpText, tryItText } from './try-it.ts'

export interface ServeFrontsOptions {
  readonly settings: FrontSettings
  /** Name of the program, for texts that tell what to type next. */
  readonly program: string
  readonly context: ProgramContext
  readonly logger: Logger
  /** Gets every secret that is read. */
  readonly redactor: Pick<Redactor, 'add'>
  /** What `GET /readyz` answers on HTTP. */
  readonly readiness?: Readiness | undefined
  /** How the payload of messages is wanted; `text` by dispatchers that pass it on. Default `parsed`. */
  readonly payload?: 'parsed' | 'text' | undefined
  /** Legacy sessions that each HTTP front keeps at the same time; the most silent one makes room for a new one. Default 10,000. */
  readonly maxHttpSessions?: number | undefined
  /** What is served in place of a connection that came in on a socket. */
  readonly onSocket?: ((connection: Connection) => Connection) | undefined
}

/**
 * Serves a dispatcher on all fronts of the settings until the client on stdin has left or a signal came. Then nothing new is
 * accepted, subscriptions end with their result, calls that were accepted are answered, and the fronts close.
 */
export async function serveFronts(dispatcher: Dispatcher, options: ServeFrontsOptions): Promise<ExitCode> {
  const { settings, program, logger, redactor, readiness, payload, onSocket = (connection) => connection } = options
  const { shutdown } = options.context
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

  const lines = lineOptions(settings, payload, onDiagnostic)
  const listeners = await listen(settings, lines, (connection) => serveOne(onSocket(connection)))
  let http: HttpFronts | undefined
  if (settings.http.length > 0) {
    // all fronts or none
    const { listenOnHttp } = await import('./http/listen.ts')
    const maxSessions = options.maxHttpSessions
    const httpOptions = { settings, policy, payload, maxSessions, onDiagnostic, redactor, readiness }
    http = await listenOnHttp(dispatcher, httpOptions).catch(async (error: unknown) => {
      await Promise.all(listeners.map((listener) => listener.close()))
      throw error
    })
  }
  for (const { path } of listeners) logger.info('listening', { socket: path })
  for (const url of http?.urls ?? []) logger.info('listening', { url })
  if (http !== undefined && settings.bearerTokenFile === undefined && settings.auth === undefined) {
    logger.info(
      'nobody signs in over HTTP, so all clients there are one to this server and share what it keeps for them',
    )
  }
  if (settings.logFormat === 'text' && logger.isOn('info')) {
    printErr(
      settings.stdio
        ? terminalHint(program)
        : tryItText(program, settings.sockets) + tryHttpText(program, http?.urls ?? []),
    )
  }
  try {
    if (settings.stdio) {
      logger.debug('serving stdin and stdout')
      await serveOne(openStdio(lines))
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
  settings: FrontSettings,
  lines: LineOptions,
  serveOne: (connection: Connection) => Promise<void>,
): Promise<readonly SocketListener[]> {
  const open: SocketListener[] = []
  try {
    for (const path of settings.sockets) {
      const options = { ...lines, closeTimeoutMs: settings.shutdownTimeoutMs }
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
function lineOptions(
  { maxBodyBytes, shutdownTimeoutMs }: FrontSettings,
  payload: LineOptions['payload'],
  onDiagnostic: OnDiagnostic,
): LineOptions {
  return { payload, maxLineBytes: maxBodyBytes, flushTimeoutMs: shutdownTimeoutMs, onDiagnostic }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
