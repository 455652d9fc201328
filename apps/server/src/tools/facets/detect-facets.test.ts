import { AppBskyRichtextFacet, RichText } from '@atproto/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectFacets, type Span } from './detect-facets.ts'

/** What the official client finds, in our shape. It leaves the handle of a mention in `did`, to be resolved later. */
function official(text: string): Span[] {
  const richText = new RichText({ text })
  richText.detectFacetsWithoutResolution()
  return (richText.facets ?? []).flatMap(({ index, features }) =>
    features.map((feature): Span => {
      const place = { byteStart: index.byteStart, byteEnd: index.byteEnd }
      if (AppBskyRichtextFacet.isMention(feature)) return { ...place, kind: 'mention', handle: feature.did }
      if (AppBskyRichtextFacet.isLink(feature)) return { ...place, kind: 'link', uri: feature.uri }
      if (AppBskyRichtextFacet.isTag(feature)) return { ...place, kind: 'tag', tag: feature.tag }
      throw new Error(`unexpected feature ${feature.$type}`)
    }),
  )
}

/** The finds with the text that they cover, which is how a person would check them. */
function shown(text: string): string[] {
  const bytes = Buffer.from(text)
  return detectFacets(text).map((span) => {
    const covered = bytes.subarray(span.byteStart, span.byteEnd).toString()
    const value = span.kind === 'mention' ? span.handle : span.kind === 'link' ? span.uri : span.tag
    return `${span.kind} ${covered} → ${value}`
  })
}

