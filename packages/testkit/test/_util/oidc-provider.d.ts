/** What the tests use of it; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    readonly AccessToken: new (
      properties: Readonly<Record<string, unknown>>,
    ) => { save(): Promise<string> }
    readonly Client: { find(id: string): Promise<unknown> }
    readonly ResourceServer: new (
      audience: string,
      data: Readonly<Record<string, unknown>>,
    ) => object
    on(event: string, listener: (...facts: readonly unknown[]) => void): this
  }
}
