import { type AbortOptions, isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { AuthorizationServer } from 'oauth4webapi'
import { authMethodOf, type ClientAuthMethod, type OAuthClient } from './client-auth.ts'
import type { IssuerInfo } from './discovery.ts'
import { answerFailure } from './answer-failure.ts'
import { OAuthError } from './oauth-error.ts'
import type { OAuthHttp } from './oauth-http.ts'
import type { RegisteredClient, SignIn, SignInStore } from './sign-in-store.ts'
import { momentOf } from './token-terms.ts'

/** A client that was registered by hand. */
export interface StaticClient extends OAuthClient {
  /** Where it was registered. Without it the first authorization server that is met counts, and no other. */
  readonly issuer?: string | undefined
}

/** Who we are for authorization servers. */
export interface ClientIdentity {
  /** Shown to the one who signs in. */
  readonly name: string
  /** Where people can read about us. */
  readonly uri?: string | undefined
  /** Clients that were registered by hand; they come first. */
  readonly clients?: readonly StaticClient[] | undefined
  /** The URL of our client-ID metadata document; used where the authorization server takes such. */
  readonly metadataUrl?: string | undefined
  /** Default `native`: a program on somebody's machine. */
  readonly applicationType?: 'native' | 'web' | undefined
}

export interface RegistrationOptions extends AbortOptions {
  readonly identity: ClientIdentity
  readonly store: SignInStore
  readonly http: OAuthHttp
  /** The sign-in that there was at this server. */
  readonly boundTo: Pick<SignIn, 'issuer' | 'clientId'> | undefined
}

/** A client, with where the browser comes back to if that is fixed. */
export interface FlowClient extends OAuthClient {
  readonly redirectUri?: string | undefined
  /** Whether the authorization server made it for us, so that it can be made again. */
  readonly registered?: boolean | undefined
}

/** What a flow needs of its client. */
export interface Registration {
  readonly grantTypes: readonly string[]
  /** Where the browser comes back to, in flows with a browser. */
  readonly redirectUri: string | undefined
}

/** Which client there is before anything is registered. */
export async function knownClient(
  { issuer, metadata }: IssuerInfo,
  { identity, store, boundTo }: RegistrationOptions,
): Promise<FlowClient | undefined> {
  const given = staticClient(issuer, identity, boundTo)
  if (given !== undefined) return given
  if (identity.metadataUrl !== undefined && metadata['client_id_metadata_document_supported'] === true) {
    return { clientId: identity.metadataUrl, authMethod: 'none' }
  }
  const stored = await store.getClient(issuer)
  if (stored === undefined) return undefined
  if (stored.secretExpiresAt === undefined || stored.secretExpiresAt > Date.now())
    return { ...stored, registered: true }
  await store.deleteClient(issuer)
  return undefined
}

/**
 * The client to whom the tokens of a sign-in were issued; `undefined` when it is not known any more. One that was registered is kept with the
 * sign-in: another may have been registered since for another server of the same issuer.
 */
export async function clientOf(
  signIn: SignIn,
  issuer: IssuerInfo,
  options: Omit<RegistrationOptions, 'boundTo'>,
): Promise<OAuthClient | undefined> {
  if (signIn.client !== undefined) return signIn.client
  const known = await knownClient(issuer, { ...options, boundTo: undefined })
  return known?.clientId === signIn.clientId ? known : undefined
}

/** What is kept of a client with the tokens that were issued to it. */
export function clientToKeep(issuer: string, client: FlowClient): RegisteredClient | undefined {
  if (client.registered !== true) return undefined
  const { clientId, clientSecret, redirectUri, authMethod = 'none' } = client
  return { issuer, clientId, clientSecret, redirectUri, authMethod }
}

function staticClient(
  issuer: string,
  { clients = [] }: ClientIdentity,
  boundTo: RegistrationOptions['boundTo'],
): OAuthClient | undefined {
  const own = clients.find((client) => client.issuer === issuer)
  if (own !== undefined) return own
  const unbound = clients.find((client) => client.issuer === undefined)
  if (unbound === undefined) {
    if (clients.length === 0) return undefined
    const known = clients.map((client) => client.issuer).join(', ')
    throw new OAuthError('foreign-client', `The configured client belongs to ${known}, but the server wants ${issuer}.`)
  }
  // The credentials go to the authorization server that they were first used with, and to no other (MC-AUTH-07).
  if (boundTo !== undefined && boundTo.clientId === unbound.clientId && boundTo.issuer !== issuer) {
    throw new OAuthError(
      'foreign-client',
      `The configured client was used with ${boundTo.issuer} so far, but the server wants ${issuer} now. Configure a client with its issuer.`,
    )
  }
  return unbound
}

/** Introduces us to the authorization server (RFC 7591) and keeps the client that it made. */
export async function registerClient(
  { issuer, metadata }: IssuerInfo,
  registration: Registration,
  options: RegistrationOptions,
): Promise<FlowClient> {
  const { identity, store } = options
  if (metadata.registration_endpoint === undefined) {
    const documents =
      metadata['client_id_metadata_document_supported'] === true
        ? 'It takes client-ID metadata documents: configure the URL of one, or a client that you registered there.'
        : 'Register a client there and configure its id.'
    throw new OAuthError('no-registration', `${issuer} does not register clients by itself. ${documents}`)
  }
  const { redirectUri, grantTypes } = registration
  const made = await post(issuer, metadata.registration_endpoint, options, {
    client_name: identity.name,
    ...(identity.uri !== undefined && { client_uri: identity.uri }),
    application_type: identity.applicationType ?? 'native',
    grant_types: grantTypes,
    token_endpoint_auth_method: registrationMethod(metadata),
    response_types: redirectUri === undefined ? [] : ['code'],
    ...(redirectUri !== undefined && { redirect_uris: [redirectUri] }),
  })
  const { client_id: clientId, client_secret: secret, client_secret_expires_at: expires } = made
  if (typeof clientId !== 'string' || clientId === '') {
    throw new OAuthError('invalid-response', `${issuer} registered us and gave no client id.`)
  }
  const clientSecret = typeof secret === 'string' ? secret : undefined
  const method = made['token_endpoint_auth_method']
  const client = {
    issuer,
    clientId,
    clientSecret,
    secretExpiresAt: typeof expires === 'number' ? momentOf(expires) : undefined,
    authMethod: isMethod(method) ? method : authMethodOf({ clientId, clientSecret }, metadata),
    redirectUri,
  }
  await store.setClient(client)
  return { ...client, registered: true }
}

/** Many servers leave out what the answer should hold, so that it is read here and not by the library. */
async function post(
  issuer: string,
  url: string,
  { http, signal }: RegistrationOptions,
  metadata: JsonObject,
): Promise<JsonObject> {
  const response = await http.fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
    signal,
  })
  const answer: unknown = await response.json().catch(() => undefined)
  const found = isJsonObject(answer as JsonValue) ? (answer as JsonObject) : {}
  if (response.status === 200 || response.status === 201) return found
  throw answerFailure(
    Object.assign(new Error(`it answered with ${response.status}`), found),
    `${issuer} did not register us`,
    { refused: 'no-registration' },
  )
}

/** How we offer to show who we are: a program on somebody's machine keeps no secret, so not at all where that is taken. */
function registrationMethod(metadata: AuthorizationServer): ClientAuthMethod {
  const taken = metadata.token_endpoint_auth_methods_supported
  if (taken === undefined || taken.includes('none')) return 'none'
  return taken.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post'
}

function isMethod(value: unknown): value is ClientAuthMethod {
  return value === 'none' || value === 'client_secret_basic' || value === 'client_secret_post'
}

/** What every request of the library carries. The URLs have been checked by us, who allow `http` on this machine. */
export function requestOptions(
  oauth: typeof import('oauth4webapi'),
  http: OAuthHttp,
): { readonly [key: symbol]: unknown } {
  // oxlint-disable-next-line typescript/no-deprecated -- the name is a warning, and our own guard lets http through on this machine only
  return { [oauth.customFetch]: http.fetch, [oauth.allowInsecureRequests]: true }
}