describe('facets', () => {
  test.each([
    ['nothing here', []],
    ['', []],
    ['hi @alice.bsky.social!', ['mention @alice.bsky.social → alice.bsky.social']],
    ['@a.test.', ['mention @a.test → a.test']],
    ['👨‍👩‍👧‍👧 @handle.com 読む', ['mention @handle.com → handle.com']],
    ['mail me@example.com', []],
    ['see (https://example.com/a_(b)) now', ['link https://example.com/a_(b)) → https://example.com/a_(b))']],
    ['go to example.com/é, please', ['link example.com/é → https://example.com/é']],
    ['picture.jpg and e.g. this', []],
    ['#one #two', ['tag #one → one', 'tag #two → two']],
    ['#a#b', ['tag #a#b → a#b']],
    ['＃日本語。', ['tag ＃日本語 → 日本語']],
    ['#1 #️⃣ # #!', []],
    ['buy $aapl, ($goog)', ['tag $aapl → $AAPL', 'tag $goog → $GOOG']],
    ['[a](https://example.com)', ['link https://example.com → https://example.com']],
    [`#${'x'.repeat(64)} #${'y'.repeat(65)}`, [`tag #${'x'.repeat(64)} → ${'x'.repeat(64)}`]],
    [`#${'👍🏽'.repeat(64)}`, [`tag #${'👍🏽'.repeat(64)} → ${'👍🏽'.repeat(64)}`]],
  ])('in %j', (text, finds) => {
    expect(shown(text)).toEqual(finds)
    expect(detectFacets(text)).toEqual(official(text))
  })

  test('the official client finds the same in any text of such words', () => {
    const word = fc.oneof(
      fc.constantFrom('@alice.bsky.social', '@bob.test', '(@eve.com)', '@nobody', '@a-b.example.org,', 'x@example.com'),
      fc.constantFrom('https://example.com', 'http://a.b/c?d=e#f', 'example.com/path_(x)', 'sub.example.org.', 'a.jpg'),
      fc.constantFrom(
        '#tag',
        '#tag!',
        '#',
        '##',
        '#1',
        '#1a',
        '#a#b',
        '＃全角',
        '#🦋',
        '#it’s',
        '#\u200bx',
        '#a\u200bb',
      ),
      fc.constantFrom('$AAPL', '$aapl.', '$TOOLONG', '$1', '($BTC)', '$A1'),
      fc.string({ unit: 'grapheme', maxLength: 6 }).filter((text) => !/[@.#＃$(]/.test(text)),
    )
    const space = fc.constantFrom(' ', '\n', '  ', '\t', '\u3000', '\u00a0')
    const text = fc.array(fc.tuple(word, space)).map((pairs) => pairs.flat().join(''))
    fc.assert(
      fc.property(text, (sample) => {
        expect(detectFacets(sample)).toEqual(official(sample))
      }),
      { numRuns: 500 },
    )
  })

  test('spans are in order, never overlap, and cut no character', () => {
    const text = fc
      .array(
        fc.constantFrom(
          '@',
          '#',
          '$',
          '＃',
          '(',
          ')',
          '.',
          ' ',
          '\n',
          ':',
          '/',
          'a',
          '1',
          'é',
          '日',
          '😀',
          'https://',
          'example.com',
          '@b.org',
          '\u200d',
        ),
      )
      .map((all) => all.join(''))
    fc.assert(
      fc.property(text, (sample) => {
        const bytes = Buffer.from(sample)
        let end = 0
        for (const span of detectFacets(sample)) {
          expect(span.byteStart).toBeGreaterThanOrEqual(end)
          expect(span.byteEnd).toBeGreaterThan(span.byteStart)
          expect(bytes.subarray(span.byteStart, span.byteEnd).toString()).not.toContain('\ufffd')
          end = span.byteEnd
        }
        expect(end).toBeLessThanOrEqual(bytes.length)
      }),
    )
  })
})

describe('where the official client is not followed', () => {
  test.each([
    ['a host beginning with http keeps its scheme', 'httpbin.org', ['link httpbin.org → https://httpbin.org']],
    [
      'schemes and hosts in upper case',
      'HTTPS://A.EXAMPLE.COM Example.COM',
      ['link HTTPS://A.EXAMPLE.COM → HTTPS://A.EXAMPLE.COM', 'link Example.COM → https://Example.COM'],
    ],
    [
      'all punctuation at the end is left out',
      '(see https://example.com)...',
      ['link https://example.com → https://example.com'],
    ],
    ['a scheme alone is no link', 'https:// and http://?', []],
    ['names that no handle can have', '@a..com @-a.com', []],
    [
      'a mention inside a link stays part of it',
      'https://example.com/(@a.com',
      ['link https://example.com/(@a.com → https://example.com/(@a.com'],
    ],
    [
      'a tag of more than 640 bytes',
      `#${'\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'.repeat(40)}`,
      [],
    ],
  ])('%s', (_name, text, finds) => {
    expect(shown(text)).toEqual(finds)
  })
})

describe('hostile text', () => {
  test('D19: half of a surrogate pair is refused, with its place', () => {
    expect(() => detectFacets('ab\ud83d')).toThrow('at character 2')
    expect(() => detectFacets('\ude00')).toThrow('at character 0')
  })

  // Patterns that backtrack would need hours for these, far beyond the time limit of a test.
  test.each([
    ['at signs', '@'.repeat(400_000), 0],
    ['punctuation inside a tag', `#${'!'.repeat(400_000)}a${'!'.repeat(400_000)}a`, 0],
    ['digits', `#${'1'.repeat(400_000)}`, 0],
    ['parentheses', '('.repeat(400_000), 0],
    ['unfinished mentions', '(@a.'.repeat(100_000), 0],
    ['labels', `a${'.a'.repeat(200_000)}`, 0],
    ['parentheses at the end of a link', `https://a.com${')'.repeat(400_000)}`, 1],
    ['a long word before a link', `(${'a'.repeat(400_000)}(a.com`, 1],
    ['number signs', '#'.repeat(400_000), 0],
    ['a long ticker', `$${'A'.repeat(400_000)}`, 0],
    ['hyphens', `@${'a-'.repeat(200_000)}`, 0],
    ['joiners', '\u200d'.repeat(400_000), 0],
    ['many tags', '#a '.repeat(100_000), 100_000],
  ])('is read in one pass: %s', (_name, text, count) => {
    expect(detectFacets(text)).toHaveLength(count)
  })
})
