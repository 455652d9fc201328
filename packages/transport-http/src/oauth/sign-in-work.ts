import type { OnDiagnostic } from '@atenea/mcpcompat'
import type { AuthChallenge } from '../auth/challenge.ts'
import type { AuthRefusal } from '../authorizer.ts'
import { safeUrl } from '../safe-url.ts'
import { discoverIssuer, discoverResource, type IssuerInfo, type ResourceInfo } from './discovery.ts'
import { openDpopKey, supportsDpop } from './dpop.ts'
import { type Flow, requestTokens } from './flows/flow.ts'
import { OAuthError } from './oauth-error.ts'
import type { OAuthHttp } from './oauth-http.ts'
import {
  type ClientIdentity,
  clientOf,
  clientToKeep,
  knownClient,
  registerClient,
  type RegistrationOptions,
} from './registration.ts'
import { challengedScopes, wantedScopes } from './scopes.ts'
import type { FailedSignIn, SignIn, SignInStore } from './sign-in-store.ts'
import { tokenTerms } from './token-terms.ts'

export interface SignInWorkOptions {
  /** The name of the server in the store. */
  readonly server: string
  readonly identity: ClientIdentity
  readonly flow: Flow | undefined
  readonly store: SignInStore
  readonly scopes: readonly string[]
  readonly advice: string
  readonly http: OAuthHttp
  readonly onDiagnostic: OnDiagnostic | undefined
  readonly now: () => number
}

/** The server and its authorization server, as their metadata have them now. */
export interface Discovered {
  readonly resource: ResourceInfo
  readonly issuer: IssuerInfo
}

export interface NewSignIn extends Discovered {
  /** What there was, of whichever authorization server. */
  readonly kept: SignIn | undefined
  /** What there was of this one. */
  readonly before: SignIn | undefined
  /** When somebody began to wait for it. */
  readonly begun: number
  readonly unattended: boolean
  readonly signal: AbortSignal
}

/** How long a failed sign-in stands for those who would ask again at once. */
const failureStandsMs = 120_000
/** Failures of somebody who was asked. The others come before that, and can be gone with the next attempt. */
const failuresThatStand: ReadonlySet<string> = new Set([
  'denied',
  'sign-in-needed',
  'refused',
  'issuer-mismatch',
  'invalid-response',
])
/** Authorization servers of one server that are tried. */
const maxIssuers = 5

/** The steps by which the sign-in of one server is got, refreshed and kept. One at a time, and with the lock of the store. */
export class SignInWork {
  readonly #options: SignInWorkOptions
  /** What could not be kept; it is all that we have then. */
  #unsaved: SignIn | undefined
  #asksPerson = false

  constructor(options: SignInWorkOptions) {
    this.#options = options
  }

  /** Whether somebody is being asked to sign in. */
  get asksPerson(): boolean {
    return this.#asksPerson
  }

  /** What the store has for this server, if it was issued to the client that we are. */
  async usable(): Promise<SignIn | undefined> {
    const { store, server, identity } = this.#options
    const stored = await store.get(server)
    const unsaved = this.#unsaved
    const kept =
      unsaved !== undefined && !(stored !== undefined && stored.issuedAt > unsaved.issuedAt) ? unsaved : stored
    const { clients = [] } = identity
    if (kept === undefined || clients.length === 0) return kept
    return clients.some((client) => client.clientId === kept.clientId) ? kept : undefined
  }

  async discover(
    challenges: readonly AuthChallenge[],
    kept: SignIn | undefined,
    signal: AbortSignal,
  ): Promise<Discovered> {
    const { server, identity, http } = this.#options
    const resource = await discoverResource(server, challenges, { http, signal })
    const { clients = [] } = identity
    const preferred = [kept?.issuer, ...clients.map((client) => client.issuer)]
    const ordered = [...resource.issuers].sort((a, b) => rank(preferred, a) - rank(preferred, b))
    let failure: unknown
    for (const name of ordered.slice(0, maxIssuers)) {
      try {
        const legacy = resource.metadata === undefined
        return { resource, issuer: await discoverIssuer(name, { http, signal, legacy }) }
      } catch (error) {
        signal.throwIfAborted()
        failure ??= error
      }
    }
    throw failure
  }

