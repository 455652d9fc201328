import { printErr, type Redactor } from '@atenea/cli'
import type { OnDiagnostic } from '@atenea/mcpcompat'
import type { AuthFields, Authorizer, HttpSend } from '@atenea/transport-http'
import {
  type ClientIdentity,
  createClientCredentialsFlow,
  createMemorySignInStore,
  createOAuthAuthorizer,
  type Flow,
  OAuthError,
  type OAuthAuthorizer,
  type SignInStore,
} from '@atenea/transport-http/oauth'
import {
  createFileSignInStore,
  createPersonFlow,
  createTokenFileAuthorizer,
  hasBrowser,
  signInPromptText,
} from '@atenea/transport-http/oauth/node'
import { signInFolder } from './sign-in-folder.ts'
import type { SignInSetting } from './sign-in-setting.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface SignInSurroundings {
  readonly environment: Environment
  readonly redactor: Redactor
  readonly send: HttpSend
  readonly onDiagnostic: OnDiagnostic
  /** The configuration that names the servers, as the user gave it. */
  readonly config: string | undefined
}

const program = 'atenea-proxy'

/** A request of a client waits no longer for a person: clients give up after a minute. */
const waitMs = 45_000

/** Where the sign-ins of this user are; in memory where there is no home directory, as in a container. */
export function signInStore(environment: Environment): SignInStore {
  try {
    return createFileSignInStore(signInFolder(environment))
  } catch {
    return createMemorySignInStore()
  }
}

export function identityOf({ client, clientMetadataUrl }: SignInSetting): ClientIdentity {
  return {
    name: 'Atenea proxy',
    metadataUrl: clientMetadataUrl,
    clients:
      client === undefined
        ? undefined
        : [
            {
              clientId: client.id,
              clientSecret: client.secret,
              privateKeyPem: client.privateKey,
              algorithm: client.algorithm,
              issuer: client.issuer,
            },
          ],
  }
}

/** A server to sign in at. */
export interface SignInTarget {
  /** The name that the proxy has for it. */
  readonly name: string
  readonly url: string
  readonly setting: SignInSetting
}

/** Signs in at one server as its setting says. `asks` is for somebody who waits at a terminal for nothing else. */
export function createSignIn(
  target: SignInTarget,
  { environment, redactor, send, onDiagnostic, config }: SignInSurroundings,
  asks = false,
): OAuthAuthorizer {
  const { url, setting } = target
  redactor.add(setting.client?.secret)
  redactor.add(setting.client?.privateKey)
  return createOAuthAuthorizer(url, {
    identity: identityOf(setting),
    flow: flowOf(setting, environment, asks),
    store: signInStore(environment),
    scopes: setting.scopes,
    advice: `Run: ${loginCommand(target, config)}`,
    waitMs: asks ? undefined : waitMs,
    send,
    onDiagnostic,
  })
}

/** What somebody has to type to sign in as the proxy would. */
function loginCommand({ name, url, setting }: SignInTarget, config: string | undefined): string {
  if (config !== undefined) return `${program} login --config ${config} ${name}`
  // Clients read this, and a query can hold a key.
  const shown = new URL(url).search === '' ? url : `'${withoutQuery(url)}?…', with the whole URL`
  return `${program} login ${shown}${setting.client === undefined ? '' : ', with the same --oauth flags'}`
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

function flowOf({ way }: SignInSetting, environment: Environment, asks: boolean): Flow | undefined {
  if (way === 'never') return undefined
  if (way === 'client') return createClientCredentialsFlow()
  const canAsk = asks || hasBrowser(environment) || process.stderr.isTTY
  if (way === 'auto' && !canAsk) return undefined
  return createPersonFlow({ way, name: program, environment, tell: (prompt) => printErr(signInPromptText(prompt)) })
}

/** The authorizers of the servers behind a proxy, each of which serves all connections to its server. */
export class SignIns implements Disposable {
  readonly #around: SignInSurroundings
  #looks = 0
  readonly #known = new Map<string, { readonly authorizer: Authorizer; readonly oauth: OAuthAuthorizer | undefined }>()

  constructor(around: SignInSurroundings) {
    this.#around = around
  }

  /** What authorizes requests to a server, by the name that the proxy has for it. */
  of(target: SignInTarget): Authorizer {
    const { name, setting } = target
    const known = this.#known.get(name)
    if (known !== undefined) return known.authorizer
    const oauth = setting.tokenFile === undefined ? createSignIn(target, this.#around) : undefined
    const authorizer = this.#hidden(name, oauth ?? createTokenFileAuthorizer(setting.tokenFile ?? ''))
    this.#known.set(name, { authorizer, oauth })
    return authorizer
  }

  /** Why somebody has to sign in at a server; `undefined` when nobody has to, as far as known. */
  needed(name: string): string | undefined {
    const failure = this.#known.get(name)?.oauth?.failure
    return OAuthError.is(failure) && failure.kind === 'auth' ? failure.message : undefined
  }

  /** The servers at which somebody has to sign in, and has not done so elsewhere either: to look at them brings nothing. */
  async blocked(): Promise<ReadonlySet<string>> {
    const found = await Promise.all(
      [...this.#known].map(async ([name, { oauth }]) => {
        if (this.needed(name) === undefined) return []
        const isMended = await oauth?.hasOther().catch(() => false)
        return isMended === true ? [] : [name]
      }),
    )
    return new Set(found.flat())
  }

  /** While `work` looks at servers by itself, nobody is asked to sign in at one of which it is known already that somebody has to. */
  async looking<T>(work: () => Promise<T>): Promise<T> {
    this.#looks++
    try {
      return await work()
    } finally {
      this.#looks--
    }
  }

  [Symbol.dispose](): void {
    for (const { oauth } of this.#known.values()) oauth?.[Symbol.dispose]()
  }

  /** What it gives cannot be logged from then on. */
  #hidden(name: string, authorizer: Authorizer): Authorizer {
    let last: string | undefined
    const keepSecret = (fields: AuthFields): AuthFields => {
      const value = fields['authorization']
      if (value !== undefined && value !== last) {
        last = value
        this.#around.redactor.add(value.replace(/^\S+\s+/, ''))
      }
      return fields
    }
    return {
      fields: (request, options) => {
        const fields = authorizer.fields(request, options)
        return fields instanceof Promise ? fields.then(keepSecret) : keepSecret(fields)
      },
      saw: (answer, url) => authorizer.saw?.(answer, url),
      renew: async (refusal, options) => {
        const unattended = options.unattended === true || (this.#looks > 0 && this.needed(name) !== undefined)
        return await authorizer.renew(refusal, { ...options, unattended })
      },
    }
  }
}
