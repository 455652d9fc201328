import type { TokenEndpointResponse } from 'oauth4webapi'
import { OAuthError } from './oauth-error.ts'
import type { SignIn } from './sign-in-store.ts'

/** What a token endpoint says of an access token. */
export type TokenTerms = Pick<SignIn, 'accessToken' | 'tokenType' | 'issuedAt' | 'expiresAt'>

/** Nobody keeps a sign-in for longer; a time beyond it is as good as none. */
const longestSeconds = 10 * 365 * 24 * 3_600
/** The last moment that a `Date` can hold. */
const lastMomentMs = 8.64e15

/**
 * Reads what a token endpoint says, at a time in milliseconds since 1970. An end that has come already, as some write for a token that has
 * none, is no end: the server has the last word. An `OAuthError` for a token that no header can carry, which would fail every request.
 */
export function tokenTerms(tokens: TokenEndpointResponse, issuer: string, now: number): TokenTerms {
  const { access_token: accessToken, token_type: type, expires_in: seconds = 0 } = tokens
  if (!isHeaderToken(accessToken)) {
    throw new OAuthError('invalid-response', `${issuer} issued an access token that no Authorization header can carry.`)
  }
  return {
    accessToken,
    tokenType: type === 'dpop' ? 'dpop' : 'bearer',
    issuedAt: now,
    expiresAt: endOf(seconds, now),
  }
}

function endOf(seconds: number, now: number): number | undefined {
  return seconds > 0 && seconds <= longestSeconds ? now + seconds * 1_000 : undefined
}

/** A moment that was told in seconds since 1970, in milliseconds; `undefined` for one that no calendar has. */
export function momentOf(seconds: number): number | undefined {
  return seconds > 0 && seconds * 1_000 <= lastMomentMs ? seconds * 1_000 : undefined
}

/** RFC 6749, appendix A.12, without blanks. */
export function isHeaderToken(text: string): boolean {
  return /^[\x21-\x7E]+$/.test(text)
}
