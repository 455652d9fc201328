import { detectFacets, type Span } from './detect-facets.ts'

/** UTF-8 byte positions in a text, the end exclusive (`app.bsky.richtext.facet#byteSlice`). */
interface ByteSlice {
  readonly byteStart: number
  readonly byteEnd: number
}

/** A facet as a record holds it (`app.bsky.richtext.facet`). */
interface Facet {
  readonly index: ByteSlice
  readonly features: readonly [
    | { readonly $type: 'app.bsky.richtext.facet#mention'; readonly did: string }
    | { readonly $type: 'app.bsky.richtext.facet#link'; readonly uri: string }
    | { readonly $type: 'app.bsky.richtext.facet#tag'; readonly tag: string },
  ]
}

/** A mention whose account is not known: a record needs the DID of the handle before it can hold a facet for it. */
interface UnresolvedMention {
  readonly handle: string
  readonly index: ByteSlice
  /** Why its DID is not known, if it was looked up. */
  readonly problem?: string | undefined
}

export interface ParsedFacets {
  readonly facets: readonly Facet[]
  readonly mentions: readonly UnresolvedMention[]
  /** How many finds were left out because there were more than `facetLimits` allow. */
  readonly omitted: number
}

/** How much is taken of one text; mentions count first, then links, then tags. */
export const facetLimits = { mention: 5, link: 5, tag: 5, all: 10 } as const

/** Facets of a text, in its order. Throws a `TextError` for text that no record can hold. */
export function parseFacets(text: string): ParsedFacets {
  const found = detectFacets(text)
  const kept = withinLimits(found)
  const facets: Facet[] = []
  const mentions: UnresolvedMention[] = []
  for (const span of found) {
    if (!kept.has(span)) continue
    const index = { byteStart: span.byteStart, byteEnd: span.byteEnd }
    if (span.kind === 'mention') mentions.push({ handle: span.handle, index })
    else if (span.kind === 'link') {
      facets.push({ index, features: [{ $type: 'app.bsky.richtext.facet#link', uri: span.uri }] })
    } else {
      facets.push({ index, features: [{ $type: 'app.bsky.richtext.facet#tag', tag: span.tag }] })
    }
  }
  return { facets, mentions, omitted: found.length - kept.size }
}

function withinLimits(found: readonly Span[]): ReadonlySet<Span> {
  const kept = (['mention', 'link', 'tag'] as const).flatMap((kind) =>
    found.filter((span) => span.kind === kind).slice(0, facetLimits[kind]),
  )
  return new Set(kept.slice(0, facetLimits.all))
}
