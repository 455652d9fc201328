/** Whose tokens HTTP fronts take, beside those of a file. */
export interface AuthSettings {
  /** The authorization server, as it calls itself. */
  readonly issuer: string
  /** What tokens have to be issued for: one of these. */
  readonly audiences: readonly string[]
  /** URL of the endpoint as clients know it; the first audience when absent. */
  readonly resource: string | undefined
  /** What every token needs. */
  readonly scopes: readonly string[]
  /** What clients are told to ask for as well. */
  readonly offeredScopes: readonly string[]
  readonly jwksUri: string | undefined
  /** Signatures that are taken; `undefined` for the default of the library. */
  readonly algorithms: readonly string[] | undefined
  /** Who we are to the issuer when it is asked about each token; `undefined` when tokens are verified with its keys. */
  readonly introspection: IntrospectionSettings | undefined
}

export interface IntrospectionSettings {
  readonly clientId: string
  /** From the environment. A file wins over it. */
  readonly clientSecret: string | undefined
  /** Absolute path. */
  readonly clientSecretFile: string | undefined
  readonly endpoint: string | undefined
}

/** Variable with the secret, for which there is no flag. */
export const clientSecretVariable = 'ATENEA_AUTH_CLIENT_SECRET'

/** For the help texts of programs that have these flags. */
export const authEnvironment: readonly (readonly [string, string])[] = [
  [clientSecretVariable, 'the secret of --auth-client-id, unless a file holds it'],
]
