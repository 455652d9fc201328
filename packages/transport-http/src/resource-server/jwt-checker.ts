import { isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { CryptoKey, JWTPayload, JWTVerifyOptions, LocalJWKSet } from 'jose'
import { type AccessToken, isFor, principalOf, refuseBound, type TokenChecker } from './access-token.ts'
import type { Kept } from './kept.ts'
import { TokenError } from './token-error.ts'

type Jose = typeof import('jose')

/** Signatures that an issuer makes with a key that only it has. */
export const asymmetricAlgorithms: readonly string[] = [
  ...['RS', 'PS', 'ES'].flatMap((family) => [`${family}256`, `${family}384`, `${family}512`]),
  'EdDSA',
  'Ed25519',
]

/** Types of other tokens have names of their own (RFC 8725, 3.11). Many issuers call access tokens `JWT` or nothing at all. */
const tokenTypes: readonly (string | undefined)[] = ['at+jwt', 'application/at+jwt', 'jwt', undefined]
/** Claims that an ID token has. Where its audience is also ours, nothing else tells the two apart. */
const idTokenClaims = ['nonce', 'at_hash', 'c_hash']

export interface JwtCheckerOptions {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  readonly clockToleranceMs: number
  readonly keys: Kept<LocalJWKSet>
  /** Hears of a key of the issuer that cannot be used. */
  readonly onFailure: (error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Checks access tokens that are signed by their issuer (RFC 9068, and what others make of it). */
export class JwtChecker implements TokenChecker {
  readonly #options: JwtCheckerOptions

  constructor(options: JwtCheckerOptions) {
    this.#options = options
  }

  get goodForMs(): number {
    return this.#options.keys.freshForMs
  }

  async prepare(): Promise<void> {
    await this.#options.keys.get()
  }

  async check(token: string): Promise<AccessToken> {
    const jose = await import('jose')
    const header = decoded(() => jose.decodeProtectedHeader(token))
    const claims = decoded(() => jose.decodeJwt(token))
    // Nothing of this is known to be true yet; but what is false spares the work, and the question for keys that nobody has.
    const { issuer, audiences, algorithms } = this.#options
    if (!algorithms.includes(header['alg'] as string)) {
      throw new TokenError('The access token is not signed in a way that is taken here')
    }
    if (claims['iss'] !== issuer) throw new TokenError('The access token is of another issuer')
    if (!isFor(audiences, claims)) throw new TokenError('The access token is for another resource')
    const isTyped = isAccessTokenType(header['typ'])
    const payload = (await this.#verified(jose, token)) as JsonObject
    if (!isTyped && idTokenClaims.some((name) => payload[name] !== undefined)) throw new TokenError(otherKind)
    refuseBound(payload)
    return { principal: principalOf(issuer, payload), expiresAtMs: Number(payload['exp']) * 1_000 }
  }

  async #verified(jose: Jose, token: string): Promise<JWTPayload> {
    const keys = await this.#options.keys.get()
    try {
      return await this.#verify(jose, token, keys)
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw this.#reasonOf(jose, error)
    }
    // the issuer may have begun to sign with another key
    const newer = await this.#options.keys.again()
    if (newer === undefined) throw new TokenError(unknownKey)
    return await this.#verify(jose, token, newer).catch((error: unknown) => {
      throw this.#reasonOf(jose, error)
    })
  }

  async #verify(jose: Jose, token: string, keys: LocalJWKSet): Promise<JWTPayload> {
    const { issuer, audiences, algorithms, clockToleranceMs, now } = this.#options
    const options: JWTVerifyOptions = {
      issuer,
      audience: [...audiences],
      algorithms: [...algorithms],
      requiredClaims: ['exp'],
      clockTolerance: clockToleranceMs / 1_000,
      currentDate: new Date(now()),
    }
    try {
      return (await jose.jwtVerify(token, keys, options)).payload
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error
      // A token without a key id: the key is one of those that fit.
      for await (const key of error as AsyncIterable<CryptoKey>) {
        const payload = await jose.jwtVerify(token, key, options).then(
          (verified) => verified.payload,
          (reason: unknown) => {
            if (reason instanceof jose.errors.JWSSignatureVerificationFailed) return undefined
            throw reason
          },
        )
        if (payload !== undefined) return payload
      }
      throw new jose.errors.JWSSignatureVerificationFailed()
    }
  }

  /** What a client may be told. */
  #reasonOf({ errors }: Jose, error: unknown): TokenError {
    if (error instanceof errors.JWTExpired) return new TokenError('The access token has expired')
    if (error instanceof errors.JWTClaimValidationFailed) {
      const about: Readonly<Record<string, string>> = {
        nbf: 'The access token is not good yet',
        exp: 'The access token does not say when it expires',
      }
      return new TokenError(about[error.claim] ?? 'The access token is not valid')
    }
    if (error instanceof errors.JWKSNoMatchingKey) return new TokenError(unknownKey)
    // The key that the token names is none: the fault of the issuer, with which nobody is to fill a log.
    if (!(error instanceof errors.JOSEError)) this.#options.onFailure(error)
    return new TokenError('The access token is not valid')
  }
}

const otherKind = 'This is no access token'
const unknownKey = 'The access token is signed with a key that its issuer does not have'

function decoded(decode: () => unknown): JsonObject {
  try {
    const value = decode() as JsonValue
    if (isJsonObject(value)) return value
  } catch {
    // told below
  }
  throw new TokenError('The access token is not a JSON web token')
}

/** Whether the type says that this is an access token. A `TokenError` when it says that it is something else. */
function isAccessTokenType(type: JsonValue | undefined): boolean {
  const name = typeof type === 'string' ? type.toLowerCase() : type
  if (name !== undefined && !tokenTypes.includes(name as string)) throw new TokenError(otherKind)
  return name === 'at+jwt' || name === 'application/at+jwt'
}
