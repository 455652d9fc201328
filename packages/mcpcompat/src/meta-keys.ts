import type { Era } from './revisions.ts'

/** What the grammar says about one key of `_meta`. */
export type ParsedMetaKey =
  | { readonly valid: false }
  | {
      readonly valid: true
      /** Whether MCP reserves the prefix, or the name where there is no prefix, in that era. */
      readonly reserved: boolean
    }

const labelPattern = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const namePattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/
const reservedLabels: readonly string[] = ['modelcontextprotocol', 'mcp']
const reservedNames: Record<Era, readonly string[]> = {
  modern: ['progressToken', 'traceparent', 'tracestate', 'baggage'],
  legacy: ['progressToken'],
}

/**
 * Reads a key by the grammar of `_meta` and of extension identifiers: an optional prefix of dot-separated labels with one
 * slash, then a name (MC-META-01, -02, -05, LG-META-01). For what we author; inbound keys are never refused for their form.
 */
export function parseMetaKey(key: string, era: Era): ParsedMetaKey {
  const slash = key.indexOf('/')
  const name = key.slice(slash + 1)
  if (!namePattern.test(name)) return { valid: false }
  if (slash === -1) return { valid: true, reserved: reservedNames[era].includes(name) }
  const labels = key.slice(0, slash).split('.')
  if (!labels.every((label) => labelPattern.test(label))) return { valid: false }
  // modern: the second label decides (MC-META-04); legacy: any label that another one follows (LG-META-02)
  const deciding = era === 'modern' ? labels.slice(1, 2) : labels.slice(0, -1)
  return { valid: true, reserved: deciding.some((label) => reservedLabels.includes(label)) }
}

/** Whether a text can name an extension: a valid key with a prefix (MC-EXT-01). */
export function isExtensionId(key: string): boolean {
  return key.includes('/') && parseMetaKey(key, 'modern').valid
}
