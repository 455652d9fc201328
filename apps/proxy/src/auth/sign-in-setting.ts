/** How to come to a token for a server: `auto` asks somebody where a browser or a terminal is, `client` is a program of its own. */
export const signInWays = ['auto', 'browser', 'device', 'client', 'never'] as const
export type SignInWay = (typeof signInWays)[number]

/** A client that was registered at an authorization server by hand. */
export interface ClientSetting {
  readonly id: string
  readonly secret: string | undefined
  /** In PEM. */
  readonly privateKey: string | undefined
  readonly algorithm: string | undefined
  /** Its authorization server. */
  readonly issuer: string | undefined
}

/** What is known about signing in at one server. */
export interface SignInSetting {
  readonly way: SignInWay
  readonly client: ClientSetting | undefined
  /** URL of a client-ID metadata document. */
  readonly clientMetadataUrl: string | undefined
  readonly scopes: readonly string[]
  /** Absolute path of a file that holds an access token; then nobody signs in. */
  readonly tokenFile: string | undefined
}
