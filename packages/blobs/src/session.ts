import { BlobError } from './blob-error.ts'
import type { OnBlobDiagnostic } from './diagnostics.ts'
import type { AbortOptions } from './abort.ts'
import type { HttpClient } from './http-client.ts'
import type { IdentityResolver } from './identity.ts'
import { createSingleFlight } from './single-flight.ts'
import { answerError, type JsonRecord, readJson, stringOf, xrpcUrl } from './xrpc.ts'

/** An account by its app password. */
export interface PasswordAccount {
  /** DID or handle. */
  readonly identifier: string
  /** An app password. That of the account works as well and may do far more. */
  readonly password: string
}

/** What a token is asked for. */
export interface TokenRequest extends AbortOptions {
  readonly did: string
  /** Origin of the PDS that gets it. */
  readonly pds: string
  /** The only method that it is used for: `com.atproto.repo.uploadBlob`. */
  readonly lxm: string
}

/** An account by tokens that somebody else gets, such as service tokens that are good for uploads only. */
export interface TokenAccount {
  readonly did: string
  /** A token, or a function that gives one whenever it is needed. */
  readonly token: string | ((request: TokenRequest) => string | Promise<string>)
}

export type UploadAccount = PasswordAccount | TokenAccount

/** Leave to upload. */
export interface Authorized {
  readonly did: string
  /** Origin of the PDS of the account, from its DID document. */
  readonly pds: string
  readonly token: string
}

/** Gets leave to upload for one account. */
export interface Session {
  authorize(options: AbortOptions): Promise<Authorized>
  /** Leave again after a token was refused. Throws when there is no way to a new one. */
  renew(refused: Authorized, options: AbortOptions): Promise<Authorized>
  /** What must not be seen in an error. */
  readonly secrets: readonly string[]
}

export interface SessionDependencies {
  readonly http: HttpClient
  readonly identity: IdentityResolver
  /** Milliseconds for one request. */
  readonly timeoutMs: number
  readonly onDiagnostic: OnBlobDiagnostic
}

const uploadMethod = 'com.atproto.repo.uploadBlob'

/** The session of an account. Nothing is sent before leave is asked for. */
export function createSession(account: UploadAccount, dependencies: SessionDependencies): Session {
  return 'password' in account
    ? createPasswordSession(account, dependencies)
    : createTokenSession(account, dependencies)
}

function createTokenSession({ did, token }: TokenAccount, { identity }: SessionDependencies): Session {
  let last = typeof token === 'string' ? token : ''

  async function authorize({ signal }: AbortOptions): Promise<Authorized> {
    const pds = await identity.pdsOf(did, { signal })
    if (typeof token === 'function') last = await token({ did, pds, lxm: uploadMethod, signal })
    return { did, pds, token: last }
  }

  return {
    authorize,
    async renew(_, options) {
      if (typeof token === 'function') return await authorize(options)
      throw new BlobError('auth', `the token for ${did} was refused; it may have expired`)
    },
    get secrets() {
      return [last]
    },
  }
}

/** What app passwords look like. */
const appPassword = /^[a-z0-9]{4}(?:-[a-z0-9]{4}){3}$/

interface Tokens extends Authorized {
  readonly refresh: string
}

const maxAnswerBytes = 256 * 1024

function createPasswordSession(account: PasswordAccount, dependencies: SessionDependencies): Session {
  const { http, identity, timeoutMs, onDiagnostic } = dependencies
  const { identifier, password } = account
  const flight = createSingleFlight<Tokens, Tokens>({ take: (value) => value })
  let tokens: Tokens | undefined
  if (!appPassword.test(password)) {
    const message = `the password for ${identifier} is not an app password (xxxx-xxxx-xxxx-xxxx). Make one: it can be revoked alone.`
    onDiagnostic({ level: 'warning', code: 'not-an-app-password', message })
  }

  const secrets = (): string[] => [password, tokens?.token ?? '', tokens?.refresh ?? '']

  async function post(pds: string, method: string, { body, token, signal }: PostOptions): Promise<JsonRecord> {
    const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const response = await http.request({
      method: 'POST',
      url: xrpcUrl(pds, method),
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: { size: bytes.length, chunks: [bytes] },
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      timeoutMs,
      idleMs: timeoutMs,
      signal,
    })
    if (response.status !== 200) throw await answerError(response, secrets())
    return await readJson(response)
  }

  function tokensOf(answer: JsonRecord, pds: string, did: string): Tokens {
    const token = stringOf(answer, 'accessJwt')
    const refresh = stringOf(answer, 'refreshJwt')
    if (token === undefined || refresh === undefined || stringOf(answer, 'did') !== did) {
      throw new BlobError('bad-answer', `${pds} opened a session that is none of ${did}`, { details: { source: pds } })
    }
    return { did, pds, token, refresh }
  }

  async function logIn(signal: AbortSignal): Promise<Tokens> {
    const did = identifier.startsWith('did:') ? identifier : (await identity.resolve(identifier, { signal })).did
    const pds = await identity.pdsOf(did, { signal })
    const body = { identifier: did, password }
    tokens = tokensOf(await post(pds, 'com.atproto.server.createSession', { body, signal }), pds, did)
    return tokens
  }

  async function refresh({ did, pds, refresh: token }: Tokens, signal: AbortSignal): Promise<Tokens> {
    try {
      tokens = tokensOf(await post(pds, 'com.atproto.server.refreshSession', { token, signal }), pds, did)
      return tokens
    } catch (error) {
      if (!BlobError.is(error) || error.kind !== 'auth') throw error
      tokens = undefined
      return await logIn(signal)
    }
  }

  return {
    authorize: async ({ signal }) => tokens ?? (await flight('session', logIn, { signal })),
    async renew(refused, { signal }) {
      const current = tokens
      // Somebody else was faster.
      if (current !== undefined && current.token !== refused.token) return current
      return await flight('session', (stop) => (current === undefined ? logIn(stop) : refresh(current, stop)), {
        signal,
      })
    },
    get secrets() {
      return secrets()
    },
  }
}

interface PostOptions extends AbortOptions {
  readonly body?: JsonRecord
  readonly token?: string
}
