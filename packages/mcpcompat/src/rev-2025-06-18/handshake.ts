import { clientCapabilitiesForModern, serverCapabilitiesForLegacy } from '../bridge.ts'
import type { Peer } from '../contract/context.ts'
import type { Implementation, ServerView } from '../contract/dispatcher.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonObject, type JsonRecord, toObject, toText } from '../jsonrpc/json.ts'
import { isImplementation } from '../meta.ts'
import { remembered } from '../remembered.ts'
import type { RevisionPolicy } from '../revisions.ts'
import { featuresOf, type LegacyFeatures } from './features.ts'

/** What a handshake agreed on. */
export interface Handshake {
  /** The revision that governs the session, which need not be the requested one (LG-LIFE-07). */
  readonly revision: string
  readonly features: LegacyFeatures
  /** The client, its capabilities in the form of the modern revision. */
  readonly peer: Peer
  /** Its capabilities as it declared them. */
  readonly declared: JsonObject
}

/** Longer ones are not kept; clients say who they are in a few hundred characters. */
const maxKeptLength = 2_000

const readersOf = new WeakMap<RevisionPolicy, (text: string) => Handshake>()

/**
 * Reads `initialize` (LG-LIFE-01, -06, -07). Throws an `RpcError` when it is malformed or no legacy revision is served. Clients that say
 * the same get the same object: most of the thousands that a server has are of a few kinds.
 */
export function readInitialize(params: JsonRecord, policy: RevisionPolicy): Handshake {
  const text = toText(params)
  if (text.length > maxKeptLength) return read(toObject(params), policy)
  let known = readersOf.get(policy)
  if (known === undefined) {
    known = remembered((said) => read(JSON.parse(said) as JsonObject, policy))
    readersOf.set(policy, known)
  }
  return known(text)
}

function read({ protocolVersion, capabilities, clientInfo }: JsonObject, policy: RevisionPolicy): Handshake {
  if (typeof protocolVersion !== 'string') throw invalid('protocolVersion must be a string')
  if (!isJsonObject(capabilities)) throw invalid('capabilities must be an object')
  if (!isImplementation(clientInfo)) throw invalid('clientInfo must be an object with the strings name and version')
  const revision = policy.negotiateLegacy(protocolVersion)
  if (revision === undefined)
    throw invalid(`no revision with a handshake is served; served: ${policy.supported.join(', ')}`)
  const features = featuresOf(revision)
  const info = clientInfo as Implementation
  const { name, version } = info
  const peer = { name, version, info, capabilities: knownCapabilities(capabilities, features) }
  return { revision, features, peer, declared: capabilities }
}

/** What the client can be asked in this revision; what only other revisions have was not agreed on (LG-LIFE-09). */
function knownCapabilities(declared: JsonObject, features: LegacyFeatures): JsonObject {
  const { sampling, elicitation, ...rest } = clientCapabilitiesForModern(declared)
  const modes =
    features.elicitation === 'modes' && isJsonObject(declared['elicitation']) ? declared['elicitation'] : elicitation
  return {
    ...rest,
    ...(sampling !== undefined && { sampling: features.samplingTools ? declared['sampling'] : sampling }),
    ...(elicitation !== undefined && features.elicitation !== 'none' && { elicitation: modes }),
  }
}

/** The answer to `initialize` (LG-LIFE-02, LG-CAP-01, BR-101). */
export function initializeResult(handshake: Handshake, view: ServerView): JsonObject {
  const { completions, ...capabilities } = serverCapabilitiesForLegacy(view.capabilities)
  return {
    protocolVersion: handshake.revision,
    capabilities: {
      ...capabilities,
      ...(completions !== undefined && handshake.features.completionsCapability && { completions }),
    },
    serverInfo: view.info,
    ...(view.instructions !== undefined && { instructions: view.instructions }),
  }
}

function invalid(message: string): RpcError {
  return new RpcError(rpcCode.invalidParams, `Invalid params: ${message}`)
}
