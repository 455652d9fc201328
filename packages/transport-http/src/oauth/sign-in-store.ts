import type { AbortOptions, JsonObject } from '@atenea/mcpcompat'
import type { ClientAuthMethod } from './client-auth.ts'

/** What is kept of a sign-in at one server. */
export interface SignIn {
  /** The URL of the server. */
  readonly server: string
  /** The protected resource that the tokens are for, as its metadata write it. */
  readonly resource: string
  readonly issuer: string
  /** Whether the server has no metadata as a resource (see `IssuerInfo.legacy`). */
  readonly legacy?: boolean | undefined
  /** To whom the tokens were issued. */
  readonly clientId: string
  /** The same with what it needs to show who it is, if the authorization server registered it for us. */
  readonly client?: RegisteredClient | undefined
  readonly accessToken: string
  readonly tokenType: 'bearer' | 'dpop'
  /** When the access token was issued, in milliseconds since 1970. */
  readonly issuedAt: number
  /** When the access token runs out, in milliseconds since 1970; `undefined` when that was not said. */
  readonly expiresAt?: number | undefined
  readonly refreshToken?: string | undefined
  /** All scopes that were asked for so far. */
  readonly requestedScopes?: readonly string[] | undefined
  /** What was granted, where it was said. */
  readonly scope?: string | undefined
  /** The private key that the tokens are bound to, as JWK. */
  readonly dpopKey?: JsonObject | undefined
  /** When somebody signed in, in milliseconds since 1970. */
  readonly signedInAt: number
}

/** A client that an authorization server registered for us, or that a user gave for it. It is good for this issuer alone (MC-AUTH-07). */
export interface RegisteredClient {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** When the secret runs out, in milliseconds since 1970. */
  readonly secretExpiresAt?: number | undefined
  readonly authMethod: ClientAuthMethod
  /** Exactly as registered. */
  readonly redirectUri?: string | undefined
}

/** A sign-in that came to nothing, so that those who waited for it do not all ask the user again. */
export interface FailedSignIn {
  readonly at: number
  readonly code: string
  readonly message: string
}

/** Keeps sign-ins, each by the URL of its server, and clients, each by its issuer. One store may be shared by several processes. */
export interface SignInStore {
  get(server: string): Promise<SignIn | undefined>
  set(signIn: SignIn): Promise<void>
  delete(server: string): Promise<void>
  list(): Promise<readonly SignIn[]>
  getClient(issuer: string): Promise<RegisteredClient | undefined>
  setClient(client: RegisteredClient): Promise<void>
  deleteClient(issuer: string): Promise<void>
  getFailure(server: string): Promise<FailedSignIn | undefined>
  setFailure(server: string, failure: FailedSignIn | undefined): Promise<void>
  /**
   * Runs `work` while nobody else, in this process or another, runs any for the same server. What is read inside is what the last one
   * left. Rejects with the reason of the signal while it waits.
   */
  exclusive<T>(server: string, work: () => Promise<T>, options?: AbortOptions): Promise<T>
}

/** Keeps sign-ins for the time of the process. */
export function createMemorySignInStore(): SignInStore {
  const signIns = new Map<string, SignIn>()
  const clients = new Map<string, RegisteredClient>()
  const failures = new Map<string, FailedSignIn>()
  const queues = new Map<string, Promise<unknown>>()
  return {
    get: async (server) => signIns.get(server),
    set: async (signIn) => void signIns.set(signIn.server, signIn),
    delete: async (server) => void signIns.delete(server),
    list: async () => [...signIns.values()],
    getClient: async (issuer) => clients.get(issuer),
    setClient: async (client) => void clients.set(client.issuer, client),
    deleteClient: async (issuer) => void clients.delete(issuer),
    getFailure: async (server) => failures.get(server),
    setFailure: async (server, failure) =>
      void (failure === undefined ? failures.delete(server) : failures.set(server, failure)),
    async exclusive(server, work, { signal } = {}) {
      const before = queues.get(server)
      const run = (async () => {
        await before?.catch(() => undefined)
        signal?.throwIfAborted()
        return await work()
      })()
      queues.set(server, run)
      try {
        return await run
      } finally {
        if (queues.get(server) === run) queues.delete(server)
      }
    },
  }
}
