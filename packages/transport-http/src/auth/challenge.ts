/** One challenge of a `WWW-Authenticate` field. */
export interface AuthChallenge {
  /** In lower case: `bearer`, `basic`. */
  readonly scheme: string
  /** `resource_metadata`, `scope`, `error` and whatever else was said; names in lower case, values without quotes. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = String.raw`[!#$%&'*+.^_\x60|~0-9A-Za-z-]+`
const pairPattern = new RegExp(
  String.raw`\s*(${token})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=][^\s,"]*))\s*(?:,|$)`,
  'y',
)
const schemePattern = new RegExp(String.raw`[\s,]*(${token})(?:\s+|,|$)`, 'y')
const token68Pattern = /[A-Za-z0-9._~+/-]+=*\s*(?:,|$)/y

/** Longer fields are not read; no server needs one. */
const maxFieldLength = 16_384

/** The challenges of a `WWW-Authenticate` field, as many as can be read (RFC 9110, 11.6.1). Takes linear time. */
export function parseChallenges(field: string | undefined): readonly AuthChallenge[] {
  if (field === undefined || field.length > maxFieldLength) return []
  const challenges: AuthChallenge[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(field)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  while (at < field.length) {
    const scheme = match(schemePattern)?.[1]
    if (scheme === undefined) break
    const parameters = new Map<string, string>()
    for (let pair = match(pairPattern); pair !== null; pair = match(pairPattern)) {
      const [, name = '', quoted, plain = ''] = pair
      parameters.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1'))
    }
    // `Basic dXNlcg==` and the like: one value without a name, of which we make nothing.
    if (parameters.size === 0) match(token68Pattern)
    challenges.push({ scheme: scheme.toLowerCase(), parameters })
  }
  return challenges
}
