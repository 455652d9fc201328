import { TransportError, type TransportErrorKind, type TransportErrorOptions } from '@atenea/mcpcompat'
import type { AuthChallenge } from './auth/challenge.ts'

const statusBrand = Symbol.for('atenea.HttpStatusError')
const authBrand = Symbol.for('atenea.HttpAuthError')
const redirectBrand = Symbol.for('atenea.HttpRedirectError')
const sessionBrand = Symbol.for('atenea.SessionLostError')

export interface HttpStatusErrorOptions extends TransportErrorOptions {
  readonly status: number
  /** How long the server asks to wait before another attempt, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** An HTTP answer that holds no JSON-RPC message, such as the error page of a gateway. */
export class HttpStatusError extends TransportError {
  override readonly name: string = 'HttpStatusError'
  readonly status: number
  readonly retryAfterMs: number | undefined

  static {
    Object.defineProperty(HttpStatusError.prototype, statusBrand, { value: true })
  }

  static override is(value: unknown): value is HttpStatusError {
    return typeof value === 'object' && value !== null && statusBrand in value
  }

  constructor(kind: TransportErrorKind, message: string, options: HttpStatusErrorOptions) {
    super(kind, message, options)
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Credentials are missing or refused. Says nothing about the era of a server (field report A7). */
export class HttpAuthError extends TransportError {
  override readonly name: string = 'HttpAuthError'
  readonly status: number
  /** What the server asks for; `parameters` of a bearer challenge name the protected-resource metadata and the scope. */
  readonly challenges: readonly AuthChallenge[]

  static {
    Object.defineProperty(HttpAuthError.prototype, authBrand, { value: true })
  }

  static override is(value: unknown): value is HttpAuthError {
    return typeof value === 'object' && value !== null && authBrand in value
  }

  constructor(message: string, status: number, challenges: readonly AuthChallenge[]) {
    super('auth', message)
    this.status = status
    this.challenges = challenges
  }
}

/** The server sends us elsewhere, and following would change the request or its origin (field report C19). */
export class HttpRedirectError extends TransportError {
  override readonly name: string = 'HttpRedirectError'
  readonly status: number
  /** Where to, without credentials and query. */
  readonly location: string | undefined

  static {
    Object.defineProperty(HttpRedirectError.prototype, redirectBrand, { value: true })
  }

  static override is(value: unknown): value is HttpRedirectError {
    return typeof value === 'object' && value !== null && redirectBrand in value
  }

  constructor(message: string, status: number, location: string | undefined) {
    super('protocol', message)
    this.status = status
    this.location = location
  }
}

/** The server has forgotten our session, so it has not looked at the request (LG-SESS-06). */
export class SessionLostError extends TransportError {
  override readonly name: string = 'SessionLostError'

  static {
    Object.defineProperty(SessionLostError.prototype, sessionBrand, { value: true })
  }

  static override is(value: unknown): value is SessionLostError {
    return typeof value === 'object' && value !== null && sessionBrand in value
  }

  /** `again`: the call had been repeated in a fresh session, which was forgotten too, so that one more would not help. */
  constructor(message: string, { again = false }: { readonly again?: boolean } = {}) {
    super(again ? 'protocol' : 'closed', message, { retryable: !again })
  }
}

/** Nothing depends on whether the server has seen a probe or a handshake that was lost on its way. */
export function repeatableFailure(error: unknown): unknown {
  return TransportError.is(error) && error.kind === 'unknown-outcome'
    ? new TransportError('closed', error.message, { cause: error, retryable: true })
    : error
}
