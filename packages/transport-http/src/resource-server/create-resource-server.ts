import type { OnDiagnostic, Principal } from '@atenea/mcpcompat'
import { type Clock, safeDiagnostics, systemClock } from '@atenea/mcpcompat/transport'
import {
  type Authenticate,
  type AuthUnavailable,
  type Challenge,
  createBearerAuthenticator,
  type VerifyToken,
} from '../auth/authenticate.ts'
import type { ProtectedResource } from '../auth/protected-resource.ts'
import { isSecureUrl } from '../auth/secure-url.ts'
import { createFetchSend } from '../fetch-send.ts'
import { safeUrl } from '../safe-url.ts'
import type { HttpSend } from '../send.ts'
import type { AccessToken, TokenChecker } from './access-token.ts'
import { createAskJson } from './ask-json.ts'
import { type IntrospectionClient, IntrospectionChecker } from './introspection-checker.ts'
import { discoverIssuer } from './issuer-metadata.ts'
import { asymmetricAlgorithms, JwtChecker } from './jwt-checker.ts'
import { Kept } from './kept.ts'
import { loadKeySet } from './key-set.ts'
import { IssuerUnavailable, TokenError } from './token-error.ts'
import { TokenMemory } from './token-memory.ts'

export interface CreateResourceServerOptions {
  /** The authorization server whose tokens are taken, exactly as it calls itself. */
  readonly issuer: string
  /** What tokens have to be issued for: `aud` names one of these, byte for byte. Usually the URL of the endpoint. */
  readonly audience: string | readonly string[]
  /** The URL of the endpoint as clients know it. Default: the first audience. */
  readonly resource?: string | undefined
  /** Scopes that every token has to have. */
  readonly requiredScopes?: readonly string[] | undefined
  /** Scopes beyond those that clients should ask for when they sign in, since what they may do depends on them. */
  readonly offeredScopes?: readonly string[] | undefined
  /** Asks the issuer about each token (RFC 7662). Absent: tokens are JWTs and verified with the keys of the issuer. */
  readonly introspection?: IntrospectionClient | undefined
  /** Where the keys are, for an issuer without metadata. */
  readonly jwksUri?: string | undefined
  /** Algorithms of signatures that are taken, of `asymmetricAlgorithms`. Default: all of those. */
  readonly algorithms?: readonly string[] | undefined
  /** How far clocks may differ, in milliseconds. Default 60,000. */
  readonly clockToleranceMs?: number | undefined
  /** How long keys and metadata are used before they are asked for again, in milliseconds. Default 10 minutes. */
  readonly keyMaxAgeMs?: number | undefined
  /** How long they are used beyond that while the issuer cannot be reached. Default one hour. */
  readonly keyStaleMs?: number | undefined
  /** Shortest time between two questions for keys that tokens with unknown keys cause. Default 30,000. */
  readonly keyCooldownMs?: number | undefined
  /** For an answer of the issuer. Default 5,000. */
  readonly timeoutMs?: number | undefined
  /** For people, in the metadata document. */
  readonly resourceName?: string | undefined
  readonly resourceDocumentation?: string | undefined
  /** How the issuer is asked. Default: by `fetch`. */
  readonly send?: HttpSend | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
  /** Milliseconds since 1970. Default: those of the platform. */
  readonly now?: (() => number) | undefined
}

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
const retryMs = 5_000

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

interface CheckedOptions extends CreateResourceServerOptions {
  readonly audiences: readonly [string, ...string[]]
  readonly requiredScopes: readonly string[]
  readonly offeredScopes: readonly string[]
  readonly algorithms: readonly string[]
  readonly clock: Clock
  readonly now: () => number
}

function checkOptions(options: CreateResourceServerOptions): CheckedOptions {
  const { issuer, jwksUri, introspection, algorithms = asymmetricAlgorithms } = options
  const { requiredScopes = [], offeredScopes = [] } = options
  const [first, ...more] = typeof options.audience === 'string' ? [options.audience] : options.audience
  if (first === undefined || [first, ...more].includes('')) throw new TypeError('an audience is needed')
  if (!isSecureUrl(issuer) || new URL(issuer).search !== '') {
    throw new TypeError(
      `the issuer must be an https URL, or an http one on this machine, without a query: ${safeUrl(issuer)}`,
    )
  }
  for (const [name, url] of [
    ['jwksUri', jwksUri] as const,
    ['introspection.endpoint', introspection?.endpoint] as const,
  ]) {
    if (url !== undefined && !isSecureUrl(url)) {
      throw new TypeError(`${name} must be an https URL, or an http one on this machine: ${safeUrl(url)}`)
    }
  }
  const resource = options.resource ?? first
  if (!isHttpUrl(resource)) {
    throw new TypeError(
      `the resource must be the http or https URL of the endpoint, without credentials, query or fragment`,
    )
  }
  const weak = algorithms.find((name) => !asymmetricAlgorithms.includes(name))
  if (weak !== undefined || algorithms.length === 0) {
    throw new TypeError(`algorithms must be some of ${asymmetricAlgorithms.join(', ')}: ${weak ?? 'none is named'}`)
  }
  for (const scope of [...requiredScopes, ...offeredScopes]) {
    if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(scope))
      throw new TypeError(`no scope can be called ${JSON.stringify(scope)}`)
    // a refresh token is the client's affair and not a need of a resource
    if (scope === 'offline_access') throw new TypeError('offline_access is no scope of a resource')
  }
  return {
    ...options,
    audiences: [first, ...more],
    requiredScopes,
    offeredScopes,
    algorithms,
    clock: options.clock ?? systemClock,
    now: options.now ?? Date.now,
  }
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

function createChecker(options: CheckedOptions): TokenChecker {
  const { issuer, audiences, algorithms, introspection: client, clock, now, clockToleranceMs = 60_000 } = options
  const ask = createAskJson({
    send: options.send ?? createFetchSend(),
    clock,
    timeoutMs: options.timeoutMs ?? 5_000,
  })
  const report = safeDiagnostics(options.onDiagnostic)
  const onFailure = (cause: unknown): void => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    report?.({
      level: 'warning',
      code: 'issuer-unavailable',
      message: `The authorization server ${safeUrl(issuer)} cannot be used: ${reason}`,
      cause,
    })
  }
  const times = {
    maxAgeMs: options.keyMaxAgeMs ?? 10 * 60_000,
    staleMs: options.keyStaleMs ?? 60 * 60_000,
    cooldownMs: options.keyCooldownMs ?? 30_000,
    retryMs,
    clock,
    onFailure,
  }
  if (client === undefined) {
    const keys = new Kept({ ...times, load: async () => await loadKeySet({ issuer, jwksUri: options.jwksUri, ask }) })
    return new JwtChecker({ issuer, audiences, algorithms, clockToleranceMs, keys, now })
  }
  const metadata = new Kept({ ...times, load: async () => await discoverIssuer(issuer, ask) })
  return new IntrospectionChecker({ issuer, audiences, clockToleranceMs, client, metadata, ask, onFailure, now })
}
