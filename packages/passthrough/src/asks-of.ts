import type { JsonObject, Peer } from '@atenea/mcpcompat'

/** What a client can be asked for. */
export function asksOf({ elicitation, sampling, roots }: JsonObject): JsonObject {
  return {
    ...(elicitation !== undefined && { elicitation }),
    ...(sampling !== undefined && { sampling }),
    ...(roots !== undefined && { roots }),
  }
}

/** Whether a client can be asked anything; looked at for every call, so nothing is made for it. */
export function hasAsks({ elicitation, sampling, roots }: JsonObject): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

const deaf = new WeakMap<Peer, Peer>()

/** The same client as one that cannot be asked anything. */
export function withoutAsks(peer: Peer): Peer {
  let other = deaf.get(peer)
  if (other === undefined) {
    const { elicitation: _e, sampling: _s, roots: _r, ...capabilities } = peer.capabilities
    other = { ...peer, capabilities }
    deaf.set(peer, other)
  }
  return other
}
