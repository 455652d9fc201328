import type { JsonObject } from '@atenea/mcpcompat'
import { basicAuthorization } from '../auth/basic.ts'
import { safeUrl } from '../safe-url.ts'
import { type AccessToken, isFor, principalOf, refuseBound, type TokenChecker } from './access-token.ts'
import type { AskJson } from './ask-json.ts'
import type { IssuerMetadata } from './issuer-metadata.ts'
import type { Kept } from './kept.ts'
import { IssuerUnavailable, TokenError } from './token-error.ts'

export interface IntrospectionClient {
  readonly clientId: string
  readonly clientSecret: string
  /** Default: what the metadata of the issuer names. */
  readonly endpoint?: string | undefined
  /** How long an answer is believed, and with it how long a revoked token still works, in milliseconds. Default 10,000. */
  readonly cacheMs?: number | undefined
}

export interface IntrospectionCheckerOptions {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly clockToleranceMs: number
  readonly client: IntrospectionClient
  readonly metadata: Kept<IssuerMetadata>
  readonly ask: AskJson
  readonly onFailure: (error: unknown) => void
  readonly now: () => number
}

/** Every token that nobody has seen is a question to the issuer; that many may be open. */
const maxQuestions = 64
const retryMs = 5_000

/** Checks tokens by asking their issuer (RFC 7662). */
export class IntrospectionChecker implements TokenChecker {
  readonly goodForMs: number
  readonly #options: IntrospectionCheckerOptions
  #questions = 0

  constructor(options: IntrospectionCheckerOptions) {
    this.#options = options
    this.goodForMs = options.client.cacheMs ?? 10_000
  }

  async prepare(): Promise<void> {
    await this.#place()
  }

  async check(token: string): Promise<AccessToken> {
    const { issuer, audiences, clockToleranceMs, now } = this.#options
    const claims = await this.#claims(token)
    if (claims['active'] !== true) throw new TokenError('The access token is not good, or not any more')
    if (claims['iss'] !== undefined && claims['iss'] !== issuer) {
      throw new TokenError('The access token is of another issuer')
    }
    // An issuer that does not tell whom a token is for leaves open whether it is for us.
    if (!isFor(audiences, claims)) throw new TokenError('The access token is for another resource')
    const tolerated = now() + clockToleranceMs
    const expiresAtMs = claims['exp'] === undefined ? tolerated + this.goodForMs : seconds(claims, 'exp')
    if (expiresAtMs <= now() - clockToleranceMs) throw new TokenError('The access token has expired')
    if (claims['nbf'] !== undefined && seconds(claims, 'nbf') > tolerated) {
      throw new TokenError('The access token is not good yet')
    }
    refuseBound(claims)
    return { principal: principalOf(issuer, claims), expiresAtMs }
  }

  async #claims(token: string): Promise<JsonObject> {
    const { ask, onFailure } = this.#options
    const { url, methods } = await this.#place()
    if (this.#questions >= maxQuestions) throw new IssuerUnavailable(1_000, new Error('Too many questions are open'))
    this.#questions++
    try {
      const form = new URLSearchParams({ token, token_type_hint: 'access_token' })
      const { status, value } = await ask({ method: 'POST', url, ...this.#signed(form, methods) })
      if (status === 200 && typeof value?.['active'] === 'boolean') return value
      const hint = status === 401 || status === 403 ? '; are the client id and the secret right?' : ''
      throw new Error(`${safeUrl(url)} answers ${status} without saying whether a token is active${hint}`)
    } catch (error) {
      onFailure(error)
      throw new IssuerUnavailable(retryMs, error)
    } finally {
      this.#questions--
    }
  }

  async #place(): Promise<{ readonly url: string; readonly methods: readonly string[] }> {
    const { client, metadata, onFailure } = this.#options
    if (client.endpoint !== undefined) return { url: client.endpoint, methods: ['client_secret_basic'] }
    const { introspectionEndpoint: url, introspectionAuthMethods: methods } = await metadata.get()
    if (url !== undefined) return { url, methods }
    const error = new Error('The metadata of the issuer names no introspection_endpoint')
    onFailure(error)
    throw new IssuerUnavailable(retryMs, error)
  }

  /** Who we are: by the header, which every server has to take (RFC 6749, 2.3.1), unless it says that it takes only the form. */
  #signed(
    form: URLSearchParams,
    methods: readonly string[],
  ): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
    const { clientId, clientSecret } = this.#options.client
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    if (!methods.includes('client_secret_basic') && methods.includes('client_secret_post')) {
      form.set('client_id', clientId)
      form.set('client_secret', clientSecret)
      return { headers, body: form.toString() }
    }
    const authorization = basicAuthorization(clientId, clientSecret)
    return { headers: { ...headers, authorization }, body: form.toString() }
  }
}

/** A time in seconds since 1970, as milliseconds; one that is no number never comes. */
function seconds(claims: JsonObject, name: string): number {
  const value = claims[name]
  return typeof value === 'number' ? value * 1_000 : name === 'exp' ? -Infinity : Infinity
}
