import type { LogFormat, LogThreshold } from '@atenea/cli'
import type { AuthSettings } from './auth/auth-settings.ts'

export interface HttpSetting {
  readonly host: string
  readonly port: number
}

/** Eras of the protocol that clients may speak. */
export type Protocol = 'both' | 'legacy' | 'modern'

/** Where and how clients are served, from flags, configuration and defaults. */
export interface FrontSettings {
  readonly stdio: boolean
  /** Absolute paths. */
  readonly sockets: readonly string[]
  /** Where HTTP is served. */
  readonly http: readonly HttpSetting[]
  /** Absolute path of a file with the tokens of those who may use HTTP. */
  readonly bearerTokenFile: string | undefined
  /** Whose tokens HTTP takes as well. */
  readonly auth: AuthSettings | undefined
  /** Whether HTTP may be open to everybody. */
  readonly allowUnauthenticated: boolean
  /** Origins of web pages that may ask. */
  readonly allowedOrigins: readonly string[]
  readonly protocol: Protocol
  /** `undefined` for the default of the library. */
  readonly legacyRevisions: readonly string[] | undefined
  readonly maxBodyBytes: number
  /** Calls in flight for one connection. */
  readonly maxInFlight: number
  /** How long accepted calls may go on after the end of input or a signal. */
  readonly shutdownTimeoutMs: number
  readonly logLevel: LogThreshold
  readonly logFormat: LogFormat
}

/** Where HTTP is served when only a port is named. */
export const defaultHttpHost = '127.0.0.1'

type Defaulted = 'protocol' | 'maxBodyBytes' | 'maxInFlight' | 'shutdownTimeoutMs' | 'logLevel' | 'logFormat'

export const frontDefaults: Pick<FrontSettings, Defaulted> = {
  protocol: 'both',
  maxBodyBytes: 16_777_216,
  maxInFlight: 1024,
  shutdownTimeoutMs: 1500,
  logLevel: 'info',
  logFormat: 'text',
}
