import type { AbortOptions, WireHints } from '@atenea/mcpcompat'
import type { AuthChallenge } from './auth/challenge.ts'
import type { HttpRequest } from './send.ts'

/** A request that was not let in. The server has not carried it out. */
export interface AuthRefusal {
  /** 401, or 403 for credentials that do not suffice. */
  readonly status: number
  readonly challenges: readonly AuthChallenge[]
  /** The value of `Authorization` that was refused. */
  readonly sent: string | undefined
}

export interface RenewOptions extends AbortOptions {
  /** Nobody waits for this request, so no person is asked. */
  readonly unattended?: boolean | undefined
}

/** Has credentials for one server, and gets new ones when they are refused. */
export interface Authorizer {
  /** The fields that authorize a request to the server, by name in lower case; none while nothing is known that it would take. */
  fields(request: Pick<HttpRequest, 'method' | 'url'>, options: AbortOptions): AuthFields | Promise<AuthFields>
  /** Hears of every answer. */
  saw?(answer: { readonly status: number; readonly headers: WireHints }, url: string): void
  /**
   * Gets better credentials; several calls at once share one attempt. Resolves with whether it makes sense to send the request again. Rejects
   * with the reason of the signal as it is, or with an error that says why there are none.
   */
  renew(refusal: AuthRefusal, options: RenewOptions): Promise<boolean>
}

export type AuthFields = Readonly<Record<string, string>>
