import { method } from './contract/methods.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import { isJsonObject, type Json, type JsonObject, toValue } from './jsonrpc/json.ts'
import type { RpcErrorObject } from './jsonrpc/message.ts'
import type { Era } from './revisions.ts'

export {
  resultForLegacy,
  resultForModern,
  toolForLegacy,
  toolForModern,
} from './bridge-results.ts'

/** The call that failed, as far as the meaning of an error depends on it. */
export interface FailedCall {
  readonly method?: string | undefined
  /** The uri of a `resources/read`. */
  readonly uri?: string | undefined
}

/** The way of an error through a proxy. */
export interface ErrorPath extends FailedCall {
  readonly from: Era
  readonly to: Era
  /** Whether the backend saw the capabilities that the client declared; if not, the client is not to blame for a missing one. Default true. */
  readonly capabilitiesPassed?: boolean
}

/** An error as the other side may see it (decisions 7). The text is kept; what a code may not say there goes into `data`. */
export function translateError(error: RpcErrorObject, path: ErrorPath): RpcErrorObject {
  return path.to === 'modern' ? toModern(error, path) : path.from === 'legacy' ? error : errorForLegacy(error, path)
}

/**
 * The error of a backend, in the words of the neutral model, as a proxy may hand it on (decisions 7, BR-127): what only concerns the hop
 * behind the proxy is not the caller's affair.
 */
export function errorForCaller(error: RpcErrorObject): RpcErrorObject {
  return toModern(error, { from: 'modern', to: 'modern' })
}

/**
 * The error of a legacy peer, or one of unknown origin, in the numbers of the modern revision (BR-232, BR-233, MC-ERR-02, -04, -08).
 * Codes that the protocol reserves are not passed on, since an older program means something else by them.
 */
export function errorForModern(error: RpcErrorObject, call: FailedCall = {}): RpcErrorObject {
  return toModern(error, { ...call, from: 'legacy', to: 'modern' })
}

function toModern(error: RpcErrorObject, path: ErrorPath): RpcErrorObject {
  const { code } = error
  if (isGeneralCode(code) || !isReservedCode(code)) return error
  if (code === rpcCode.resourceNotFound) return notFoundForModern(error, path)
  if (code === rpcCode.missingClientCapability && path.from === 'modern' && path.capabilitiesPassed !== false)
    return error
  return asInternalError(error)
}

/** The error of a modern peer in the numbers of the legacy revisions (BR-127, BR-128). */
export function errorForLegacy(error: RpcErrorObject, call: FailedCall = {}): RpcErrorObject {
  switch (error.code) {
    case rpcCode.invalidParams:
      return isNotFound(error, call) ? { ...error, code: rpcCode.resourceNotFound } : error
    case rpcCode.missingClientCapability:
      return capabilityForLegacy(error)
    case rpcCode.headerMismatch:
    case rpcCode.unsupportedVersion:
      // no dual-era client may take the session for a modern one
      return asInternalError(error)
    default:
      return error
  }
}

/** Whether an error means that the resource does not exist (A-30, MC-ERR-09). */
export function isNotFound(error: RpcErrorObject, call: FailedCall): boolean {
  if (error.code === rpcCode.resourceNotFound) return true
  if (error.code !== rpcCode.invalidParams || call.method !== method.readResource) return false
  const uri = dataObject(error.data)['uri']
  return typeof uri === 'string' && (call.uri === undefined || call.uri === uri)
}

function notFoundForModern(error: RpcErrorObject, { uri }: FailedCall): RpcErrorObject {
  const moved = { ...error, code: rpcCode.invalidParams }
  const data = dataObject(error.data)
  return uri === undefined || data['uri'] !== undefined ? moved : { ...moved, data: { ...data, uri } }
}

function capabilityForLegacy(error: RpcErrorObject): RpcErrorObject {
  const required = dataObject(error.data)['requiredCapabilities']
  if (!isJsonObject(required)) return asInternalError(error)
  return {
    code: rpcCode.internalError,
    message: `${error.message} (needs the client capability ${Object.keys(required).join(', ')})`,
    data: { requiredCapabilities: required },
  }
}

function asInternalError(error: RpcErrorObject): RpcErrorObject {
  const original = { code: error.code, message: error.message }
  return {
    code: rpcCode.internalError,
    message: error.message,
    data: { original: error.data === undefined ? original : { ...original, data: toValue(error.data) } },
  }
}

function isGeneralCode(code: number): boolean {
  return code === rpcCode.parseError || (code <= rpcCode.invalidRequest && code >= rpcCode.internalError)
}

/** What JSON-RPC keeps for itself and for implementations; application codes lie outside (MC-ERR-10). */
function isReservedCode(code: number): boolean {
  return code >= -32_768 && code <= -32_000
}

function dataObject(data: Json | undefined): JsonObject {
  const value = data === undefined ? undefined : toValue(data)
  return isJsonObject(value) ? value : {}
}

/** The HTTP status of a JSON-RPC error that was made at or after dispatch. Once a stream has begun the status is 200 anyway. */
export function statusOfError(code: number): number {
  switch (code) {
    case rpcCode.methodNotFound:
      return 404
    case rpcCode.headerMismatch:
    case rpcCode.missingClientCapability:
    case rpcCode.unsupportedVersion:
      return 400
    default:
      return 200
  }
}

/** What a legacy client declared, in the form of the modern revision (BR-121): never url mode, never tools in sampling. */
export function clientCapabilitiesForModern(declared: JsonObject): JsonObject {
  const { roots, sampling, elicitation, experimental } = declared
  return {
    ...(isJsonObject(roots) && { roots: {} }),
    ...(isJsonObject(sampling) && { sampling: {} }),
    ...(isJsonObject(elicitation) && { elicitation: { form: {} } }),
    ...(isJsonObject(experimental) && { experimental }),
  }
}

/**
 * What a modern client declared, as a legacy handshake can declare it (MC-REQ-10, BR-212): form elicitation, sampling without tools,
 * roots that never announce a change, no extensions.
 */
export function clientCapabilitiesForLegacy(declared: JsonObject): JsonObject {
  const { roots, sampling, elicitation, experimental } = declared
  const form = isJsonObject(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined)
  return {
    ...(isJsonObject(roots) && { roots: {} }),
    ...(isJsonObject(sampling) && { sampling: {} }),
    ...(form && { elicitation: {} }),
    ...(isJsonObject(experimental) && { experimental }),
  }
}

/** What a modern server offers, as a legacy handshake can say it (BR-101). */
export function serverCapabilitiesForLegacy(offered: JsonObject): JsonObject {
  return without(offered, ['extensions'])
}

/** What a legacy server offers, in the form of the modern revision (BR-201, BR-212): without members that only legacy has. */
export function serverCapabilitiesForModern(offered: JsonObject): JsonObject {
  return without(offered, ['tasks', 'extensions'])
}

function without(members: JsonObject, dropped: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([key]) => !dropped.includes(key)))
}
