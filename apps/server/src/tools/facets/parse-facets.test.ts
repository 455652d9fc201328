import { describe, expect, test } from 'vitest'
import { facetLimits, parseFacets } from './parse-facets.ts'

describe('facets for a record', () => {
  test('links and tags are ready to be stored; a mention has its handle and no DID', () => {
    expect(parseFacets('Ça va @alice.test? #oui example.org')).toEqual({
      facets: [
        {
          index: { byteStart: 20, byteEnd: 24 },
          features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'oui' }],
        },
        {
          index: { byteStart: 25, byteEnd: 36 },
          features: [{ $type: 'app.bsky.richtext.facet#link', uri: 'https://example.org' }],
        },
      ],
      mentions: [{ handle: 'alice.test', index: { byteStart: 7, byteEnd: 18 } }],
      omitted: 0,
    })
  })

  test('what goes beyond the limit of its kind is counted, not dropped in silence', () => {
    const parsed = parseFacets('#a '.repeat(9))
    expect(parsed.facets).toHaveLength(facetLimits.tag)
    expect(parsed.omitted).toBe(4)
  })

  test('mentions are kept first, then links, then tags', () => {
    const parsed = parseFacets(`${'#a '.repeat(5)}${'a.com '.repeat(4)}${'@b.test '.repeat(5)}`)
    expect(parsed.mentions).toHaveLength(5)
    expect(parsed.facets.map(({ features }) => features[0].$type)).toEqual([
      'app.bsky.richtext.facet#tag',
      ...Array<string>(4).fill('app.bsky.richtext.facet#link'),
    ])
    expect(parsed.omitted).toBe(4)
  })
})
