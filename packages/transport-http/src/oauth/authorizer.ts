import { type AbortOptions, type OnDiagnostic, TransportError } from '@atenea/mcpcompat'
import { abortable, linkSignals } from '@atenea/mcpcompat/transport'
import type { TokenEndpointResponse } from 'oauth4webapi'
import type { AuthChallenge } from '../auth/challenge.ts'
import type { AuthFields, Authorizer, AuthRefusal, RenewOptions } from '../authorizer.ts'
import { createFetchSend } from '../fetch-send.ts'
import { safeUrl } from '../safe-url.ts'
import type { HttpSend } from '../send.ts'
import type { OAuthClient } from './client-auth.ts'
import { discoverIssuer, discoverResource, type IssuerInfo, type ResourceInfo } from './discovery.ts'
import { type DpopKey, openDpopKey, supportsDpop } from './dpop.ts'
import { requestTokens, type Flow } from './flows/flow.ts'
import { OAuthError } from './oauth-error.ts'
import { OAuthHttp } from './oauth-http.ts'
import { type ClientIdentity, knownClient, registerClient, type RegistrationOptions } from './registration.ts'
import { covers } from './resource.ts'
import { challengedScopes, wantedScopes } from './scopes.ts'
import { createMemorySignInStore, type SignIn, type SignInStore } from './sign-in-store.ts'

export interface CreateOAuthAuthorizerOptions {
  /** Who we are for authorization servers. */
  readonly identity: ClientIdentity
  /** How to come to tokens when there are none, or none that do. Without one somebody has to sign in by other means. */
  readonly flow?: Flow | undefined
  /** Where sign-ins are kept. Default: in memory, for this authorizer. */
  readonly store?: SignInStore | undefined
  /** Asked for beside what the server wants. */
  readonly scopes?: readonly string[] | undefined
  /** What somebody has to do when nobody can be asked, for messages: `run: atenea-proxy login URL`. */
  readonly advice?: string | undefined
  /** How requests to authorization servers are made. Default: the platform's `fetch`. */
  readonly send?: HttpSend | undefined
  /**
   * How long a request waits for somebody to sign in. Then it fails and the sign-in goes on, for a later request to find. Default: as long as
   * the request and the sign-in last.
   */
  readonly waitMs?: number | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined
}

/** An authorizer that signs in by OAuth. Disposing it ends a sign-in that is under way. */
export interface OAuthAuthorizer extends Authorizer, Disposable {
  /** Why there is no token, as far as the last attempt to get one told; `undefined` while there is one or none was needed. */
  readonly failure: OAuthError | undefined
}

/** How long before its end a token counts as run out, so that it does not end on its way: at most so long, and a tenth of its time. */
const earlyMs = 30_000
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

/**
 * Has tokens for one server and gets new ones when it refuses them (MC-AUTH-02, -05 to -07): finds its authorization server, refreshes what
 * can be refreshed, and otherwise signs in by the given flow. Of several calls and processes that need tokens at once one gets them and
 * the others take what it left in the store. Tokens go to the resource that they were issued for and nowhere else.
 */
export function createOAuthAuthorizer(serverUrl: string | URL, options: CreateOAuthAuthorizerOptions): OAuthAuthorizer {
  return new Tokens(serverName(serverUrl), options)
}

/** The name under which the sign-in of a server is kept. */
export function serverName(url: string | URL): string {
  const parsed = new URL(url)
  parsed.hash = ''
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}

class Tokens implements OAuthAuthorizer {
  readonly #server: string
  readonly #options: CreateOAuthAuthorizerOptions
  readonly #store: SignInStore
  readonly #http: OAuthHttp
  readonly #now: () => number
  #loaded = false
  #current: SignIn | undefined
  /** Of the present sign-in. */
  #dpop: DpopKey | undefined
  #bearer: AuthFields = {}
  #busy: Promise<unknown> | undefined
  #failure: OAuthError | undefined
  /** Whether the present token was got by us and the server has not taken it yet. */
  #unproven = false
  readonly #life = new AbortController()
  /** Scopes of challenges that a sign-in of this process has tried to meet. */
  readonly #tried = new Set<string>()

