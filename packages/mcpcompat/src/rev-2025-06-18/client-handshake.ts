import { clientCapabilitiesForLegacy, serverCapabilitiesForModern } from '../bridge.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import { TransportError } from '../jsonrpc/errors.ts'
import { isJsonObject, type JsonObject, type JsonRecord, toObject } from '../jsonrpc/json.ts'
import { isImplementation } from '../meta.ts'
import type { RevisionEvidence, RevisionOffer } from '../revisions.ts'
import { featuresOf } from './features.ts'

/** What the handshake showed. */
export interface InitializedServer extends RevisionEvidence {
  readonly observed: string
  readonly info: Implementation | undefined
  /** In the form of the modern revision. */
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

/** The params of `initialize` (LG-LIFE-01, LG-LIFE-06, A-61): nothing in them hints at another era. */
export function initializeParams(revision: string, info: Implementation, capabilities: JsonObject): JsonObject {
  return { protocolVersion: revision, capabilities: declaredCapabilities(capabilities, revision), clientInfo: info }
}

function declaredCapabilities(capabilities: JsonObject, revision: string): JsonObject {
  const features = featuresOf(revision)
  const { sampling, elicitation, ...rest } = clientCapabilitiesForLegacy(capabilities)
  const modes = features.elicitation === 'modes' && isJsonObject(capabilities['elicitation'])
  return {
    ...rest,
    ...(sampling !== undefined && { sampling: features.samplingTools ? capabilities['sampling'] : sampling }),
    ...(modes
      ? { elicitation: capabilities['elicitation'] }
      : elicitation !== undefined && features.elicitation !== 'none' && { elicitation }),
  }
}

/**
 * Reads the answer to `initialize`. Throws a `TransportError` of kind `protocol` when the server insists on a revision that is
 * not accepted (LG-LIFE-08), or answered with something else.
 */
export function readInitializeResult(result: JsonRecord, requested: string, offer: RevisionOffer): InitializedServer {
  const { protocolVersion, capabilities, serverInfo, instructions } = toObject(result)
  if (typeof protocolVersion !== 'string' || !isJsonObject(capabilities)) {
    throw new TransportError('protocol', 'The answer to initialize has no protocolVersion and capabilities')
  }
  if (!offer.legacy.includes(protocolVersion)) {
    throw new TransportError(
      'protocol',
      `The server was asked for ${requested} and insists on ${JSON.stringify(protocolVersion.slice(0, 40))}, which is not ` +
        `switched on. Accepted legacy revisions: ${offer.legacy.join(', ')} (--legacy-revisions replaces this list)`,
    )
  }
  return {
    requested,
    observed: protocolVersion,
    info: isImplementation(serverInfo) ? (serverInfo as Implementation) : undefined,
    capabilities: serverCapabilitiesForModern(capabilities),
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}
