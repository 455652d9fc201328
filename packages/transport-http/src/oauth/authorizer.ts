import { type AbortOptions, type OnDiagnostic, TransportError } from '@atenea/mcpcompat'
import { abortable, linkSignals } from '@atenea/mcpcompat/transport'
import type { AuthChallenge } from '../auth/challenge.ts'
import type { AuthFields, Authorizer, AuthRefusal, RenewOptions } from '../authorizer.ts'
import { createFetchSend } from '../fetch-send.ts'
import { safeUrl } from '../safe-url.ts'
import type { HttpSend } from '../send.ts'
import { type DpopKey, openDpopKey } from './dpop.ts'
import type { Flow } from './flows/flow.ts'
import { OAuthError } from './oauth-error.ts'
import { OAuthHttp } from './oauth-http.ts'
import type { ClientIdentity } from './registration.ts'
import { covers } from './resource.ts'
import { challengedScopes } from './scopes.ts'
import { SignInWork } from './sign-in-work.ts'
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
  /** Whether the store has tokens that the server has not refused, such as those of somebody who signed in elsewhere since `failure`. */
  hasOther(): Promise<boolean>
}

/** How long before its end a token counts as run out, so that it does not end on its way: at most so long, and a tenth of its time. */
const earlyMs = 30_000
/** Pause after an early refresh that failed, while the token is still good. */
const earlyPauseMs = 10_000
/** More rights are asked for no more often than this, whatever scopes a server comes up with. */
const maxStepUps = 5
const stepUpWindowMs = 10 * 60_000

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
  readonly #store: SignInStore
  readonly #work: SignInWork
  readonly #waitMs: number | undefined
  readonly #now: () => number
  #loaded = false
  #current: SignIn | undefined
  /** Of the present sign-in. */
  #dpop: DpopKey | undefined
  #bearer: AuthFields = {}
  #busy: Promise<unknown> | undefined
  #failure: OAuthError | undefined
  /** What was refused when nothing better could be got. */
  #refused: string | undefined
  /** Whether the present token was got by us and the server has not taken it yet. */
  #unproven = false
  /** Whether authorization servers are being talked to, and nobody else is waited for. */
  #talks = false
  /** No early refresh before this time. */
  #earlyFrom = 0
  readonly #life = new AbortController()
  /** Scopes of challenges that a sign-in of this process has tried to meet. */
  readonly #tried = new Set<string>()
  /** When the last of these were. */
  readonly #stepUps: number[] = []

  constructor(server: string, options: CreateOAuthAuthorizerOptions) {
    const { identity, flow, scopes = [], advice = 'Sign in anew.', onDiagnostic } = options
    this.#server = server
    this.#store = options.store ?? createMemorySignInStore()
    this.#waitMs = options.waitMs
    this.#now = options.now ?? Date.now
    this.#work = new SignInWork({
      server,
      identity,
      flow,
      scopes,
      advice,
      onDiagnostic,
      store: this.#store,
      http: new OAuthHttp({ send: options.send ?? createFetchSend(), serverUrl: server }),
      now: this.#now,
    })
  }

  get failure(): OAuthError | undefined {
    return this.#failure
  }

  async hasOther(): Promise<boolean> {
    const kept = await this.#work.usable()
    return kept !== undefined && valueOf(kept) !== this.#refused
  }

  [Symbol.dispose](): void {
    this.#life.abort(new DOMException('The sign-in was given up', 'AbortError'))
  }

  fields(
    request: { readonly method: string; readonly url: string },
    options: AbortOptions,
  ): AuthFields | Promise<AuthFields> {
    if (!this.#loaded || this.#isDue()) return this.#freshFields(request, options)
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
      try {
        return status === 403
          ? await this.#stepUp(refusal, unattended, life)
          : await this.#obtain(refusal, unattended, life)
      } catch (error) {
        this.#refused = sent
        throw error
      }
    }, options)
  }

  // what there is

  async #freshFields(
    request: { readonly method: string; readonly url: string },
    options: AbortOptions,
  ): Promise<AuthFields> {
    await this.#alone(async (life) => {
      if (!this.#loaded) await this.#take(await this.#found())
      if (this.#isDue()) await this.#refreshEarly(life)
    }, options)
    return await this.#fieldsOf(request)
  }

  /** What there is at the start. Where nothing can be read a server may still want no token at all. */
  async #found(): Promise<SignIn | undefined> {
    try {
      return await this.#work.usable()
    } catch (error) {
      if (!OAuthError.is(error)) throw error
      this.#work.report('sign-ins-unreadable', error.message, error)
      return undefined
    }
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

  /** Whether the present token is to be replaced before it is used. */
  #isDue(): boolean {
    return this.#isOld(this.#current) && this.#now() >= Math.min(this.#earlyFrom, this.#current?.expiresAt ?? 0)
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
      const failure = await this.#wait(
        this.#busy.then(
          () => undefined,
          (error: unknown) => error,
        ),
        signal,
        begun,
      )
      // It is no better a moment later, and everybody would wait for that in turn.
      if (OAuthError.is(failure) && failure.code === 'unreachable') throw failure
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
    const waitMs = this.#waitMs
    if (waitMs === undefined) return await (signal === undefined ? run : abortable(run, signal))
    using limit = linkSignals([signal], { timeoutMs: Math.max(0, begun + waitMs - this.#now()) })
    try {
      return await abortable(run, limit.signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!limit.signal.aborted) throw error
      this.#failure =
        this.#talks && !this.#work.asksPerson
          ? new OAuthError(
              'unreachable',
              `Signing in at ${safeUrl(this.#server)} takes longer than ${waitMs / 1_000} s.`,
            )
          : new OAuthError(
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
      await this.#exclusive(signal, async () => {
        const kept = await this.#work.usable()
        if (kept === undefined || !this.#isOld(kept)) await this.#take(kept)
        else await this.#take(await this.#work.refreshed(kept, await this.#work.issuerOf(kept, signal), signal))
      })
    } catch (error) {
      signal.throwIfAborted()
      if (!TransportError.is(error)) throw error
      const stillGood = before.expiresAt === undefined || before.expiresAt > this.#now()
      if (error.kind !== 'auth' && !stillGood) throw error
      // The server has the last word about the token that there is.
      this.#work.report('refresh-failed', error.message, error)
      this.#earlyFrom = this.#now() + earlyPauseMs
      if (!stillGood) await this.#take(withoutRefresh(before))
    }
  }

  async #stepUp(refusal: AuthRefusal, unattended: boolean, signal: AbortSignal): Promise<boolean> {
    const wanted = challengedScopes(refusal.challenges) ?? []
    const key = [...wanted].sort().join(' ')
    // Signing in again would bring the same.
    if (this.#tried.has(key)) return false
    const now = this.#now()
    const oldest = this.#stepUps.at(-maxStepUps)
    if (oldest !== undefined && Math.abs(now - oldest) < stepUpWindowMs) return false
    const obtained = await this.#obtain(refusal, unattended, signal)
    this.#tried.add(key)
    this.#stepUps.splice(0, this.#stepUps.length - maxStepUps + 1)
    this.#stepUps.push(now)
    return obtained
  }

  async #obtain(refusal: AuthRefusal, unattended: boolean, signal: AbortSignal): Promise<boolean> {
    const begun = this.#now()
    return await this.#exclusive(signal, async () => {
      const kept = await this.#work.usable()
      if (kept !== undefined && valueOf(kept) !== refusal.sent && !this.#isOld(kept)) {
        await this.#take(kept)
        return true
      }
      const { resource, issuer } = await this.#work.discover(refusal.challenges, kept, signal)
      const before = kept?.issuer === issuer.issuer && kept.resource === resource.resource ? kept : undefined
      if (refusal.status === 401 && before !== undefined && this.#unproven && valueOf(before) === refusal.sent) {
        throw new OAuthError(
          'refused',
          `${safeUrl(this.#server)} does not take the token that ${issuer.issuer} has just issued for it.`,
        )
      }
      const refreshed =
        refusal.status === 401 && before?.refreshToken !== undefined
          ? await this.#work.tryRefresh(before, issuer, signal)
          : undefined
      const about = { resource, issuer, kept, before, begun, unattended, signal }
      await this.#take(refreshed ?? (await this.#work.signInAnew(refusal, about)))
      this.#unproven = true
      return true
    })
  }

  /** With the lock of the store: what is read then is what the last one left. */
  async #exclusive<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const locked = async (): Promise<T> => {
      this.#talks = true
      try {
        return await work()
      } finally {
        this.#talks = false
      }
    }
    return await this.#store.exclusive(this.#server, locked, { signal })
  }
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
