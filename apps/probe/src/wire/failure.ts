/** How far an exchange got. */
export type Stage = 'spawn' | 'connect' | 'dns' | 'tcp' | 'tls' | 'http' | 'body' | 'line'

/** Why nothing, or not everything, came. */
export interface WireFailure {
  /** `unusable` for an answer that came, and says nothing about what was asked. */
  readonly kind: 'unreachable' | 'timeout' | 'closed' | 'too-large' | 'unusable'
  readonly stage: Stage
  /** The code of the system or of TLS, such as `ECONNREFUSED`. */
  readonly code?: string | undefined
  readonly message: string
  /** The proxy that the environment puts on the way. */
  readonly proxy?: string | undefined
}
