import { canonicalize } from '@atenea/mcpcompat'
import type { PeerSession } from '@atenea/mcpcompat/transport'
import { asksOf } from './asks-of.ts'
import type { BackendClient } from './backend-port.ts'

/** Who has a connection to a backend that keeps sessions: a client with a session of its own, or everybody who shares one. */
export type LinkKey = PeerSession | string

/**
 * Whose connection is meant. Where questions cross between the kinds of peers, only those share one who can be asked the same; `place` tells
 * which of several connections of the same client.
 */
export function linkKey({ session, peer, principal }: BackendClient, bridgesInput: boolean, place = 0): LinkKey {
  if (session !== undefined) return session
  if (!bridgesInput) return principal.id
  const key = `${principal.id} ${canonicalize(asksOf(peer?.capabilities ?? {}))}`
  return place === 0 ? key : `${key} ${place}`
}
