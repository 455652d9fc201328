import { ExitError, exitCode, type Redactor, UsageError } from '@atenea/cli'
import { type Dispatcher, type OnDiagnostic, type RevisionPolicy, TransportError } from '@atenea/mcpcompat'
import type { Readiness } from '@atenea/transport-http'
import { type HttpListener, isLoopback, listenHttp } from '@atenea/transport-http/node'
import type { FrontSettings } from '../front-settings.ts'
import { createFrontAuthenticator } from './authenticator.ts'

export interface HttpFronts {
  /** The endpoints. */
  readonly urls: readonly string[]
  close(): Promise<void>
}

export interface ListenOnHttpOptions {
  readonly settings: FrontSettings
  readonly policy: RevisionPolicy
  readonly onDiagnostic: OnDiagnostic
  /** Gets every secret that is read. */
  readonly redactor: Pick<Redactor, 'add'>
  readonly readiness: Readiness | undefined
}

/**
 * Serves a dispatcher by HTTP wherever the settings say, everywhere or nowhere. Loaded only when HTTP is asked for. Throws a
 * `UsageError` for an address that other machines can reach when nothing says who may use it.
 */
export async function listenOnHttp(
  dispatcher: Dispatcher,
  { settings, policy, onDiagnostic, redactor, readiness }: ListenOnHttpOptions,
): Promise<HttpFronts> {
  const { http, allowedOrigins, maxBodyBytes, maxInFlight, shutdownTimeoutMs } = settings
  const authenticate = createFrontAuthenticator(settings, redactor)
  const reachable = http.find(({ host }) => !isLoopback(host))
  if (reachable !== undefined && authenticate === undefined && !settings.allowUnauthenticated) {
    throw new UsageError(
      `other machines can reach ${reachable.host}: name a file of tokens with --bearer-token-file, or give --allow-unauthenticated if everybody may use this server`,
    )
  }
  const open: HttpListener[] = []
  const close = async (timeoutMs: number): Promise<void> => {
    await Promise.all(open.map(async (listener) => await listener.close({ timeoutMs })))
  }
  try {
    for (const { host, port } of http) {
      const listener = await listenHttp(dispatcher, {
        host,
        port,
        policy,
        allowedOrigins,
        maxBodyBytes,
        maxInFlight,
        authenticate,
        readiness,
        onDiagnostic,
      })
      open.push(listener)
    }
  } catch (error) {
    await close(0)
    if (TransportError.is(error)) throw new ExitError(exitCode.unreachable, error.message, { cause: error })
    throw error
  }
  return { urls: open.map(({ url }) => url), close: async () => await close(shutdownTimeoutMs) }
}
