import topLevelDomains from 'tlds' with { type: 'json' }

const known = new Set(topLevelDomains)

/**
 * Whether this reads as the name of a public host: two or more labels of ASCII letters, digits and inner hyphens, the last
 * one a top-level domain that exists. `test` counts where `allowTest` says so; it is the domain of made-up handles.
 */
export function isDomain(name: string, { allowTest = false }: { readonly allowTest?: boolean } = {}): boolean {
  if (name.length > 253) return false
  const labels = name.toLowerCase().split('.')
  const last = labels.at(-1) ?? ''
  if (labels.length < 2 || !(known.has(last) || (allowTest && last === 'test'))) return false
  return labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
}