  constructor(server: string, options: CreateOAuthAuthorizerOptions) {
    this.#server = server
    this.#options = options
    this.#store = options.store ?? createMemorySignInStore()
    this.#http = new OAuthHttp({ send: options.send ?? createFetchSend(), serverUrl: server })
    this.#now = options.now ?? Date.now
  }

  get failure(): OAuthError | undefined {
    return this.#failure
  }

  [Symbol.dispose](): void {
    this.#life.abort(new DOMException('The sign-in was given up', 'AbortError'))
  }

  fields(
    request: { readonly method: string; readonly url: string },
    options: AbortOptions,
  ): AuthFields | Promise<AuthFields> {
    if (!this.#loaded || this.#isOld(this.#current)) return this.#freshFields(request, options)
    return this.#fieldsOf(request)
  }

  saw({ status, headers }: Parameters<NonNullable<Authorizer['saw']>>[0], url: string): void {
    if (status !== 401) this.#unproven = false
    // Somebody who would not grant more has what there was.
    if (status < 300 && this.#current !== undefined) this.#failure = undefined
    const nonce = headers['dpop-nonce']
    if (nonce !== undefined) this.#dpop?.setNonce(url, nonce)
  }

  async renew(refusal: AuthRefusal, options: RenewOptions): Promise<boolean> {
    const { status, challenges, sent } = refusal
    if (status !== 401 && status !== 403) return false
    if (this.#wantsNonce(challenges)) return true
    if (status === 403 && !challenges.some(isScopeChallenge)) return false
    return await this.#alone(async (life) => {
      // Somebody else has got better ones meanwhile.
      if (sent !== undefined && this.#current !== undefined && sent !== valueOf(this.#current)) return true
      const { unattended = false } = options
      return status === 403
        ? await this.#stepUp(refusal, unattended, life)
        : await this.#obtain(refusal, unattended, life)
    }, options)
  }

  // what there is

  async #freshFields(
    request: { readonly method: string; readonly url: string },
    options: AbortOptions,
  ): Promise<AuthFields> {
    await this.#alone(async (life) => {
      if (!this.#loaded) await this.#take(await this.#usable())
      if (this.#isOld(this.#current)) await this.#refreshEarly(life)
    }, options)
    return await this.#fieldsOf(request)
  }

  #fieldsOf(request: { readonly method: string; readonly url: string }): AuthFields | Promise<AuthFields> {
    const current = this.#current
    // MC-AUTH-05
    if (current === undefined || !covers(current.resource, request.url)) return {}
    if (this.#dpop === undefined) return this.#bearer
    return this.#dpop
      .proof(request, current.accessToken)
      .then((dpop): AuthFields => ({ authorization: valueOf(current), dpop }))
  }

  #isOld(signIn: SignIn | undefined): boolean {
    if (signIn?.expiresAt === undefined || signIn.refreshToken === undefined) return false
    const early = Math.min(earlyMs, (signIn.expiresAt - signIn.issuedAt) / 10)
    return signIn.expiresAt - early <= this.#now()
  }

