import { type AllowList, createAllowList } from '@atenea/mcpcompat'
import type { Offer } from '../lists/offer.ts'

/** What a backend is known to offer of resources. */
export interface UriOffers {
  readonly backend: string
  readonly resources: Offer
  readonly templates: Offer
}

/**
 * Backends that a uri can belong to, the likeliest first: those that list it, else those with a template that it fits, of which the one
 * with more fixed characters is likelier; where that is the same, in the order of the configuration.
 */
export function ownersOfUri(uri: string, offers: readonly UriOffers[]): readonly string[] {
  const listing = offers.filter(({ resources }) => resources.byName.has(uri))
  if (listing.length > 0) return listing.map(({ backend }) => backend)
  return offers
    .map(({ backend, templates }) => ({ backend, fixed: bestFit(uri, templates) }))
    .filter(({ fixed }) => fixed >= 0)
    .sort((a, b) => b.fixed - a.fixed)
    .map(({ backend }) => backend)
}

/** Backends that have exactly this template. */
export function ownersOfTemplate(template: string, offers: readonly UriOffers[]): readonly string[] {
  return offers.filter(({ templates }) => templates.byName.has(template)).map(({ backend }) => backend)
}

/** Fixed characters of the template that a uri fits best; -1 when it fits none. */
function bestFit(uri: string, templates: Offer): number {
  let best = -1
  for (const { own } of templates.items) {
    const { glob, fixed } = patternOf(own)
    if (fixed > best && glob.allows(uri)) best = fixed
  }
  return best
}

interface Pattern {
  readonly glob: AllowList
  readonly fixed: number
}

const patterns = new Map<string, Pattern>()
const maxPatterns = 1_000

/**
 * A template read as a glob: each expression stands for any characters, its operator and variables as they may be. Who serves the uri
 * decides what they mean; here it only matters who could.
 */
function patternOf(template: string): Pattern {
  const known = patterns.get(template)
  if (known !== undefined) return known
  const pieces = template.split(/\{[^{}]*\}/)
  const glob = pieces.map((piece) => piece.replace(/[*?\\]/g, '\\$&')).join('*')
  const pattern = { glob: createAllowList({ allow: [glob] }), fixed: pieces.join('').length }
  if (patterns.size >= maxPatterns) patterns.clear()
  patterns.set(template, pattern)
  return pattern
}
