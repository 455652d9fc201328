import type { JsonObject, Principal } from '@atenea/mcpcompat'
import { TokenError } from './token-error.ts'

/** What a token says, once it was found to be good. */
export interface AccessToken {
  readonly principal: Principal
  /** When it ends, in milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** Where a checker of tokens leaves it to this module to read the claims. */
export interface TokenChecker {
  /** A `TokenError` for a token that is not good, an `IssuerUnavailable` when that cannot be told. */
  check(token: string): Promise<AccessToken>
  /** How long what was just found may be believed without checking again, in milliseconds. */
  readonly goodForMs: number
  /** Asks the issuer for what is needed, so that the first request finds it. Rejects with the reason it cannot be had. */
  prepare(): Promise<void>
}

const longestName = 1_000

/**
 * Whose token it is. The issuer is part of the name, since a subject is unique only there; neither `#` nor `?` can be in an issuer
 * (RFC 8414), so that no subject can be taken for a client, or for a subject of another issuer.
 */
export function principalOf(issuer: string, claims: JsonObject): Principal {
  const { sub, client_id: client, azp } = claims
  const scopes = scopesOf(claims)
  const program = client ?? azp
  // A program that acts for itself: the subject by RFC 9068, none with others. Whoever may choose the id of a client must not be taken for the
  // person who is called so.
  if ((sub === undefined || sub === client) && isName(program)) {
    return { id: `${issuer}?client=${program}`, authenticated: true, scopes }
  }
  if (isName(sub)) return { id: `${issuer}#${sub}`, authenticated: true, scopes }
  throw new TokenError('The access token does not say whose it is')
}

/** Refuses a token that is bound to a key (RFC 9449, RFC 8705): who sends it as a bearer token does not show that the key is theirs. */
export function refuseBound({ cnf }: JsonObject): void {
  if (cnf !== undefined)
    throw new TokenError('The access token is bound to a key, and cannot be used as a bearer token')
}

/** Whether `aud` names one of ours. */
export function isFor(audiences: readonly string[], { aud }: JsonObject): boolean {
  const named = Array.isArray(aud) ? aud : [aud]
  return named.some((one) => typeof one === 'string' && audiences.includes(one))
}

/** `scope` as RFC 9068 and RFC 7662 write it, or `scp` as some issuers do; texts or lists. */
function scopesOf({ scope, scp }: JsonObject): readonly string[] {
  const said = scope ?? scp
  const words = Array.isArray(said)
    ? said.filter((word) => typeof word === 'string')
    : typeof said === 'string'
      ? said.split(' ')
      : []
  return [...new Set(words.filter((word) => word !== ''))]
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestName
}
