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

  /** Looks at servers without asking anybody to sign in. */
  async looking<T>(work: () => Promise<T>): Promise<T> {
    return this.#loaded === undefined ? await work() : await this.#loaded.looking(work)
  }

  [Symbol.dispose](): void {
    this.#loaded?.[Symbol.dispose]()
  }
}