  /** What the store has for this server, if it was issued to the client that we are. */
  async #usable(): Promise<SignIn | undefined> {
    const kept = await this.#store.get(this.#server)
    const { clients = [] } = this.#options.identity
    if (kept === undefined || clients.length === 0) return kept
    return clients.some((client) => client.clientId === kept.clientId) ? kept : undefined
  }

  async #take(signIn: SignIn | undefined): Promise<void> {
    this.#dpop = signIn?.dpopKey === undefined ? undefined : await openDpopKey(signIn.dpopKey)
    this.#current = signIn
    this.#unproven = false
    if (signIn !== undefined) this.#failure = undefined
    this.#bearer = signIn === undefined ? {} : { authorization: valueOf(signIn) }
    this.#loaded = true
  }

  #wantsNonce(challenges: readonly AuthChallenge[]): boolean {
    // The nonce came with the same answer, and Endpoint bounds how often one request is made.
    return (
      this.#dpop !== undefined &&
      challenges.some(({ scheme, parameters }) => scheme === 'dpop' && parameters.get('error') === 'use_dpop_nonce')
    )
  }

  /**
   * One at a time in this process. What has begun goes on when the one who began it does not wait any more: others need it too, and a
   * person may be in the middle of it.
   */
  async #alone<T>(work: (life: AbortSignal) => Promise<T>, { signal }: AbortOptions): Promise<T> {
    const begun = this.#now()
    while (this.#busy !== undefined) {
      await this.#wait(
        this.#busy.catch(() => undefined),
        signal,
        begun,
      )
    }
    const life = this.#life.signal
    life.throwIfAborted()
    const run = work(life)
    this.#busy = run
    run.then(
      () => this.#settled(undefined),
      (error: unknown) => this.#settled(error),
    )
    return await this.#wait(run, signal, begun)
  }

  #settled(error: unknown): void {
    this.#busy = undefined
    if (OAuthError.is(error)) this.#failure = error
  }

  async #wait<T>(run: Promise<T>, signal: AbortSignal | undefined, begun: number): Promise<T> {
    const { waitMs } = this.#options
    if (waitMs === undefined) return await (signal === undefined ? run : abortable(run, signal))
    using limit = linkSignals([signal], { timeoutMs: Math.max(0, begun + waitMs - this.#now()) })
    try {
      return await abortable(run, limit.signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!limit.signal.aborted) throw error
      this.#failure = new OAuthError(
        'sign-in-needed',
        `Somebody has to finish signing in at ${safeUrl(this.#server)}, in the browser or where the code is shown. Then try again.`,
        { retryable: true },
      )
      throw this.#failure
    }
  }

  // getting better ones

  /** A token that is about to end is replaced before it does, by whoever comes first. */
  async #refreshEarly(signal: AbortSignal): Promise<void> {
    const before = this.#current
    if (before === undefined) return
    try {
      await this.#store.exclusive(
        this.#server,
        async () => {
          const kept = await this.#usable()
          if (kept === undefined || !this.#isOld(kept)) {
            await this.#take(kept)
            return
          }
          await this.#take(await this.#refreshed(kept, await this.#issuerOf(kept, signal), signal))
        },
        { signal },
      )
    } catch (error) {
      signal.throwIfAborted()
      if (!TransportError.is(error)) throw error
      const stillGood = before.expiresAt === undefined || before.expiresAt > this.#now()
      if (error.kind !== 'auth' && !stillGood) throw error
      // The server has the last word about the token that there is.
      this.#report('refresh-failed', error.message, error)
      if (!stillGood) await this.#take(withoutRefresh(before))
    }
  }

  async #stepUp(refusal: AuthRefusal, unattended: boolean, signal: AbortSignal): Promise<boolean> {
    const wanted = challengedScopes(refusal.challenges) ?? []
    const key = [...wanted].sort().join(' ')
    // Signing in again would bring the same.
    if (this.#tried.has(key)) return false
    const obtained = await this.#obtain(refusal, unattended, signal)
    this.#tried.add(key)
    return obtained
  }

  async #obtain(refusal: AuthRefusal, unattended: boolean, signal: AbortSignal): Promise<boolean> {
    const begun = this.#now()
    return await this.#store.exclusive(
      this.#server,
      async () => {
        const kept = await this.#usable()
        if (kept !== undefined && valueOf(kept) !== refusal.sent && !this.#isOld(kept)) {
          await this.#take(kept)
          return true
        }
        const { resource, issuer } = await this.#discover(refusal.challenges, kept, signal)
        const before = kept?.issuer === issuer.issuer && kept.resource === resource.resource ? kept : undefined
        if (refusal.status === 401 && before !== undefined && this.#unproven && valueOf(before) === refusal.sent) {
          throw new OAuthError(
            'refused',
            `${safeUrl(this.#server)} does not take the token that ${issuer.issuer} has just issued for it.`,
          )
        }
        if (refusal.status === 401 && before?.refreshToken !== undefined) {
          const refreshed = await this.#tryRefresh(before, issuer, signal)
          if (refreshed !== undefined) {
            await this.#take(refreshed)
            this.#unproven = true
            return true
          }
        }
        await this.#signInAnew(refusal, { resource, issuer, kept, before, begun, unattended, signal })
        return true
      },
      { signal },
    )
  }

  async #discover(
    challenges: readonly AuthChallenge[],
    kept: SignIn | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly resource: ResourceInfo; readonly issuer: IssuerInfo }> {
    const options = { http: this.#http, signal }
    const resource = await discoverResource(this.#server, challenges, options)
    const { clients = [] } = this.#options.identity
    const preferred = [kept?.issuer, ...clients.map((client) => client.issuer)]
    const ordered = [...resource.issuers].sort((a, b) => rank(preferred, a) - rank(preferred, b))
    let failure: unknown
    for (const name of ordered) {
      try {
        const legacy = resource.metadata === undefined
        return { resource, issuer: await discoverIssuer(name, { ...options, legacy }) }
      } catch (error) {
        signal.throwIfAborted()
        failure ??= error
      }
    }
    throw failure
  }

  async #issuerOf({ issuer, legacy = false }: SignIn, signal: AbortSignal): Promise<IssuerInfo> {
    return await discoverIssuer(issuer, { http: this.#http, signal, legacy })
  }

  async #tryRefresh(kept: SignIn, issuer: IssuerInfo, signal: AbortSignal): Promise<SignIn | undefined> {
    try {
      return await this.#refreshed(kept, issuer, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!OAuthError.is(error) || error.kind !== 'auth') throw error
      this.#report('refresh-failed', error.message, error)
      return undefined
    }
  }

  /** Refreshes and keeps what came before anybody else may look. */
  async #refreshed(kept: SignIn, issuer: IssuerInfo, signal: AbortSignal): Promise<SignIn> {
    const { refreshToken, resource } = kept
    if (refreshToken === undefined)
      throw new OAuthError('sign-in-needed', 'There is nothing to refresh the sign-in with.')
    const client = await this.#clientOf(kept, issuer)
    const dpop = kept.dpopKey === undefined ? undefined : await openDpopKey(kept.dpopKey)
    const tokens = await requestTokens({ http: this.#http, issuer, dpop: dpop?.handle, signal }, client, {
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
      ...this.#termsOf(tokens),
      // An authorization server that rotates gives a new one; one that does not leaves the old one good.
      refreshToken: tokens.refresh_token ?? refreshToken,
      scope: tokens.scope ?? kept.scope,
    }
    await this.#store.set(next)
    return next
  }

  /** The client to whom tokens were issued. */
  async #clientOf({ clientId, issuer: name }: SignIn, issuer: IssuerInfo): Promise<OAuthClient> {
    const known = await knownClient(issuer, this.#registration(undefined, this.#life.signal))
    if (known?.clientId === clientId) return known
    const registered = await this.#store.getClient(name)
    if (registered?.clientId === clientId) return registered
    throw new OAuthError('sign-in-needed', `The client that signed in at ${name} is not known here any more.`)
  }

  #registration(boundTo: SignIn | undefined, signal: AbortSignal): RegistrationOptions {
    return { identity: this.#options.identity, store: this.#store, http: this.#http, boundTo, signal }
  }

  async #signInAnew(refusal: AuthRefusal, about: NewSignIn): Promise<void> {
    const { resource, issuer, kept, before, begun, unattended, signal } = about
    const { flow } = this.#options
    if (flow === undefined || (flow.interactive && unattended)) throw this.#needed(refusal, issuer)
    const failure = await this.#store.getFailure(this.#server)
    if (
      flow.interactive &&
      failure !== undefined &&
      (failure.at >= begun || this.#now() - failure.at < failureStandsMs)
    ) {
      throw new OAuthError('sign-in-needed', `${failure.message} ${this.#advice}`)
    }
    const scopes = wantedScopes({
      before: [...(before?.requestedScopes ?? []), ...(this.#options.scopes ?? [])],
      challenged: challengedScopes(refusal.challenges),
      supported: resource.scopes,
      offline: flow.interactive,
      offered: issuer.metadata.scopes_supported,
    })
    const registration = this.#registration(kept, signal)
    const bound = resource.wantsDpop || refusal.challenges.some(({ scheme }) => scheme === 'dpop')
    const dpop =
      bound && supportsDpop(issuer.metadata.dpop_signing_alg_values_supported) ? await openDpopKey() : undefined
    try {
      const { client, tokens } = await flow.run({
        http: this.#http,
        serverUrl: this.#server,
        issuer,
        resource: resource.resource,
        scopes,
        dpop: dpop?.handle,
        signal,
        knownClient: async () => await knownClient(issuer, registration),
        register: async (wanted) => await registerClient(issuer, wanted, registration),
        forgetClient: async () => await this.#store.deleteClient(issuer.issuer),
      })
      const signIn: SignIn = {
        server: this.#server,
        resource: resource.resource,
        issuer: issuer.issuer,
        legacy: issuer.legacy,
        clientId: client.clientId,
        ...this.#termsOf(tokens),
        refreshToken: tokens.refresh_token,
        requestedScopes: scopes,
        scope: tokens.scope,
        ...(tokens.token_type === 'dpop' && { dpopKey: dpop?.jwk }),
        signedInAt: this.#now(),
      }
      await this.#store.set(signIn)
      await this.#store.setFailure(this.#server, undefined)
      await this.#take(signIn)
      this.#unproven = true
    } catch (error) {
      if (!signal.aborted && flow.interactive && OAuthError.is(error) && failuresThatStand.has(error.code)) {
        await this.#store.setFailure(this.#server, { at: this.#now(), code: error.code, message: error.message })
      }
      throw error
    }
  }

  #termsOf(tokens: TokenEndpointResponse): Pick<SignIn, 'accessToken' | 'tokenType' | 'issuedAt' | 'expiresAt'> {
    const { access_token: accessToken, token_type: type, expires_in: seconds } = tokens
    const now = this.#now()
    return {
      accessToken,
      tokenType: type === 'dpop' ? 'dpop' : 'bearer',
      issuedAt: now,
      expiresAt: seconds === undefined ? undefined : now + seconds * 1_000,
    }
  }

  #needed(refusal: AuthRefusal, { issuer }: IssuerInfo): OAuthError {
    const name = safeUrl(this.#server)
    const text =
      refusal.status === 403
        ? `${name} wants a sign-in at ${issuer} with more rights.`
        : refusal.sent === undefined
          ? `${name} wants a sign-in at ${issuer}.`
          : `The sign-in at ${name} has ended or was revoked.`
    return new OAuthError('sign-in-needed', `${text} ${this.#advice}`)
  }

  get #advice(): string {
    return this.#options.advice ?? 'Sign in anew.'
  }

  #report(code: string, message: string, cause: unknown): void {
    this.#options.onDiagnostic?.({ level: 'warning', code, message, cause })
  }
}

interface NewSignIn {
  readonly resource: ResourceInfo
  readonly issuer: IssuerInfo
  /** What there was, of whichever authorization server. */
  readonly kept: SignIn | undefined
  /** What there was of this one. */
  readonly before: SignIn | undefined
  /** When somebody began to wait for it. */
  readonly begun: number
  readonly unattended: boolean
  readonly signal: AbortSignal
}

/** The value of `Authorization`. */
function valueOf({ tokenType, accessToken }: SignIn): string {
  return `${tokenType === 'dpop' ? 'DPoP' : 'Bearer'} ${accessToken}`
}

function withoutRefresh(signIn: SignIn): SignIn {
  return { ...signIn, refreshToken: undefined }
}

function isScopeChallenge({ scheme, parameters }: AuthChallenge): boolean {
  return (scheme === 'bearer' || scheme === 'dpop') && parameters.get('error') === 'insufficient_scope'
}

function rank(preferred: readonly (string | undefined)[], issuer: string): number {
  const at = preferred.indexOf(issuer)
  return at === -1 ? preferred.length : at
}