  async issuerOf({ issuer, legacy = false }: SignIn, signal: AbortSignal): Promise<IssuerInfo> {
    return await discoverIssuer(issuer, { http: this.#options.http, signal, legacy })
  }

  /** Refreshes; `undefined` when the authorization server does not want that any more, so that somebody has to sign in. */
  async tryRefresh(kept: SignIn, issuer: IssuerInfo, signal: AbortSignal): Promise<SignIn | undefined> {
    try {
      return await this.refreshed(kept, issuer, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!OAuthError.is(error) || error.kind !== 'auth') throw error
      this.report('refresh-failed', error.message, error)
      if (error.reason === 'invalid_client') await this.#forgetClient(kept)
      return undefined
    }
  }

  /** Refreshes and keeps what came before anybody else may look. */
  async refreshed(kept: SignIn, issuer: IssuerInfo, signal: AbortSignal): Promise<SignIn> {
    const { http, now } = this.#options
    const { refreshToken, resource } = kept
    if (refreshToken === undefined)
      throw new OAuthError('sign-in-needed', 'There is nothing to refresh the sign-in with.')
    const client = await clientOf(kept, issuer, this.#registration(undefined, signal))
    if (client === undefined)
      throw new OAuthError('sign-in-needed', `The client that signed in at ${kept.issuer} is not known here any more.`)
    const dpop = kept.dpopKey === undefined ? undefined : await openDpopKey(kept.dpopKey)
    const tokens = await requestTokens({ http, issuer, dpop: dpop?.handle, signal }, client, {
      what: 'the refresh of the sign-in',
      request: (oauth, known, auth, options) =>
        oauth.refreshTokenGrantRequest(issuer.metadata, known, auth, refreshToken, {
          ...options,
          additionalParameters: { resource },
        }),
      read: (oauth, known, response) => oauth.processRefreshTokenResponse(issuer.metadata, known, response),
    })
    const next: SignIn = {
      ...kept,
      ...tokenTerms(tokens, issuer.issuer, now()),
      // An authorization server that rotates gives a new one; one that does not leaves the old one good.
      refreshToken: tokens.refresh_token ?? refreshToken,
      scope: tokens.scope ?? kept.scope,
    }
    await this.#keep(next)
    return next
  }

  /** Somebody, or a program, signs in. An `OAuthError` when nobody can be asked now, or when it came to nothing. */
  async signInAnew(refusal: AuthRefusal, about: NewSignIn): Promise<SignIn> {
    const { flow, store, server, now, http } = this.#options
    const { resource, issuer, kept, before, begun, unattended, signal } = about
    if (flow === undefined || (flow.interactive && unattended)) throw this.#needed(refusal, issuer)
    const failure = flow.interactive ? await store.getFailure(server) : undefined
    if (failure !== undefined && this.#stands(failure, begun)) {
      throw new OAuthError('sign-in-needed', `${failure.message} ${this.#options.advice}`)
    }
    const scopes = wantedScopes({
      before: [...(before?.requestedScopes ?? []), ...this.#options.scopes],
      challenged: challengedScopes(refusal.challenges),
      supported: resource.scopes,
      offline: flow.interactive,
      offered: issuer.metadata.scopes_supported,
    })
    const registration = this.#registration(kept, signal)
    const bound = resource.wantsDpop || refusal.challenges.some(({ scheme }) => scheme === 'dpop')
    const dpop =
      bound && supportsDpop(issuer.metadata.dpop_signing_alg_values_supported) ? await openDpopKey() : undefined
    this.#asksPerson = flow.interactive
    try {
      const { client, tokens } = await flow.run({
        http,
        serverUrl: server,
        issuer,
        resource: resource.resource,
        scopes,
        dpop: dpop?.handle,
        signal,
        knownClient: async () => await knownClient(issuer, registration),
        register: async (wanted) => await registerClient(issuer, wanted, registration),
        forgetClient: async () => await store.deleteClient(issuer.issuer),
      })
      const signIn: SignIn = {
        server,
        resource: resource.resource,
        issuer: issuer.issuer,
        legacy: issuer.legacy,
        clientId: client.clientId,
        client: clientToKeep(issuer.issuer, client),
        ...tokenTerms(tokens, issuer.issuer, now()),
        refreshToken: tokens.refresh_token,
        requestedScopes: scopes,
        scope: tokens.scope,
        ...(tokens.token_type === 'dpop' && { dpopKey: dpop?.jwk }),
        signedInAt: now(),
      }
      await this.#keep(signIn)
      if (failure !== undefined) await this.#remember(undefined)
      return signIn
    } catch (error) {
      if (!signal.aborted && flow.interactive && OAuthError.is(error) && failuresThatStand.has(error.code)) {
        await this.#remember({ at: now(), code: error.code, message: error.message })
      }
      throw error
    } finally {
      this.#asksPerson = false
    }
  }

  report(code: string, message: string, cause: unknown): void {
    this.#options.onDiagnostic?.({ level: 'warning', code, message, cause })
  }

  /** Tokens that have been issued must not be lost because a disk is full: what they replace is good for nothing any more. */
  async #keep(signIn: SignIn): Promise<void> {
    try {
      await this.#options.store.set(signIn)
      this.#unsaved = undefined
    } catch (error) {
      this.#unsaved = signIn
      const reason = error instanceof Error ? error.message : String(error)
      this.report('sign-in-not-kept', `The sign-in is good for this process only: ${reason}`, error)
    }
  }

  /** What came of asking somebody is more important than that others hear of it. */
  async #remember(failure: FailedSignIn | undefined): Promise<void> {
    const { store, server } = this.#options
    await store.setFailure(server, failure).catch((error: unknown) => {
      this.report('sign-in-not-kept', 'Other processes do not hear what came of the sign-in.', error)
    })
  }

  async #forgetClient({ issuer, clientId }: SignIn): Promise<void> {
    const { store } = this.#options
    if ((await store.getClient(issuer))?.clientId === clientId) await store.deleteClient(issuer)
  }

  /** Whether nobody is to be asked again so soon. A clock that was put back makes no failure last. */
  #stands({ at }: FailedSignIn, begun: number): boolean {
    const age = this.#options.now() - at
    return age >= 0 && (at >= begun || age < failureStandsMs)
  }

  #registration(boundTo: SignIn | undefined, signal: AbortSignal): RegistrationOptions {
    const { identity, store, http } = this.#options
    return { identity, store, http, boundTo, signal }
  }

  #needed(refusal: AuthRefusal, { issuer }: IssuerInfo): OAuthError {
    const { server, advice } = this.#options
    const name = safeUrl(server)
    const text =
      refusal.status === 403
        ? `${name} wants a sign-in at ${issuer} with more rights.`
        : refusal.sent === undefined
          ? `${name} wants a sign-in at ${issuer}.`
          : `The sign-in at ${name} has ended or was revoked.`
    return new OAuthError('sign-in-needed', `${text} ${advice}`)
  }
}

function rank(preferred: readonly (string | undefined)[], issuer: string): number {
  const at = preferred.indexOf(issuer)
  return at === -1 ? preferred.length : at
}
