import type { Era, JsonObject } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { version } from './version.ts'

/** How we name ourselves to servers. */
export const clientInfo = { name: 'atenea-probe', version } as const

/** The `_meta` of a modern request. */
export function modernMeta(revision: string): JsonObject {
  return {
    [metaKey.protocolVersion]: revision,
    [metaKey.clientInfo]: clientInfo,
    [metaKey.clientCapabilities]: {},
  }
}

/** Methods that only the legacy era has. */
export const legacyMethod = {
  initialize: 'initialize',
  initialized: 'notifications/initialized',
  ping: 'ping',
} as const

/** The params of `initialize`. */
export function handshakeParams(revision: string): JsonObject {
  return { protocolVersion: revision, capabilities: {}, clientInfo }
}

/** The `_meta` that a request of the era carries, if any. */
export function usualMeta(era: Era, revision: string): JsonObject | undefined {
  return era === 'modern' ? modernMeta(revision) : undefined
}
