import { isDomain } from './domains.ts'

/** Something in a text that Bluesky would show as a link. Positions are UTF-8 bytes, the end exclusive. */
export type Span = { readonly byteStart: number; readonly byteEnd: number } & SpanKind

type SpanKind =
  | { readonly kind: 'mention'; readonly handle: string }
  | { readonly kind: 'link'; readonly uri: string }
  | { readonly kind: 'tag'; readonly tag: string }

/** Text that no record could hold. */
export class TextError extends Error {
  override readonly name = 'TextError'
}

/** Most graphemes and UTF-8 bytes of a tag (lexicon `app.bsky.richtext.facet#tag`). */
const longestTag = { graphemes: 64, bytes: 640 }

/**
 * Finds mentions, links and tags as the official client does, in the order of the text and without overlaps. One pass; the
 * time is linear in the length of the text whatever it holds. Throws a `TextError` for half of a surrogate pair.
 */
export function detectFacets(text: string): Span[] {
  const bad = text.search(/\p{Surrogate}/u)
  if (bad >= 0)
    throw new TextError(`the text holds half of a surrogate pair at character ${bad}; send whole characters`)
  const spans: Span[] = []
  const measure = new ByteMeasure(text)
  for (const token of text.matchAll(/\S+/gu)) {
    for (const found of inToken(token[0])) {
      const byteStart = measure.at(token.index + found.start)
      const byteEnd = measure.at(token.index + found.end)
      spans.push({ byteStart, byteEnd, ...found.what })
    }
  }
  return spans
}

/** A find inside one token; positions are UTF-16 units from its start. */
interface Find {
  readonly start: number
  readonly end: number
  readonly what: SpanKind
}

/** Tags and cashtags begin a token; everything but tags may also follow an opening parenthesis. */
function* inToken(token: string): Generator<Find> {
  const tag = tagAt(token)
  if (tag) {
    yield tag
    return
  }
  let start = 0
  while (start < token.length) {
    const found = linkAt(token, start) ?? mentionAt(token, start) ?? cashtagAt(token, start)
    if (found) yield found
    // A link takes the rest of its token; anything else may be followed by "(" and more.
    if (found?.what.kind === 'link') return
    const bracket = token.indexOf('(', start)
    if (bracket < 0) return
    start = bracket + 1
  }
}

function mentionAt(token: string, start: number): Find | undefined {
  if (token[start] !== '@') return undefined
  const name = matchAt(/[a-z0-9.-]+/iy, token, start + 1)
  if (name === undefined) return undefined
  // A full stop or hyphen after the name belongs to the sentence.
  const handle = name.slice(
    0,
    trimmedEnd(name, (char) => char === '.' || char === '-'),
  )
  if (!isDomain(handle, { allowTest: true })) return undefined
  return { start, end: start + 1 + handle.length, what: { kind: 'mention', handle } }
}

function linkAt(token: string, start: number): Find | undefined {
  const scheme = matchAt(/https?:\/\//iy, token, start)
  const domain = scheme === undefined ? matchAt(/[a-z][a-z0-9]*(?:\.[a-z0-9]+)+/iy, token, start) : undefined
  if (scheme === undefined && (domain === undefined || !isDomain(domain))) return undefined
  const shown = withoutTrailingPunctuation(token.slice(start))
  const uri = scheme === undefined ? `https://${shown}` : shown
  if (!URL.canParse(uri)) return undefined
  return { start, end: start + shown.length, what: { kind: 'link', uri } }
}

/** What ends a sentence does not belong to the address, nor does a closing parenthesis that nothing in it opened. */
function withoutTrailingPunctuation(address: string): string {
  const opened = address.includes('(')
  return address.slice(
    0,
    trimmedEnd(address, (char) => '.,;:!?'.includes(char) || (char === ')' && !opened)),
  )
}

/** Characters without width, which end a tag. */
const invisible = '\\u00AD\\u2060\\u200A\\u200B\\u200C\\u200D\\u20e2'
const tagPattern = new RegExp(`[^${invisible}]+`, 'uy')
const meaningful = new RegExp(`[^\\d\\p{P}${invisible}]`, 'u')

function tagAt(token: string): Find | undefined {
  if (token[0] !== '#' && token[0] !== '＃') return undefined
  const whole = matchAt(tagPattern, token, 1)
  // `#` and the variation selector are the key cap emoji.
  if (whole === undefined || whole.startsWith('\ufe0f') || !meaningful.test(whole)) return undefined
  const tag = whole.slice(0, trimmedEnd(whole, isPunctuation))
  if (isTooLong(tag)) return undefined
  return { start: 0, end: 1 + tag.length, what: { kind: 'tag', tag } }
}

function cashtagAt(token: string, start: number): Find | undefined {
  const ticker = matchAt(/\$[a-z][a-z0-9]{0,4}(?=$|[.,;:!?)"'\u2019])/iy, token, start)
  if (ticker === undefined) return undefined
  return { start, end: start + ticker.length, what: { kind: 'tag', tag: ticker.toUpperCase() } }
}

let segmenter: Intl.Segmenter | undefined

function isTooLong(tag: string): boolean {
  if (tag.length <= longestTag.graphemes) return false
  if (Buffer.byteLength(tag) > longestTag.bytes) return true
  segmenter ??= new Intl.Segmenter()
  let graphemes = 0
  for (const _ of segmenter.segment(tag)) graphemes += 1
  return graphemes > longestTag.graphemes
}

function isPunctuation(char: string): boolean {
  return /^\p{P}$/u.test(char)
}

/** Where a text ends without the characters at its end that fit. From the end, so that long runs in its middle cost nothing. */
function trimmedEnd(text: string, fits: (char: string) => boolean): number {
  let end = text.length
  while (end > 0) {
    const isPair =
      end > 1 && /^[\uD800-\uDBFF]$/.test(text.charAt(end - 2)) && /^[\uDC00-\uDFFF]$/.test(text.charAt(end - 1))
    const char = text.slice(end - (isPair ? 2 : 1), end)
    if (!fits(char)) return end
    end -= char.length
  }
  return end
}

/** What a sticky pattern finds exactly here. */
function matchAt(pattern: RegExp, text: string, position: number): string | undefined {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0]
}

/** UTF-8 positions of growing UTF-16 positions of one text; each character is measured once. */
class ByteMeasure {
  readonly #text: string
  #position = 0
  #bytes = 0

  constructor(text: string) {
    this.#text = text
  }

  at(position: number): number {
    this.#bytes += Buffer.byteLength(this.#text.slice(this.#position, position))
    this.#position = position
    return this.#bytes
  }
}
