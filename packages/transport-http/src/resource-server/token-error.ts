/** A token that is not good. The message goes to the client. */
export class TokenError extends Error {
  override readonly name: string = 'TokenError'
}

/** The authorization server could not be asked, so nothing can be said about a token. */
export class IssuerUnavailable extends Error {
  override readonly name: string = 'IssuerUnavailable'
  /** When another attempt is made at the earliest, in milliseconds from now. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, cause: unknown) {
    super('The authorization server cannot be asked now', { cause })
    this.retryAfterMs = retryAfterMs
  }
}
