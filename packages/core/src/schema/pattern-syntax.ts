/** The structure of a regular expression. What one character may be is left to the engine: `char` keeps its source. */
export type PatternNode =
  | { readonly kind: 'char'; readonly source: string }
  | { readonly kind: 'assert'; readonly source: '^' | '$' | '\\b' | '\\B' }
  | { readonly kind: 'seq'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'alt'; readonly branches: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly negate: boolean }
  /** What only a backtracking matcher can decide. */
  | { readonly kind: 'opaque'; readonly what: string; readonly body: PatternNode }

const nothing: PatternNode = { kind: 'seq', items: [] }

/** How a group opens, longest first. */
const groupOpening = /\((?:\?(?:<([=!])|([=!])|<[^>]*>|([a-z-]*):))?/y
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y
/** An escape up to its end; two escaped halves of a surrogate pair are one character in Unicode mode. */
const unicodeEscape =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[^])/uy
const plainEscape = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|0[0-7]{0,2}|[^])/y
const backreference = /\\(?:[1-9]\d*|k<[^>]*>)/y

/** Reads a pattern that `RegExp` has accepted with the same flags. */
export function parsePattern(source: string, flags: 'u' | ''): PatternNode {
  let at = 0

  const take = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at
    const match = expression.exec(source)
    if (match !== null) at += match[0].length
    return match
  }

  const alternatives = (): PatternNode => {
    const branches = [sequence()]
    while (source[at] === '|') {
      at++
      branches.push(sequence())
    }
    return branches.length === 1 ? (branches[0] ?? nothing) : { kind: 'alt', branches }
  }

  const sequence = (): PatternNode => {
    const items: PatternNode[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') items.push(quantified(term()))
    return items.length === 1 ? (items[0] ?? nothing) : { kind: 'seq', items }
  }

  const quantified = (body: PatternNode): PatternNode => {
    const match = take(quantifier)
    if (match === null) return body
    const [, sign, from, comma, to] = match
    if (sign !== undefined) return { kind: 'repeat', body, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    const min = Number(from)
    return { kind: 'repeat', body, min, max: comma === undefined ? min : to ? Number(to) : Infinity }
  }

  const term = (): PatternNode => {
    const next = source[at]
    if (next === '(') return group()
    if (next === '^' || next === '$') {
      at++
      return { kind: 'assert', source: next }
    }
    if (next === '[') return { kind: 'char', source: characterClass() }
    if (next === '\\') return escape()
    const character = flags === 'u' ? String.fromCodePoint(source.codePointAt(at) ?? 0) : (next ?? '')
    at += character.length
    // A bracket or brace that opens nothing stands for itself where the engine lets it.
    return { kind: 'char', source: /[\]{}]/.test(character) ? `\\${character}` : character }
  }

  const group = (): PatternNode => {
    const [, behind, ahead, modifiers] = take(groupOpening) ?? []
    const body = alternatives()
    at++
    if (behind !== undefined) return { kind: 'opaque', what: 'a lookbehind', body }
    if (ahead !== undefined) return { kind: 'look', body, negate: ahead === '!' }
    return modifiers ? { kind: 'opaque', what: 'flags inside of a group', body } : body
  }

  const escape = (): PatternNode => {
    if (take(backreference) !== null) return { kind: 'opaque', what: 'a backreference', body: nothing }
    const text = take(flags === 'u' ? unicodeEscape : plainEscape)?.[0] ?? ''
    if (text === '\\b' || text === '\\B') return { kind: 'assert', source: text }
    return { kind: 'char', source: text }
  }

  const characterClass = (): string => {
    const start = at
    for (at++; source[at] !== ']'; at++) if (source[at] === '\\') at++
    at++
    return source.slice(start, at)
  }

  return alternatives()
}

/** What the shape of a pattern says about the time that a backtracking matcher may need. */
export interface PatternShape {
  /** Repetition inside of repetition, or a choice inside of one: time may grow exponentially. */
  readonly nested: boolean
  /** Otherwise the time grows with the length of the text to at most this power. */
  readonly degree: number
  /** The first part that only a backtracking matcher can decide. */
  readonly opaque: string | undefined
}

/** Judges a pattern without looking at which characters its parts take, so it errs on the side of caution. */
export function shapeOf(root: PatternNode): PatternShape {
  let nested = false
  let repeats = 0
  let opaque: string | undefined
  const visit = (node: PatternNode, repeated: boolean): void => {
    switch (node.kind) {
      case 'char':
      case 'assert':
        return
      case 'seq':
        for (const item of node.items) visit(item, repeated)
        return
      case 'alt':
        if (repeated) nested = true
        for (const branch of node.branches) visit(branch, repeated)
        return
      case 'look':
        visit(node.body, repeated)
        return
      case 'opaque':
        opaque ??= node.what
        visit(node.body, repeated)
        return
      case 'repeat': {
        const varies = node.max !== node.min
        if (repeated && varies) nested = true
        if (varies && node.max > 1) repeats++
        visit(node.body, repeated || node.max > 1)
        return
      }
    }
  }
  visit(root, false)
  const first = root.kind === 'seq' ? root.items[0] : root
  const anchored = first?.kind === 'assert' && first.source === '^'
  return { nested, degree: Math.max(1, repeats + (anchored ? 0 : 1)), opaque }
}
