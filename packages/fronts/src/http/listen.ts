import { ExitError, exitCode, type Redactor, UsageError } from '@atenea/cli'
import { type Dispatcher, type OnDiagnostic, type RevisionPolicy, TransportError } from '@atenea/mcpcompat'
import type { CreateHttpHandlerOptions, Readiness } from '@atenea/transport-http'
import { loopbackHosts } from '@atenea/mcpcompat/transport'
import { type HttpListener, isLoopback, listenHttp } from '@atenea/transport-http/node'
import type { FrontSettings } from '../front-settings.ts'
import { createFrontAuth } from './authenticator.ts'

export interface HttpFronts {
  /** The endpoints. */
  readonly urls: readonly string[]
  close(): Promise<void>
}

export interface ListenOnHttpOptions {
  readonly settings: FrontSettings
  readonly policy: RevisionPolicy
  /** How the payload of messages is wanted. */
  readonly payload: CreateHttpHandlerOptions['payload']
  /** Legacy sessions that each front keeps at the same time. */
  readonly maxSessions: number | undefined
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
  { settings, policy, payload, maxSessions, onDiagnostic, redactor, readiness }: ListenOnHttpOptions,
): Promise<HttpFronts> {
  const { http, allowedOrigins, maxBodyBytes, maxInFlight, shutdownTimeoutMs } = settings
  const auth = await createFrontAuth(settings, { redactor, onDiagnostic })
  const reachable = http.find(({ host }) => !isLoopback(host))
  if (reachable !== undefined && auth === undefined && !settings.allowUnauthenticated) {
    throw new UsageError(
      `other machines can reach ${reachable.host}: name an authorization server with --auth-issuer or a file of tokens with --bearer-token-file, or give --allow-unauthenticated if everybody may use this server`,
    )
  }
  const open: HttpListener[] = []
  const close = async (timeoutMs: number): Promise<void> => {
    await Promise.all(open.map(async (listener) => await listener.close({ timeoutMs })))
    auth?.[Symbol.dispose]()
  }
  try {
    for (const { host, port } of http) {
      const listener = await listenHttp(dispatcher, {
        host,
        port,
        policy,
        payload,
        allowedOrigins,
        maxBodyBytes,
        maxInFlight,
        maxSessions,
        authenticate: auth?.authenticate,
        protectedResource: auth?.protectedResource,
        allowedHosts: allowedHosts(host, auth?.protectedResource?.resource),
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

/** A front on this machine that a reverse proxy makes known under another name is asked for by that name too. */
function allowedHosts(host: string, resource: string | undefined): readonly string[] | undefined {
  return isLoopback(host) && resource !== undefined ? [...loopbackHosts, new URL(resource).hostname] : undefined
}
