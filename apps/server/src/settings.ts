import type { LogFormat, LogThreshold } from '@atenea/cli'
import type { AtprotoSettings } from './atproto/atproto-settings.ts'

/** A resource that the operator names: its bytes are a text in the configuration, or a file that is read whenever it is asked for. */
export interface ResourceSetting {
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  /** Absolute path. */
  readonly file?: string | undefined
}

export interface HttpSetting {
  readonly host: string
  readonly port: number
}

/** Globs of names; absent means all. What is disabled wins. */
export interface NameFilter {
  readonly enabled?: readonly string[] | undefined
  readonly disabled?: readonly string[] | undefined
}

/** All that decides how a server behaves, from flags, configuration and defaults. */
export interface Settings {
  readonly stdio: boolean
  /** Absolute paths. */
  readonly sockets: readonly string[]
  /** Where HTTP is served. */
  readonly http: readonly HttpSetting[]
  /** Absolute path of a file with the tokens of those who may use HTTP. */
  readonly bearerTokenFile: string | undefined
  /** Whether HTTP may be open to everybody. */
  readonly allowUnauthenticated: boolean
  /** Origins of web pages that may ask. */
  readonly allowedOrigins: readonly string[]
  readonly protocol: 'both' | 'legacy' | 'modern'
  /** `undefined` for the default of the library. */
  readonly legacyRevisions: readonly string[] | undefined
  readonly tools: NameFilter
  readonly prompts: NameFilter
  readonly resources: NameFilter
  readonly staticResources: readonly ResourceSetting[]
  readonly atproto: AtprotoSettings
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

export const defaults = {
  protocol: 'both',
  maxBodyBytes: 16 * 1024 * 1024,
  maxInFlight: 1024,
  shutdownTimeoutMs: 1500,
  logLevel: 'info',
  logFormat: 'text',
} as const satisfies Partial<Settings>
