import type { AuthFields, Authorizer } from '@atenea/transport-http'

const none: AuthFields = Object.freeze({})

/**
 * An authorizer that is loaded when it may have something to send, or when the server lets a request in for credentials only. With nothing to
 * send and a server that wants nothing it is never loaded.
 */
export class LazyAuthorizer implements Authorizer {
  readonly #make: () => Promise<Authorizer>
  readonly #mayKnow: boolean
  #loading: Promise<Authorizer> | undefined
  #loaded: Authorizer | undefined

  /** `mayKnow`: whether it may have credentials before it was asked to get some. */
  constructor(make: () => Promise<Authorizer>, mayKnow: boolean) {
    this.#make = make
    this.#mayKnow = mayKnow
  }

  fields(...args: Parameters<Authorizer['fields']>): AuthFields | Promise<AuthFields> {
    if (this.#loaded !== undefined) return this.#loaded.fields(...args)
    return this.#mayKnow ? this.#fieldsLater(args) : none
  }

  saw(...args: Parameters<NonNullable<Authorizer['saw']>>): void {
    this.#loaded?.saw?.(...args)
  }

  async renew(...args: Parameters<Authorizer['renew']>): Promise<boolean> {
    const authorizer = await this.#load()
    return await authorizer.renew(...args)
  }

  async #fieldsLater(args: Parameters<Authorizer['fields']>): Promise<AuthFields> {
    const authorizer = await this.#load()
    return await authorizer.fields(...args)
  }

  async #load(): Promise<Authorizer> {
    this.#loading ??= this.#make()
    this.#loaded = await this.#loading
    return this.#loaded
  }
}
