/** Values that a URI gives to the variables of a template. A variable with `*` gets a list. */
export type TemplateVariables = Readonly<Record<string, string | readonly string[]>>

/** A URI template that is read backwards: from a URI to the values of its variables. */
export interface UriTemplate {
  readonly source: string
  /** Names of the variables in the order of the template. */
  readonly names: readonly string[]
  /**
   * The values, percent-decoded; `undefined` when the URI is none of this template. A variable gets at least one character, and of
   * several ways to read a URI the one in which earlier variables are shorter. Takes time linear in the URI.
   */
  match(uri: string): TemplateVariables | undefined
}

type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** A run of characters, none of which is in `stops`. */
  | { readonly kind: 'value'; readonly name: string; readonly stops: string; readonly list: string | undefined }
  /** `?a=1&b=2` as a whole, in any order; each name at most once, all of them optional. */
  | { readonly kind: 'query'; readonly first: '?' | '&'; readonly names: readonly string[] }

interface Operator {
  /** What stands before the first value. */
  readonly first: string
  /** What stands between values. */
  readonly separator: string
  /** Characters that no value holds as they are. */
  readonly stops: string
}

/** The operators of RFC 6570 whose values can be told apart again. */
const operators: Readonly<Record<string, Operator>> = {
  '': { first: '', separator: ',', stops: '/?#' },
  '+': { first: '', separator: ',', stops: '?#' },
  '#': { first: '#', separator: ',', stops: '' },
  '.': { first: '.', separator: '.', stops: '/?#.' },
  '/': { first: '/', separator: '/', stops: '/?#' },
}

