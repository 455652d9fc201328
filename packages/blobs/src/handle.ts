import { invalidIdentifier } from './did.ts'
import { isHostName, isReservedHost } from './host-name.ts'

/** A handle in lower case; undefined for text that is none. It may be in a domain in which none can be resolved. */
export function normalizeHandle(text: string): string | undefined {
  // Before lower case: it turns a few letters outside of ASCII into letters of it.
  if (!/^[\x21-\x7e]+$/.test(text)) return undefined
  const handle = text.toLowerCase()
  return isHostName(handle) ? handle : undefined
}

/**
 * Reads a handle that is to be resolved and gives it in lower case. A `BlobError` of kind `invalid-identifier` for what is
 * none, and for one in a domain in which none can be resolved.
 */
export function parseHandle(text: string): string {
  const handle = typeof text === 'string' ? normalizeHandle(text) : undefined
  if (handle === undefined) throw invalidIdentifier(text, 'is neither a DID nor a handle')
  if (isReservedHost(handle)) throw invalidIdentifier(text, 'is in a domain in which handles cannot be resolved')
  return handle
}
