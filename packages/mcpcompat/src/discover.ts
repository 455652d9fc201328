import type { CacheHints } from './contract/call.ts'
import type { Implementation, ServerView } from './contract/dispatcher.ts'
import { cacheHintDefects, cacheHintsOf, noCache } from './cache-hints.ts'
import { isJsonObject, type Json, type JsonObject, type JsonValue, toValue } from './jsonrpc/json.ts'
import { isImplementation, metaKey } from './meta.ts'
import type { RevisionPolicy } from './revisions.ts'

/** The result of `server/discover` for what a dispatcher offers (MC-DISC-04 to -08, -10, A-25). Advertises exactly what is served. */
export function discoverResult(view: ServerView, policy: RevisionPolicy): JsonObject {
  const hints = view.hints ?? noCache
  return {
    resultType: 'complete',
    supportedVersions: policy.supported,
    capabilities: view.capabilities,
    ...(view.instructions !== undefined && { instructions: view.instructions }),
    ttlMs: hints.ttlMs,
    cacheScope: hints.cacheScope,
    _meta: { [metaKey.serverInfo]: view.info },
  }
}

/** A discovery result that can be worked with. */
export interface Discovered {
  readonly valid: true
  /** As the server lists them; unknown ones are for the reader to skip. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: JsonObject
  readonly hints: CacheHints
  readonly info: Implementation | undefined
  readonly instructions: string | undefined
  /** Where the server departs from the schema without being useless, for reports. */
  readonly defects: readonly string[]
}

/** What a client makes of the answer to `server/discover`. */
export type ParsedDiscoverResult = Discovered | { readonly valid: false; readonly reason: string; readonly raw: Json }

/**
 * Validates the answer to `server/discover` (MC-DISC-04, -05, MC-RT-03, A-08, A-59). Versions and capabilities must be there; hints,
 * identity and instructions are read leniently.
 */
export function parseDiscoverResult(result: Json): ParsedDiscoverResult {
  const value = toValue(result)
  const refuse = (reason: string): ParsedDiscoverResult => ({ valid: false, reason, raw: result })
  if (!isJsonObject(value)) return refuse('the result is not an object')
  const { resultType, supportedVersions, capabilities, instructions } = value
  if (resultType !== undefined && resultType !== 'complete') return refuse('resultType is not "complete"')
  if (!isStringArray(supportedVersions)) return refuse('supportedVersions is not an array of strings')
  if (!isJsonObject(capabilities)) return refuse('capabilities is not an object')
  const defects = [...cacheHintDefects(value)]
  if (resultType === undefined) defects.unshift('resultType is missing')
  const info = isJsonObject(value['_meta']) ? value['_meta'][metaKey.serverInfo] : undefined
  if (!isImplementation(info)) defects.push('_meta names no server')
  if (instructions !== undefined && typeof instructions !== 'string') defects.push('instructions is not a string')
  return {
    valid: true,
    supportedVersions,
    capabilities,
    hints: cacheHintsOf(value),
    info: isImplementation(info) ? (info as Implementation) : undefined,
    instructions: typeof instructions === 'string' ? instructions : undefined,
    defects,
  }
}

/** Whether a result shows that its maker is modern, also when it is no valid discovery result (H19, S04). */
export function hasModernMarker(result: JsonValue): boolean {
  return isJsonObject(result) && (Object.hasOwn(result, 'supportedVersions') || Object.hasOwn(result, 'resultType'))
}

function isStringArray(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
