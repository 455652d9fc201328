import { ExitError, exitCode, type Redactor, UsageError } from '@atenea/cli'
import { type Dispatcher, type OnDiagnostic, type RevisionPolicy, TransportError } from '@atenea/mcpcompat'
import { createBearerAuthenticator } from '@atenea/transport-http'
import { type HttpListener, isLoopback, listenHttp } from '@atenea/transport-http/node'
import type { Settings } from '../settings.ts'
import { readBearerTokens } from './bearer-tokens.ts'

export interface HttpFronts {
  /** The endpoints. */
  readonly urls: readonly string[]
  close(): Promise<void>
}

/**
 * Serves a dispatcher by HTTP wherever the settings say, everywhere or nowhere. Loaded only when HTTP is asked for. Throws a
 * `UsageError` for an address that other machines can reach when nothing says who may use it.
 */
export async function listenOnHttp(
  dispatcher: Dispatcher,
  settings: Settings,
  policy: RevisionPolicy,
  onDiagnostic: OnDiagnostic,
  redactor: Pick<Redactor, 'add'>,
): Promise<HttpFronts> {
  const { http, bearerTokenFile, allowedOrigins, maxBodyBytes, maxInFlight, shutdownTimeoutMs } = settings
  const reachable = http.find(({ host }) => !isLoopback(host))
  if (reachable !== undefined && bearerTokenFile === undefined && !settings.allowUnauthenticated) {
    throw new UsageError(
      `other machines can reach ${reachable.host}: name a file of tokens with --bearer-token-file, or give --allow-unauthenticated if everybody may use this server`,
    )
  }
  const tokens = bearerTokenFile === undefined ? undefined : readBearerTokens(bearerTokenFile)
  for (const secret of tokens?.secrets ?? []) redactor.add(secret)
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
        authenticate: tokens && createBearerAuthenticator((token) => tokens.verify(token)),
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
