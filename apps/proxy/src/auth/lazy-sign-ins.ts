import type { Authorizer, HttpSend } from '@atenea/transport-http'
import { LazyAuthorizer } from './lazy-authorizer.ts'
import { signInFolder } from './sign-in-folder.ts'
import type { SignInSetting } from './sign-in-setting.ts'
import type { SignIns, SignInSurroundings, SignInTarget } from './sign-ins.ts'

/** Sign-ins at servers, whose code is loaded for the first server that wants one, or where one is kept. */
export class LazySignIns implements Disposable {
  readonly #around: Omit<SignInSurroundings, 'send'>
  readonly #authorizers = new Map<string, Authorizer>()
  #loading: Promise<SignIns> | undefined
  #loaded: SignIns | undefined

  constructor(around: Omit<SignInSurroundings, 'send'>) {
    this.#around = around
  }

  /** What authorizes requests to a server, the same one for all connections to it. */
  of(target: SignInTarget, send: HttpSend): Authorizer {
    const { name, setting } = target
    let authorizer = this.#authorizers.get(name)
    if (authorizer === undefined) {
      const make = async (): Promise<Authorizer> => (await this.#load(send)).of(target)
      authorizer = new LazyAuthorizer(make, hasOwn(setting) || this.#keepsAny())
      this.#authorizers.set(name, authorizer)
    }
    return authorizer
  }

  /** Why somebody has to sign in at a server; `undefined` when nobody has to, as far as known. */
  needed(name: string): string | undefined {
    return this.#loaded?.needed(name)
  }

  /** Looks at servers without asking anybody to sign in; `work` is to leave those alone where that is all that is missing. */
  async looking<T>(work: (blocked: ReadonlySet<string>) => Promise<T>): Promise<T> {
    const signIns = this.#loaded
    if (signIns === undefined) return await work(new Set())
    const blocked = await signIns.blocked()
    return await signIns.looking(async () => await work(blocked))
  }

  [Symbol.dispose](): void {
    this.#loaded?.[Symbol.dispose]()
  }

  async #load(send: HttpSend): Promise<SignIns> {
    this.#loading ??= import('./sign-ins.ts').then(
      ({ SignIns }) => (this.#loaded = new SignIns({ ...this.#around, send })),
    )
    return await this.#loading
  }

  /** Whether a sign-in of this user may be kept, at whichever server. */
  #keepsAny(): boolean {
    try {
      return process.getBuiltinModule('node:fs').existsSync(signInFolder(this.#around.environment))
    } catch {
      // without a home directory nothing is kept
      return false
    }
  }
}

/** Whether the setting itself holds what authorizes. */
function hasOwn({ way, client, tokenFile }: SignInSetting): boolean {
  return way === 'client' || client !== undefined || tokenFile !== undefined
}
