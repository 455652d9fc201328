import type { CacheHints, Call } from './contract/call.ts'
import { method, notice } from './contract/methods.ts'
import { isJsonObject, type JsonRecord, type JsonValue } from './jsonrpc/json.ts'
import { memberOf } from './member.ts'

/** Longest time that we keep anything on a server's word, in milliseconds. */
const maxTtlMs = 24 * 60 * 60 * 1000

/** What holds where a server gives no hints: stale at once, for nobody else. */
export const noCache: CacheHints = Object.freeze({ ttlMs: 0, cacheScope: 'private' })

/**
 * The hints of a result as a cache must read them (MC-CACHE-03, -04, -07, -09, A-28): a time that is no integer of at least 0 counts as
 * 0, a scope that is not `public` counts as `private`. They are advice, so bad ones never make a result invalid.
 */
export function cacheHintsOf(result: JsonRecord): CacheHints {
  return {
    ttlMs: effectiveTtl(memberOf(result, 'ttlMs')),
    cacheScope: memberOf(result, 'cacheScope') === 'public' ? 'public' : 'private',
  }
}

function effectiveTtl(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, maxTtlMs) : 0
}

/** The hints of something that was put together from several results: the shortest time, and private if any part is (BR-304). */
export function mergeHints(parts: readonly CacheHints[]): CacheHints {
  if (parts.length === 0) return noCache
  return {
    ttlMs: Math.min(...parts.map((part) => part.ttlMs)),
    cacheScope: parts.every((part) => part.cacheScope === 'public') ? 'public' : 'private',
  }
}

/** Whether a result is still fresh at `nowMs` (MC-CACHE-08). Both times are of one clock, in milliseconds. */
export function isFresh(hints: CacheHints, receivedAtMs: number, nowMs: number): boolean {
  return nowMs < receivedAtMs + hints.ttlMs
}

/** Methods whose complete results carry hints (MC-CACHE-01). */
const cacheableMethods: ReadonlySet<string> = new Set([
  method.discover,
  method.listTools,
  method.listPrompts,
  method.listResources,
  method.listResourceTemplates,
  method.readResource,
])

/**
 * Whether the answer to a call may be stored at all: a complete result of a cacheable method, and not the answer to a retry, whatever
 * its hints say (MC-CACHE-02, -06, A-29). `params` are those that went over the wire.
 */
export function isStorable(call: Call, result: JsonRecord): boolean {
  const type = memberOf(result, 'resultType')
  return (
    cacheableMethods.has(call.method) &&
    (type === undefined || type === 'complete') &&
    memberOf(call.params, 'inputResponses') === undefined &&
    memberOf(call.params, 'requestState') === undefined
  )
}

/** List changes and the methods whose results they make stale. */
const staleLists: ReadonlyMap<string, readonly string[]> = new Map([
  [notice.toolsChanged, [method.listTools]],
  [notice.promptsChanged, [method.listPrompts]],
  [notice.resourcesChanged, [method.listResources, method.listResourceTemplates]],
])

/** Whether a notice makes the stored answer to a call stale at once (MC-CACHE-16). A changed resource may lie below the one that was read. */
export function invalidates(candidate: Call, stored: Call): boolean {
  if (candidate.method !== notice.resourceUpdated) {
    return staleLists.get(candidate.method)?.includes(stored.method) === true
  }
  if (stored.method !== method.readResource) return false
  const changed = memberOf(candidate.params, 'uri')
  const read = memberOf(stored.params, 'uri')
  // a notice that does not say what changed can mean anything
  if (typeof changed !== 'string' || typeof read !== 'string') return true
  return changed === read || changed.startsWith(read.endsWith('/') ? read : `${read}/`)
}

/** Whether a value is a scope that the schema knows. */
function isCacheScope(value: JsonValue | undefined): value is CacheHints['cacheScope'] {
  return value === 'public' || value === 'private'
}

/** What a server's hints lack, for reports; empty when they are in order. */
export function cacheHintDefects(result: JsonValue): readonly string[] {
  if (!isJsonObject(result)) return []
  const { ttlMs, cacheScope } = result
  const defects: string[] = []
  if (typeof ttlMs !== 'number' || !Number.isInteger(ttlMs) || ttlMs < 0)
    defects.push('ttlMs is not an integer of at least 0')
  if (!isCacheScope(cacheScope)) defects.push('cacheScope is neither "public" nor "private"')
  return defects
}
