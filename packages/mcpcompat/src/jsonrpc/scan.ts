/**
 * Finding one's way in JSON text without parsing it. Everything here is linear in the length of the text, keeps its own stack
 * instead of recursing, and accepts exactly the texts that `JSON.parse` accepts. Anything else is a `SyntaxError` that names
 * the position and quotes nothing, since texts hold secrets and errors are logged.
 */

/** Where the value of a member, or an element, stands in its source text: `start` is its first character, `end` is after its last. */
export interface MemberSpan {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

// Sticky expressions find the end of a run about three times as fast as a loop over `charCodeAt`. Each is one plain sequence,
// so that none can backtrack.
// oxlint-disable-next-line no-control-regex -- they are what a JSON string must not hold
const plainCharacters = /[^"\\\u0000-\u001f]*/y
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y
const numeral = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]+)?/y

/**
 * The top-level members of an object in source text, in their order and as often as they are there. Lists of plain values, since one is
 * made for every message that is relayed.
 */
export interface MemberTable {
  /** Decoded. */
  readonly keys: readonly string[]
  /** For each member three positions: of its key, of its value, and after its value. */
  readonly places: readonly number[]
}

/** Finds the top-level members of a JSON object without parsing their values. */
export function scanMembers(text: string): MemberTable {
  const cursor = new MemberCursor(text)
  const table = readTable(cursor, 0)
  expectEnd(text, cursor.end)
  return table
}

/** The members that a cursor has before it; places count from `base`. */
function readTable(cursor: MemberCursor, base: number): MemberTable {
  const keys: string[] = []
  const places: number[] = []
  while (cursor.next()) {
    keys.push(cursor.key)
    places.push(cursor.keyStart - base, cursor.start - base, cursor.end - base)
  }
  return { keys, places }
}

/** Finds the elements of a JSON array without parsing them. */
export function scanElements(text: string): readonly MemberSpan[] {
  const spans: MemberSpan[] = []
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== openBracket) throw syntaxErrorAt(text, at)
  at = skipSpace(text, at + 1)
  if (text.charCodeAt(at) !== closeBracket) {
    for (;;) {
      const end = skipValue(text, at)
      spans.push({ start: at, end })
      at = skipSpace(text, end)
      if (text.charCodeAt(at) === closeBracket) break
      if (text.charCodeAt(at) !== comma) throw syntaxErrorAt(text, at)
      at = skipSpace(text, at + 1)
    }
  }
  expectEnd(text, at + 1)
  return spans
}

/** Walks over the members of the object that starts at `at` (or after white space there). */
export class MemberCursor {
  /** The key of the current member, its escapes decoded. */
  key = ''
  /** Where the key of the current member starts, with its quote. */
  keyStart = 0
  /** Where the value of the current member starts. */
  start = 0
  /** After the value of the current member; after the closing brace when `next` has returned false. */
  end: number
  readonly #text: string
  #first = true

  constructor(text: string, at = 0) {
    this.#text = text
    this.end = skipSpace(text, at)
    if (text.charCodeAt(this.end) !== openBrace) throw syntaxErrorAt(text, this.end)
  }

  /** Begins behind a member that was read already: `at` is after its value, where a comma stands. */
  startAfter(at: number): void {
    this.#first = false
    this.end = at
  }

