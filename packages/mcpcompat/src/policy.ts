/** Which names somebody may use. What it does not allow must be answered exactly like what does not exist. */
export interface AllowList {
  /** Whether this name is allowed. Names are compared character by character, in their case. */
  allows(name: string): boolean
  /** Whether a rule refuses this name; a name that is merely not allowed is not denied. */
  denies(name: string): boolean
}

export interface CreateAllowListOptions {
  /** Names or globs that are allowed. Absent: all names. Empty: none. */
  readonly allow?: readonly string[] | undefined
  /** Names or globs that are refused, also when they are allowed. */
  readonly deny?: readonly string[] | undefined
}

/**
 * Makes an allow-list from globs: `*` stands for any characters, none included, `?` for exactly one, and a backslash takes the
 * next character as it is. Everything else stands for itself; there are no other patterns, and `*` does not stop at a slash.
 * A `TypeError` for a pattern that is no string or that ends in a lone backslash.
 */
export function createAllowList(options: CreateAllowListOptions): AllowList {
  const allowed = options.allow === undefined ? undefined : matcher(options.allow)
  const denied = matcher(options.deny ?? [])
  return { allows: (name) => !denied(name) && (allowed === undefined || allowed(name)), denies: denied }
}

const anyRun = Symbol('any run of characters')
const anyOne = Symbol('any one character')

type Token = string | typeof anyRun | typeof anyOne

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set<string>()
  const globs: (readonly Token[])[] = []
  for (const pattern of patterns) {
    const tokens = parseGlob(pattern)
    if (tokens.every((token) => typeof token === 'string')) names.add(tokens.join(''))
    else globs.push(tokens)
  }
  if (globs.some((glob) => glob.every((token) => token === anyRun))) return () => true
  return (name) => names.has(name) || (globs.length > 0 && matchesAny(globs, Array.from(name)))
}

function parseGlob(pattern: string): readonly Token[] {
  if (typeof pattern !== 'string') throw new TypeError(`a pattern must be a string, not ${typeof pattern}`)
  const tokens: Token[] = []
  let escaped = false
  for (const character of pattern) {
    if (escaped) {
      tokens.push(character)
      escaped = false
    } else if (character === '\\') escaped = true
    else if (character === '?') tokens.push(anyOne)
    else if (character !== '*') tokens.push(character)
    else if (tokens.at(-1) !== anyRun) tokens.push(anyRun)
  }
  if (escaped) throw new TypeError(`the pattern ${JSON.stringify(pattern)} ends in a backslash that escapes nothing`)
  return tokens
}

function matchesAny(globs: readonly (readonly Token[])[], characters: readonly string[]): boolean {
  return globs.some((glob) => matches(glob, characters))
}

/**
 * Each `*` takes as little as it can; when the rest does not fit, only the last one takes one character more. That suffices,
 * because an earlier `*` can give nothing that the last one could not, and it bounds the work by name times pattern.
 */
function matches(glob: readonly Token[], characters: readonly string[]): boolean {
  let at = 0
  let token = 0
  let lastRun = -1
  let runEnd = 0
  while (at < characters.length) {
    const wanted = glob[token]
    if (wanted === anyRun) {
      lastRun = token++
      runEnd = at
    } else if (wanted === anyOne || (wanted !== undefined && wanted === characters[at])) {
      token++
      at++
    } else if (lastRun >= 0) {
      token = lastRun + 1
      at = ++runEnd
    } else return false
  }
  if (glob[token] === anyRun) token++
  return token === glob.length
}
