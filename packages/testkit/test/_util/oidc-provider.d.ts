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
    readonly Grant: {
      new (properties: Readonly<Record<string, unknown>>): Grant
      find(id: string): Promise<Grant>
    }
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<InteractionDetails>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Readonly<Record<string, unknown>>,
      options: { readonly mergeWithLastSubmission: boolean },
    ): Promise<void>
    on(event: string, listener: (...facts: readonly unknown[]) => void): this
  }

  interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  interface InteractionDetails {
    readonly params: Readonly<Record<string, unknown>>
    readonly session?: { readonly accountId: string }
    readonly grantId?: string
    readonly prompt: {
      readonly name: string
      readonly details: {
        readonly missingOIDCScope?: readonly string[]
        readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>
      }
    }
  }
}