const expression = /^([+#./;?&]?)((?:[A-Za-z0-9_%.]+(?:\*|:\d+)?)(?:,[A-Za-z0-9_%.]+(?:\*|:\d+)?)*)$/

/**
 * Reads a template of RFC 6570: `{a}`, `{+a}`, `{#a}`, `{.a}`, `{/a}`, `{?a,b}`, `{&a,b}`, several names in one expression, and
 * `{/a*}`. A `SyntaxError` for what is no template, or cannot be read backwards.
 */
export function parseUriTemplate(source: string): UriTemplate {
  const parts: Part[] = []
  const names: string[] = []
  for (const [index, piece] of source.split(/\{([^{}]*)\}/).entries()) {
    if (index % 2 === 0) {
      if (/[{}]/.test(piece)) throw new SyntaxError('a brace is open or closed alone')
      if (piece !== '') parts.push({ kind: 'text', text: piece })
      continue
    }
    const [, sign = '', list = ''] = expression.exec(piece) ?? []
    if (list === '') throw new SyntaxError(`{${piece}} is no expression`)
    const variables = list.split(',')
    for (const variable of variables) {
      const name = variable.replace(/\*$/, '')
      if (variable.includes(':')) throw new SyntaxError(`{${piece}}: a prefix (:n) cannot be read backwards`)
      if (names.includes(name)) throw new SyntaxError(`the variable ${name} is there twice`)
      names.push(name)
    }
    parts.push(...expressionParts(piece, sign, variables))
  }
  return { source, names, match: (uri) => matchParts(parts, uri) }
}

function expressionParts(piece: string, sign: string, variables: readonly string[]): Part[] {
  if (sign === '?' || sign === '&') {
    if (variables.some((variable) => variable.endsWith('*')))
      throw new SyntaxError(`{${piece}}: a query cannot be exploded`)
    return [{ kind: 'query', first: sign, names: variables }]
  }
  const operator = operators[sign]
  if (operator === undefined) throw new SyntaxError(`{${piece}}: the operator ${sign} is not supported`)
  const { first, separator } = operator
  // A value may hold the separator only where no other value follows it.
  const stops = variables.length > 1 ? operator.stops + separator : operator.stops
  return variables.flatMap((variable, index): Part[] => {
    const text = index === 0 ? first : separator
    const isList = variable.endsWith('*')
    const value: Part = {
      kind: 'value',
      name: isList ? variable.slice(0, -1) : variable,
      stops: isList ? stops.replaceAll(separator, '') : stops,
      list: isList ? separator : undefined,
    }
    return text === '' ? [value] : [{ kind: 'text', text }, value]
  })
}

/**
 * Finds from the back which places each part can end at, then takes from the front the first way that leads to the end. Each
 * place is looked at once for each part.
 */
function matchParts(parts: readonly Part[], uri: string): TemplateVariables | undefined {
  /** For each part: the places from which it and all that follow can be matched. */
  const reachable: Uint8Array[] = [...parts.map(() => new Uint8Array(uri.length + 1)), new Uint8Array(uri.length + 1)]
  ;(reachable[parts.length] as Uint8Array)[uri.length] = 1
  for (let index = parts.length - 1; index >= 0; index--) {
    markStarts(parts[index] as Part, uri, reachable[index] as Uint8Array, reachable[index + 1] as Uint8Array)
  }
  if (reachable[0]?.[0] !== 1) return undefined
  const values: [string, string | readonly string[]][] = []
  let at = 0
  for (const [index, part] of parts.entries()) {
    const ends = reachable[index + 1] as Uint8Array
    if (part.kind === 'text') at += part.text.length
    else if (part.kind === 'query') {
      const end = queryEnd(uri)
      const pairs = ends[end] === 1 ? readQuery(part, uri, at, end) : undefined
      if (pairs === undefined) continue
      values.push(...pairs)
      at = end
    } else {
      const end = ends.indexOf(1, at + 1)
      const value = decodeValue(uri.slice(at, end), part.list)
      if (value === undefined) return undefined
      values.push([part.name, value])
      at = end
    }
  }
  return Object.fromEntries(values)
}

function markStarts(part: Part, uri: string, starts: Uint8Array, ends: Uint8Array): void {
  switch (part.kind) {
    case 'text':
      for (let at = uri.indexOf(part.text); at >= 0; at = uri.indexOf(part.text, at + 1)) {
        starts[at] = ends[at + part.text.length] ?? 0
      }
      return
    case 'query': {
      starts.set(ends)
      const end = queryEnd(uri)
      if (ends[end] !== 1) return
      for (let at = uri.indexOf(part.first); at >= 0 && at < end; at = uri.indexOf(part.first, at + 1)) {
        if (readQuery(part, uri, at, end) !== undefined) starts[at] = 1
      }
      return
    }
    case 'value': {
      // The nearest place behind at which the value may end, as long as no character in between stops it.
      let hasEnd = false
      for (let at = uri.length - 1; at >= 0; at--) {
        if (ends[at + 1] === 1) hasEnd = true
        if (part.stops.includes(uri.charAt(at))) hasEnd = false
        if (hasEnd) starts[at] = 1
      }
      return
    }
  }
}

/** Where the query of a URI ends, if it has one. */
function queryEnd(uri: string): number {
  const fragment = uri.indexOf('#')
  return fragment < 0 ? uri.length : fragment
}

/** The pairs between two places; `undefined` when they are not all of this expression. */
function readQuery(
  { first, names }: Extract<Part, { kind: 'query' }>,
  uri: string,
  start: number,
  end: number,
): [string, string][] | undefined {
  if (uri[start] !== first) return undefined
  const pairs: [string, string][] = []
  // One more than there are names tells that there are too many.
  for (const pair of uri.slice(start + 1, end).split('&', names.length + 1)) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const value = equals < 0 ? '' : decodeValue(pair.slice(equals + 1), undefined)
    if (typeof value !== 'string' || !names.includes(name) || pairs.some(([known]) => known === name)) return undefined
    pairs.push([name, value])
  }
  return pairs
}

function decodeValue(text: string, separator: string | undefined): string | readonly string[] | undefined {
  try {
    return separator === undefined ? decodeURIComponent(text) : text.split(separator).map(decodeURIComponent)
  } catch {
    return undefined
  }
}
