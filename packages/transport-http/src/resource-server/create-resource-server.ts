import type { Principal } from '@atenea/mcpcompat'
import {
  type Authenticate,
  type AuthUnavailable,
  type Challenge,
  createBearerAuthenticator,
  type VerifyToken,
} from '../auth/authenticate.ts'
import type { ProtectedResource } from '../auth/protected-resource.ts'
import type { AccessToken, TokenChecker } from './access-token.ts'
import { createChecker } from './create-checker.ts'
import { type CheckedOptions, checkOptions, type CreateResourceServerOptions } from './resource-server-options.ts'
import { IssuerUnavailable, TokenError } from './token-error.ts'
import { TokenMemory } from './token-memory.ts'

/** Takes the tokens of one authorization server. */
export interface ResourceServer {
  /** For `createHttpHandler`, `listenHttp`. */
  readonly authenticate: Authenticate
  /** For the same: the document that leads clients to the authorization server. */
  readonly protectedResource: ProtectedResource
  /** For an authenticator that takes other tokens as well. */
  readonly verify: VerifyToken
  /** Scopes to be told with a 401. */
  readonly scopes: readonly string[]
  /**
   * Asks the issuer for what is needed to check tokens, so that the first request does not wait for it, and a wrong address is told at the
   * start. Never rejects: an issuer that cannot be reached is reported, and asked again when a request comes.
   */
  prepare(): Promise<void>
}

/** Tokens that are remembered, so that a client that asks often is not checked each time. */
const maxTokens = 1_000

/**
 * A resource server of OAuth (MC-AUTH-03): tells by the access token of a request who sends it. The principal is the subject with its
 * issuer, `ISSUER#SUBJECT`, or `ISSUER?client=ID` for a program that acts for itself. A token that is not good is 401, one that
 * lacks a scope 403 with the scopes that would do, and 503 is answered while that cannot be told: a client keeps its token then.
 * Throws a `TypeError` for options that cannot work.
 */
export function createResourceServer(options: CreateResourceServerOptions): ResourceServer {
  return new TokenJudge(checkOptions(options))
}

class TokenJudge implements ResourceServer {
  readonly authenticate: Authenticate
  readonly protectedResource: ProtectedResource
  readonly scopes: readonly string[]
  readonly #required: readonly string[]
  readonly #checker: TokenChecker
  readonly #memory: TokenMemory<Principal | Challenge>
  readonly #checking = new Map<string, Promise<Principal | Challenge | AuthUnavailable>>()
  readonly #now: () => number

  constructor(options: CheckedOptions) {
    const { issuer, audiences, resource, requiredScopes, resourceName, resourceDocumentation, clock } = options
    this.#required = requiredScopes
    this.#now = options.now
    this.#checker = createChecker(options)
    this.#memory = new TokenMemory(clock, maxTokens)
    this.scopes = [...new Set([...requiredScopes, ...options.offeredScopes])]
    this.protectedResource = {
      resource: resource ?? audiences[0],
      authorizationServers: [issuer],
      ...(this.scopes.length > 0 && { scopesSupported: this.scopes }),
      ...(resourceName !== undefined && { resourceName }),
      ...(resourceDocumentation !== undefined && { resourceDocumentation }),
    }
    this.authenticate = createBearerAuthenticator(this.verify, { scopes: this.scopes })
  }

  readonly verify = (token: string): ReturnType<VerifyToken> => {
    const known = this.#memory.get(token)
    if (known !== undefined) return known
    let checking = this.#checking.get(token)
    if (checking === undefined) {
      checking = this.#check(token).finally(() => this.#checking.delete(token))
      this.#checking.set(token, checking)
    }
    return checking
  }

  async prepare(): Promise<void> {
    // what went wrong is reported where it happened
    await this.#checker.prepare().catch(() => undefined)
  }

  async #check(token: string): Promise<Principal | Challenge | AuthUnavailable> {
    let found: AccessToken
    try {
      found = await this.#checker.check(token)
    } catch (error) {
      if (error instanceof TokenError) return { status: 401, error: 'invalid_token', description: error.message }
      if (error instanceof IssuerUnavailable) {
        return { status: 503, description: error.message, retryAfterMs: error.retryAfterMs }
      }
      throw error
    }
    const { principal, expiresAtMs } = found
    const isEnough = this.#required.every((scope) => principal.scopes?.includes(scope) === true)
    const verdict = isEnough ? principal : this.#tooNarrow()
    this.#memory.set(token, verdict, Math.min(this.#checker.goodForMs, expiresAtMs - this.#now()))
    return verdict
  }

  #tooNarrow(): Challenge {
    return {
      status: 403,
      error: 'insufficient_scope',
      description: 'The access token lacks a scope that is needed here',
      scopes: this.#required,
    }
  }
}
