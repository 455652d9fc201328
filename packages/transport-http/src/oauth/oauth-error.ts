import { TransportError, type TransportErrorOptions } from '@atenea/mcpcompat'

/** Why there is no access token. Branch on this, never on the text. */
export type OAuthErrorCode =
  /** A person has to sign in, and nobody may or can be asked now. */
  | 'sign-in-needed'
  /** The one who was asked said no. */
  | 'denied'
  /** A document that the sign-in needs is missing, cannot be read or contradicts itself. */
  | 'metadata'
  /** The metadata belong to another resource than the server that was asked. */
  | 'resource-mismatch'
  /** A document or an answer is of another authorization server than the one that was asked. */
  | 'issuer-mismatch'
  /** The authorization server does not say that it supports PKCE with S256. */
  | 'no-pkce'
  /** There is no way to introduce ourselves to the authorization server. */
  | 'no-registration'
  /** The authorization server offers nothing of what we can do. */
  | 'no-flow'
  /** The registered client was made for another authorization server. */
  | 'foreign-client'
  /** A URL that must not be asked. */
  | 'forbidden-url'
  /** An answer of the authorization server breaks the protocol. */
  | 'invalid-response'
  /** The authorization server refused; `reason` is its error code. */
  | 'refused'
  /** What is kept of sign-ins cannot be read or written. */
  | 'storage'
  /** The authorization server cannot be reached. */
  | 'unreachable'

const brand = Symbol.for('atenea.OAuthError')

export interface OAuthErrorOptions extends TransportErrorOptions {
  /** The error code of the authorization server, such as `invalid_grant`. */
  readonly reason?: string | undefined
}

/** There is no access token. Its text holds no secret. */
export class OAuthError extends TransportError {
  override readonly name: string = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly reason: string | undefined

  static {
    Object.defineProperty(OAuthError.prototype, brand, { value: true })
  }

  static override is(value: unknown): value is OAuthError {
    return typeof value === 'object' && value !== null && brand in value
  }

  constructor(code: OAuthErrorCode, message: string, options?: OAuthErrorOptions) {
    super(code === 'unreachable' ? 'unreachable' : 'auth', message, {
      retryable: code === 'unreachable',
      ...options,
    })
    this.code = code
    this.reason = options?.reason
  }
}
