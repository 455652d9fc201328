import type { HttpSend } from '@atenea/transport-http'
import type { SignIns, SignInSurroundings } from './sign-ins.ts'

/** Sign-ins at servers whose code is loaded with the first server that is reached by HTTP. */
export class LazySignIns implements Disposable {
  readonly #around: Omit<SignInSurroundings, 'send'>
  #loading: Promise<SignIns> | undefined
  #loaded: SignIns | undefined

  constructor(around: Omit<SignInSurroundings, 'send'>) {
    this.#around = around
  }

  async load(send: HttpSend): Promise<SignIns> {
    this.#loading ??= import('./sign-ins.ts').then(
      ({ SignIns }) => (this.#loaded = new SignIns({ ...this.#around, send })),
    )
    return await this.#loading
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
}
