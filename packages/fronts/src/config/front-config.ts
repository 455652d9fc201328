import type { LogFormat, LogThreshold } from '@atenea/cli'
import type { Protocol } from '../front-settings.ts'

/** What a configuration file can say about signing in by HTTP. */
export interface AuthConfig {
  readonly issuer?: string | undefined
  readonly audience?: string | readonly string[] | undefined
  readonly resource?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly offeredScopes?: readonly string[] | undefined
  readonly jwksUri?: string | undefined
  readonly algorithms?: readonly string[] | undefined
  readonly introspection?:
    | {
        readonly clientId?: string | undefined
        readonly clientSecretFile?: string | undefined
        readonly endpoint?: string | undefined
      }
    | undefined
}

/** What a configuration file can say about fronts: the type of `frontConfigShape`. */
export interface FrontConfig {
  readonly stdio?: boolean | undefined
  readonly sockets?: readonly string[] | undefined
  readonly http?: readonly string[] | undefined
  readonly bearerTokenFile?: string | undefined
  readonly allowUnauthenticated?: boolean | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly auth?: AuthConfig | undefined
  readonly protocol?: Protocol | undefined
  readonly legacyRevisions?: readonly string[] | undefined
  readonly limits?:
    | {
        readonly maxBodyBytes?: number | undefined
        readonly maxInFlight?: number | undefined
        readonly shutdownTimeoutMs?: number | undefined
      }
    | undefined
  readonly logLevel?: LogThreshold | undefined
  readonly logFormat?: LogFormat | undefined
}
