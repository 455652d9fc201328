import type { AbortOptions } from '@atenea/mcpcompat'
import type { Client, DPoPHandle, TokenEndpointResponse } from 'oauth4webapi'
import { answerFailure } from '../answer-failure.ts'
import { clientAuth, type OAuthClient } from '../client-auth.ts'
import type { IssuerInfo } from '../discovery.ts'
import type { FetchInit, OAuthHttp } from '../oauth-http.ts'
import { type FlowClient, type Registration, requestOptions } from '../registration.ts'
import { secretsOf } from '../token-secrets.ts'

/** What a flow knows when it begins. */
export interface FlowContext extends AbortOptions {
  readonly http: OAuthHttp
  readonly serverUrl: string
  readonly issuer: IssuerInfo
  /** Goes into every request as it is (RFC 8707). */
  readonly resource: string
  readonly scopes: readonly string[] | undefined
  /** Makes proofs for tokens that are bound to a key. */
  readonly dpop: DPoPHandle | undefined
  /** The client that there is without registering one. */
  knownClient(): Promise<FlowClient | undefined>
  /** Registers a client, in place of one that was registered before. */
  register(registration: Registration): Promise<FlowClient>
  /** Forgets a client that was registered before, for the authorization server may not know it any more. */
  forgetClient(): Promise<void>
}

export interface FlowResult {
  readonly client: FlowClient
  readonly tokens: TokenEndpointResponse
}

/** A way to come to tokens. */
export interface Flow {
  /** Whether a person has to take part. */
  readonly interactive: boolean
  run(context: FlowContext): Promise<FlowResult>
}

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

type OAuth = typeof import('oauth4webapi')

/** One request to the token endpoint, and how its answer is read. */
export interface TokenExchange {
  /** What is done, for messages: `exchanging the code`. */
  readonly what: string
  request(
    oauth: OAuth,
    client: Client,
    auth: Awaited<ReturnType<typeof clientAuth>>,
    options: Readonly<Record<symbol, unknown>> & { readonly signal?: AbortSignal; readonly DPoP?: DPoPHandle },
  ): Promise<Response>
  read(oauth: OAuth, client: Client, response: Response): Promise<TokenEndpointResponse>
}

/** The context of token requests; what a flow has, and what a refresh has. */
export type TokenContext = Pick<FlowContext, 'http' | 'issuer' | 'dpop' | 'signal'>

/** Asks the token endpoint; once more only where it wants the proof with a nonce of its own (RFC 9449, section 8). */
export async function requestTokens(
  context: TokenContext,
  client: OAuthClient,
  exchange: TokenExchange,
): Promise<TokenEndpointResponse> {
  const { http, issuer, dpop, signal } = context
  const oauth = await import('oauth4webapi')
  const auth = await clientAuth(client, issuer.metadata)
  const known: Client = { client_id: client.clientId }
  const options: { [key: symbol]: unknown; signal?: AbortSignal; DPoP?: DPoPHandle } = {
    ...requestOptions(oauth, http),
    ...(signal !== undefined && { signal }),
    ...(dpop !== undefined && { DPoP: dpop }),
  }
  const secrets: string[] = client.clientSecret === undefined ? [] : [client.clientSecret]
  options[oauth.customFetch] = async (url: string, init: FetchInit): Promise<Response> => {
    if (init.body instanceof URLSearchParams) secrets.push(...secretsOf(init.body))
    return await http.fetch(url, init)
  }
  const attempt = async (): Promise<TokenEndpointResponse> =>
    await exchange.read(oauth, known, await exchange.request(oauth, known, auth, options))
  try {
    try {
      return await attempt()
    } catch (error) {
      if (dpop === undefined || !oauth.isDPoPNonceError(error)) throw error
      return await attempt()
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw answerFailure(error, `${issuer.issuer} refused ${exchange.what}`, { secrets })
  }
}
