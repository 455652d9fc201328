import type { JsonObject } from '@atenea/mcpcompat'
import type { BackendStatus, PassthroughStatus } from '@atenea/passthrough'
import type { ReadinessReport } from '@atenea/transport-http'
import { version } from '../version.ts'

/**
 * How the proxy is, as JSON for `/readyz` and `status`. It is ready when no server behind it is known to be out of reach; a server that
 * nobody has needed yet is started when it is needed.
 */
export function reportStatus({ backends }: PassthroughStatus, redact: (text: string) => string): ReadinessReport {
  return {
    ready: backends.every(({ state }) => state === 'idle' || state === 'ready'),
    details: {
      version,
      servers: Object.fromEntries(backends.map((backend) => [backend.name, reportOf(backend, redact)])),
    },
  }
}

function reportOf(status: BackendStatus, redact: (text: string) => string): JsonObject {
  const { state, since, requested, observed, row, info, connections, openCalls, restarts, lastError, retryAt } = status
  return {
    state,
    since: time(since),
    ...(requested !== undefined && { requested }),
    ...(observed !== undefined && { observed }),
    ...(row !== undefined && { row }),
    ...(info !== undefined && { name: info.name, version: info.version }),
    connections,
    openCalls,
    restarts,
    ...(lastError !== undefined && { lastError: { message: redact(lastError.message), at: time(lastError.at) } }),
    ...(retryAt !== undefined && { retryAt: time(retryAt) }),
  }
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}