  /** Goes to the next member. False at the end of the object. */
  next(): boolean {
    if (!this.nextKey()) return false
    this.end = skipValue(this.#text, this.start)
    return true
  }

  /** Goes to the value of the next member and leaves it to the caller to set `end`. False at the end of the object. */
  nextKey(): boolean {
    const text = this.#text
    let at = skipSpace(text, this.#first ? this.end + 1 : this.end)
    const code = text.charCodeAt(at)
    if (code === closeBrace) {
      this.end = at + 1
      return false
    }
    if (this.#first) {
      this.#first = false
    } else {
      if (code !== comma) throw syntaxErrorAt(text, at)
      at = skipSpace(text, at + 1)
    }
    this.keyStart = at
    const keyEnd = skipString(text, at)
    const key = text.slice(at + 1, keyEnd - 1)
    this.key = key.includes('\\') ? (JSON.parse(text.slice(at, keyEnd)) as string) : key
    this.start = skipColon(text, keyEnd)
    return true
  }
}

/** The same as `text.startsWith(part, at)`, which the engine does character by character; it compares whole strings by words. */
export function standsAt(text: string, part: string, at: number): boolean {
  return text.slice(at, at + part.length) === part
}

/** Throws unless nothing but white space follows. */
export function expectEnd(text: string, at: number): void {
  const end = skipSpace(text, at)
  if (end !== text.length) throw syntaxErrorAt(text, end)
}

/** The position of the next character that is not JSON white space. */
export function skipSpace(text: string, at: number): number {
  // To look behind the end would make every look at a text slower from then on.
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // Programs write no space, so this is how it nearly always ends.
    if (code > 0x20) return at
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
  }
  return at
}

const bitLevels = 30

/** The end of the value that starts exactly at `at`. */
export function skipValue(text: string, at: number): number {
  // The first 30 levels fit into the bits of a number, which costs nothing; a list costs more than most values are long.
  let outer = 0
  let depth = 0
  let deeper: number[] | undefined
  let closer = 0 // the character that ends the innermost open object or array; 0 when none is open
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === openBrace || code === openBracket) {
      if (depth < bitLevels) outer = (outer << 1) | (closer === closeBrace ? 1 : 0)
      else if (deeper === undefined) deeper = [closer]
      else deeper.push(closer)
      depth++
      closer = code + 2 // both closing characters stand two behind their opening ones
      at = skipSpace(text, at + 1)
      if (text.charCodeAt(at) !== closer) {
        if (closer === closeBrace) at = skipColon(text, skipString(text, at))
        continue
      }
    } else {
      at = skipScalar(text, at, code)
    }
    while (closer !== 0) {
      at = skipSpace(text, at)
      if (text.charCodeAt(at) !== closer) break
      at++
      depth--
      if (depth === 0) return at
      if (depth >= bitLevels) {
        closer = deeper?.pop() ?? 0
      } else {
        closer = (outer & 1) === 1 ? closeBrace : closeBracket
        outer >>>= 1
      }
    }
    if (closer === 0) return at
    if (text.charCodeAt(at) !== comma) throw syntaxErrorAt(text, at)
    at = skipSpace(text, at + 1)
    if (closer === closeBrace) at = skipColon(text, skipString(text, at))
  }
}

function skipScalar(text: string, at: number, code: number): number {
  if (code === quote) return skipString(text, at)
  if (code === 0x74 /* t */) return skipWord(text, at, 'true')
  if (code === 0x66 /* f */) return skipWord(text, at, 'false')
  if (code === 0x6e /* n */) return skipWord(text, at, 'null')
  numeral.lastIndex = at
  if (!numeral.test(text)) throw syntaxErrorAt(text, at)
  return numeral.lastIndex
}

function skipWord(text: string, at: number, word: string): number {
  if (!text.startsWith(word, at)) throw syntaxErrorAt(text, at)
  return at + word.length
}

const shortString = 16

function skipString(text: string, at: number): number {
  if (text.charCodeAt(at) !== quote) throw syntaxErrorAt(text, at)
  at++
  // Most strings are short, and for them a loop is faster than to begin with an expression.
  for (const short = at + shortString; at < short; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (code === backslash || !(code >= 0x20)) break
  }
  for (;;) {
    plainCharacters.lastIndex = at
    plainCharacters.test(text)
    at = plainCharacters.lastIndex
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    escapeSequence.lastIndex = at
    if (code !== backslash || !escapeSequence.test(text)) throw syntaxErrorAt(text, at)
    at = escapeSequence.lastIndex
  }
}

/** From the end of a key over the colon to the start of its value. */
function skipColon(text: string, at: number): number {
  at = skipSpace(text, at)
  if (text.charCodeAt(at) !== colon) throw syntaxErrorAt(text, at)
  return skipSpace(text, at + 1)
}

function syntaxErrorAt(text: string, at: number): SyntaxError {
  return new SyntaxError(`unexpected ${at >= text.length ? 'end of' : 'character in'} JSON text at position ${at}`)
}
