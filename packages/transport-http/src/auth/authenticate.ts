import type { Principal, WireHints } from '@atenea/mcpcompat'

/** What an authenticator may look at. The body has not been read yet. */
export interface AuthRequest {
  readonly method: string
  /** Path and query, as the client sent them. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: WireHints
}

/** Why a request is not let in, as `WWW-Authenticate` tells it (RFC 6750, RFC 9728). */
export interface Challenge {
  /** `400`: this is no credential at all. `401`: who are you. `403`: you may not. */
  readonly status: 400 | 401 | 403
  /** `invalid_request` with a 400, `invalid_token` for a token that is not good, `insufficient_scope` with a 403; none when no token was sent. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope'
  /** For people, in plain words and without quotes. */
  readonly description?: string
  /** Scopes that would do. */
  readonly scopes?: readonly string[]
}

/**
 * Nobody can tell now who sends the request, because whoever knows cannot be reached. It is no challenge: a client that were told 401
 * would throw a good token away and send its user to sign in again, which cannot succeed either (field report A7).
 */
export interface AuthUnavailable {
  readonly status: 503
  /** For people, and without anything that only the operator should know. */
  readonly description: string
  /** When another attempt makes sense, in milliseconds from now. */
  readonly retryAfterMs: number
}

/**
 * Tells who sends a request, or why it is refused (step 2 of the ladder). Called for every request before its body is read, so it
 * should answer at once where it can. What it throws is answered with 500 and reported.
 */
export type Authenticate = (
  request: AuthRequest,
) => Principal | Challenge | AuthUnavailable | Promise<Principal | Challenge | AuthUnavailable>

export function isPrincipal(answer: Principal | Challenge | AuthUnavailable): answer is Principal {
  return !('status' in answer)
}

/** Whose token this is, or why it is not good; `undefined` for one that nobody knows. */
export type VerifyToken = (
  token: string,
  request: AuthRequest,
) => Principal | Challenge | AuthUnavailable | undefined | Promise<Principal | Challenge | AuthUnavailable | undefined>

export interface CreateBearerAuthenticatorOptions {
  /** Scopes that a client should ask for when it signs in, told with a 401 (RFC 6750). */
  readonly scopes?: readonly string[] | undefined
}

/**
 * Authentication by `Authorization: Bearer`. `verify` decides about the token: against a list, or by whatever checks the tokens of an
 * authorization server (`createResourceServer`). Tokens in the query are not looked at.
 */
export function createBearerAuthenticator(
  verify: VerifyToken,
  { scopes }: CreateBearerAuthenticatorOptions = {},
): Authenticate {
  const wanted = scopes === undefined || scopes.length === 0 ? {} : { scopes }
  const noToken: Challenge = { status: 401, ...wanted }
  const badToken: Challenge = { ...noToken, error: 'invalid_token', description: 'The access token is not valid' }
  const judge = (known: Awaited<ReturnType<VerifyToken>>): Principal | Challenge | AuthUnavailable => {
    if (known === undefined) return badToken
    return !isPrincipal(known) && known.status === 401 ? { ...wanted, ...known } : known
  }
  return (request) => {
    const field = request.headers['authorization']
    if (field === undefined || !/^bearer(?: |$)/i.test(field)) return noToken
    const token = /^bearer +([\w\-.~+/]+=*) *$/i.exec(field)?.[1]
    if (token === undefined) return noCredential
    const known = verify(token, request)
    return known instanceof Promise ? known.then(judge) : judge(known)
  }
}

const noCredential: Challenge = Object.freeze({
  status: 400,
  error: 'invalid_request',
  description: 'The Authorization header holds no bearer token',
})
