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
  /** `401`: who are you. `403`: you may not. */
  readonly status: 401 | 403
  /** `invalid_token` for a token that is not good, `insufficient_scope` with a 403; none when no token was sent. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope'
  /** For people, in plain words and without quotes. */
  readonly description?: string
  /** Scopes that would do. */
  readonly scopes?: readonly string[]
}

/**
 * Tells who sends a request, or why it is refused (step 2 of the ladder). Called for every request before its body is read, so it
 * should answer at once where it can. What it throws is answered with 500 and reported.
 */
export type Authenticate = (request: AuthRequest) => Principal | Challenge | Promise<Principal | Challenge>

export function isChallenge(answer: Principal | Challenge): answer is Challenge {
  return 'status' in answer
}

/** Whose token this is, or why it is not good; `undefined` for one that nobody knows. */
export type VerifyToken = (
  token: string,
  request: AuthRequest,
) => Principal | Challenge | undefined | Promise<Principal | Challenge | undefined>

/**
 * Authentication by `Authorization: Bearer`. `verify` decides about the token: against a list, or by whatever checks the tokens of an
 * authorization server. Tokens in the query are not looked at.
 */
export function createBearerAuthenticator(verify: VerifyToken): Authenticate {
  return (request) => {
    const field = request.headers['authorization']
    const token = field === undefined ? undefined : /^bearer +([\w\-.~+/]+=*) *$/i.exec(field)?.[1]
    if (token === undefined) return noToken
    const known = verify(token, request)
    return known instanceof Promise ? known.then((later) => later ?? badToken) : (known ?? badToken)
  }
}

const noToken: Challenge = Object.freeze({ status: 401 })
const badToken: Challenge = Object.freeze({
  status: 401,
  error: 'invalid_token',
  description: 'The access token is not valid',
})
