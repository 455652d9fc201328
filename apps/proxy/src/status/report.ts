import type { JsonObject } from '@atenea/mcpcompat'
import type { BackendStatus, PassthroughStatus } from '@atenea/passthrough'
import type { ReadinessReport } from '@atenea/transport-http'
import { version } from '../version.ts'

/**
 * How the proxy is, as JSON for `/readyz` and `status`. It is ready when no server behind it is known to be out of reach; a server that
 * nobody has needed yet is connected to when it is needed.
 */
export function reportStatus(
  { backends }: PassthroughStatus,
  redact: (text: string) => string,
  signInNeeded: (name: string) => string | undefined,
): ReadinessReport {
  return {
    ready: backends.every(
      ({ name, state }) => (state === 'idle' || state === 'ready') && signInNeeded(name) === undefined,
    ),
    details: {
      version,
      servers: Object.fromEntries(
        backends.map((backend) => [backend.name, reportOf(backend, redact, signInNeeded(backend.name))]),
      ),
    },
  }
}

function reportOf(status: BackendStatus, redact: (text: string) => string, signIn: string | undefined): JsonObject {
  const { state, since, requested, observed, row, info, connections, openCalls, restarts, roots, lastError, retryAt } =
    status
  return {
    state: signIn === undefined ? state : 'needs sign-in',
    since: time(since),
    ...(requested !== undefined && { requested }),
    ...(observed !== undefined && { observed }),
    ...(row !== undefined && { row }),
    ...(info !== undefined && { name: info.name, version: info.version }),
    connections,
    openCalls,
    restarts,
    ...(roots.length > 0 && { roots }),
    ...(signIn !== undefined && { signIn: redact(signIn) }),
    ...(lastError !== undefined && { lastError: { message: redact(lastError.message), at: time(lastError.at) } }),
    ...(retryAt !== undefined && { retryAt: time(retryAt) }),
  }
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}
