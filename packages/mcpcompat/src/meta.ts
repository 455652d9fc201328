import type { RpcErrorObject } from './jsonrpc/message.ts'
import { type JsonObject, type JsonRecord, type JsonValue, toObject } from './jsonrpc/json.ts'
import { omitMembers } from './jsonrpc/edit.ts'
import { rpcCode } from './jsonrpc/errors.ts'
import type { JsonText } from './jsonrpc/json-text.ts'
import { isLogLevel } from './log-levels.ts'
import { memberOf } from './member.ts'
import type { RevisionOffer } from './revisions.ts'

/** Keys of `_meta` that the protocol defines. */
export const metaKey = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  progressToken: 'progressToken',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  baggage: 'baggage',
} as const

/** Keys that belong to the envelope of one modern request and mean nothing to the next hop. */
const envelopeKeys: ReadonlySet<string> = new Set([
  metaKey.protocolVersion,
  metaKey.clientInfo,
  metaKey.clientCapabilities,
  metaKey.logLevel,
  metaKey.progressToken,
])

const reservedPrefix = 'io.modelcontextprotocol/'
const emptyMeta: JsonObject = Object.freeze({})

/** The `_meta` of a params object. Of source text only this member is parsed, so arguments stay as they came. */
export function metaOf(params: JsonRecord | undefined): JsonValue | undefined {
  return memberOf(params, '_meta')
}

/** A guard for values that came out of a parser, where no other kind of object occurs. */
function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * What `_meta` claims under the version key, of whatever type; `undefined` when the key is not there. A claim is what makes
 * a message modern (decisions 2).
 */
export function claimOf(meta: JsonValue | undefined): JsonValue | undefined {
  return isObject(meta) ? meta[metaKey.protocolVersion] : undefined
}

/**
 * Judges the envelope of a modern request (MC-REQ-01 to -12, MC-PROG-01, MC-LOG-05; ladder steps 16, 18 and 20). `meta` is the
 * value of `params._meta`. `undefined` means that it is good; nothing is allocated then, since every modern request pays for this.
 */
export function checkEnvelope(meta: JsonValue | undefined, offer: RevisionOffer): RpcErrorObject | undefined {
  // The guards are written out here, since every modern request of every client comes this way.
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return missingKeys(meta)
  const members = meta as JsonObject
  const version = members[metaKey.protocolVersion]
  if (typeof version !== 'string' || !offer.modern.includes(version)) return checkClaim(meta, offer)
  // step 20
  const capabilities = members[metaKey.clientCapabilities] as JsonObject | undefined
  if (typeof capabilities !== 'object' || capabilities === null || Array.isArray(capabilities)) {
    return capabilities === undefined ? missingKeys(meta) : malformed(metaKey.clientCapabilities, 'an object')
  }
  for (const name in capabilities) {
    if (!isObject(capabilities[name])) return malformed(`${metaKey.clientCapabilities}.${name}`, 'an object')
  }
  const info = members[metaKey.clientInfo]
  if (info !== undefined && !isImplementation(info)) {
    return malformed(metaKey.clientInfo, 'an object with the strings name and version')
  }
  const token = members[metaKey.progressToken]
  if (token !== undefined && typeof token !== 'string' && !Number.isSafeInteger(token)) {
    return malformed(metaKey.progressToken, 'a string or an integer of at most 2^53-1')
  }
  const level = members[metaKey.logLevel]
  if (level !== undefined && !isLogLevel(level)) return malformed(metaKey.logLevel, 'one of the eight log levels')
  return undefined
}

/** Judges the claim alone: steps 16 and 18 of the ladder. The revision comes first, so that a future one is not judged by the members that this one requires. */
export function checkClaim(meta: JsonValue | undefined, offer: RevisionOffer): RpcErrorObject | undefined {
  const version = claimOf(meta)
  if (version === undefined) return missingKeys(meta)
  // step 16
  if (typeof version !== 'string') return malformedClaim
  // step 18
  return offer.modern.includes(version) ? undefined : unsupportedVersion(version, offer)
}

/** Whether a value describes a program: strings `name` and `version`, whatever else there is. */
export function isImplementation(value: JsonValue | undefined): boolean {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string'
}

/** The answer to a request without the keys that every modern request needs (MC-REQ-05). Names what is missing. */
export function missingKeys(meta: JsonValue | undefined): RpcErrorObject {
  const required = [metaKey.protocolVersion, metaKey.clientCapabilities]
  const missing = isObject(meta) ? required.filter((key) => meta[key] === undefined) : required
  return { code: rpcCode.invalidParams, message: `Missing in params._meta: ${missing.join(', ')}` }
}

/**
 * The answer to a version that is not served (MC-ERR-07). `requested` is left out of the list, since it can only be a revision
 * that is served in another way and the peer would ask for it again.
 */
export function unsupportedVersion(requested: string, offer: RevisionOffer): RpcErrorObject {
  const legacy = offer.legacy.filter((revision) => revision !== requested)
  const advice = legacy.length < offer.legacy.length ? ' per request; it needs initialize' : ''
  return {
    code: rpcCode.unsupportedVersion,
    message: `Protocol version ${quote(requested)} is not served${advice}. Served: ${[...offer.modern, ...offer.legacy].join(', ')}`,
    data: { supported: [...offer.modern, ...legacy], requested },
  }
}

/** The answer to a claim that is no string (step 16). */
export const malformedClaim: RpcErrorObject = malformed(metaKey.protocolVersion, 'a string')

function malformed(key: string, expected: string): RpcErrorObject {
  return { code: rpcCode.invalidParams, message: `params._meta ${quote(key)} must be ${expected}` }
}

/** A peer's text in a message of ours: bounded, and without control characters. */
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}

/** `_meta` without the keys of the envelope. Unknown and foreign keys are kept, badly formed ones too. */
export function stripEnvelopeMeta(meta: JsonRecord | undefined): JsonObject {
  return withoutKeys(meta, (key) => envelopeKeys.has(key))
}

/** The same of source text; what stays is as it came. */
export function stripEnvelopeText(meta: JsonText): JsonText {
  return omitMembers(meta, (key) => envelopeKeys.has(key))
}

/** Source text of `_meta` for a peer of the other era, without the progress token, which every hop gives anew. */
export function stripReservedText(meta: JsonText): JsonText {
  return omitMembers(meta, (key) => key === metaKey.progressToken || key.startsWith(reservedPrefix))
}

/** `_meta` for a peer of the other era: without all keys that MCP reserves under its own prefix; trace keys and foreign ones stay (BR-202). */
export function stripReservedMeta(meta: JsonRecord | undefined): JsonObject {
  return withoutKeys(meta, (key) => key.startsWith(reservedPrefix))
}

function withoutKeys(meta: JsonRecord | undefined, drop: (key: string) => boolean): JsonObject {
  if (meta === undefined) return emptyMeta
  const kept = Object.entries(toObject(meta)).filter(([key]) => !drop(key))
  // fromEntries defines members, so a key named __proto__ stays data
  return kept.length === 0 ? emptyMeta : Object.fromEntries(kept)
}
