import { readTextFile, UsageError } from '@atenea/cli'
import type { Principal } from '@atenea/mcpcompat'

/** Whose a token is. */
export interface BearerTokens {
  /** The tokens themselves, to be kept out of logs. */
  readonly secrets: readonly string[]
  /** Takes the same time whatever the token is. */
  verify(token: string): Principal | undefined
}

const shortestToken = 16

/**
 * Reads the tokens of a file: one a line, alone or after a name and a blank, and lines that begin with `#`. Who holds a token is known
 * by its name; tokens of one name are one person's, so that they can be replaced one by one. Throws a `UsageError` that tells
 * the line and never the token.
 */
export function readBearerTokens(file: string): BearerTokens {
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (token: string): Buffer => createHash('sha256').update(token).digest()
  const known = parseTokens(readTextFile(file, 'tokens'), file).map(({ name, token }) => {
    const bytes = digest(token)
    // a token without a name has to be called something that does not tell it
    const id = `bearer:${name ?? bytes.toString('hex').slice(0, 16)}`
    return { token, bytes, principal: { id, authenticated: true } satisfies Principal }
  })
  return {
    secrets: known.map(({ token }) => token),
    verify(token) {
      const bytes = digest(token)
      let found: Principal | undefined
      for (const entry of known) if (timingSafeEqual(entry.bytes, bytes)) found = entry.principal
      return found
    },
  }
}

function parseTokens(text: string, file: string): { readonly name: string | undefined; readonly token: string }[] {
  const found = text.split('\n').flatMap((raw, index) => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) return []
    const words = line.split(/\s+/)
    const token = words.at(-1) ?? ''
    const name = words.length > 1 ? words[0] : undefined
    const fault =
      words.length > 2
        ? 'holds more than a name and a token'
        : token.length < shortestToken
          ? `holds a token that is shorter than ${shortestToken} characters`
          : /^[\w\-.~+/]+=*$/.test(token)
            ? undefined
            : 'holds a token with characters that no Authorization header can carry'
    if (fault !== undefined) throw new UsageError(`line ${index + 1} of ${file} ${fault}`)
    return [{ name, token }]
  })
  const named = new Map(found.map(({ name, token }) => [token, name]))
  // Whose it is would depend on the order of the lines.
  const ambiguous = found.findIndex(({ name, token }) => named.get(token) !== name)
  if (ambiguous !== -1)
    throw new UsageError(
      `${file} gives the token of ${found[ambiguous]?.name ?? 'a line without a name'} to somebody else too`,
    )
  if (found.length === 0) throw new UsageError(`${file} holds no token`)
  return found
}
