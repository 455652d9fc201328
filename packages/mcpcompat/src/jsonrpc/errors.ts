import type { Json } from './json.ts'

/** Error numbers that cross the wire. Which of them an era may emit is decided in `bridge.ts`. */
export const rpcCode = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** Legacy only: resource not found. Modern servers never emit it (MC-ERR-08). */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingClientCapability: -32_021,
  unsupportedVersion: -32_022,
} as const

const brand = Symbol.for('atenea.AteneaError')

/** Base of all errors that this library throws on purpose. Ask `AteneaError.is`, which also knows other copies of the package. */
export abstract class AteneaError extends Error {
  static {
    Object.defineProperty(AteneaError.prototype, brand, { value: true })
  }

  static is(value: unknown): value is AteneaError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

export interface RpcErrorOptions extends ErrorOptions {
  readonly data?: Json
}

const rpcBrand = Symbol.for('atenea.RpcError')

/** An error that crosses the wire as a JSON-RPC error object. `cause` is for logs and is never sent. */
export class RpcError extends AteneaError {
  override readonly name: string = 'RpcError'
  readonly code: number
  readonly data: Json | undefined

  static {
    Object.defineProperty(RpcError.prototype, rpcBrand, { value: true })
  }

  static override is(value: unknown): value is RpcError {
    return typeof value === 'object' && value !== null && rpcBrand in value
  }

  constructor(code: number, message: string, options?: RpcErrorOptions) {
    super(message, options)
    this.code = code
    this.data = options?.data
  }
}

/** Why a carrier failed. Branch on this, never on the text. */
export type TransportErrorKind =
  /** The peer, its process or its socket is gone. */
  | 'closed'
  /** The peer could not be reached or started. */
  | 'unreachable'
  /** A time limit passed. */
  | 'timeout'
  /** Credentials are missing or refused; never evidence of an era. */
  | 'auth'
  /** What came is not the protocol, or the peer's revision has nothing in common with ours. */
  | 'protocol'
  /** The call was sent and its outcome is not known; it must not be repeated without asking the user. */
  | 'unknown-outcome'
  /** A size limit was passed. */
  | 'too-large'

export interface TransportErrorOptions extends ErrorOptions {
  /** Whether the same attempt may succeed later without a change. */
  readonly retryable?: boolean
}

const transportBrand = Symbol.for('atenea.TransportError')

/** A failure of the way, not of the peer's program. It never crosses the wire, so it cannot be taken for a peer's error (MC-ERR-11). */
export class TransportError extends AteneaError {
  override readonly name: string = 'TransportError'
  readonly kind: TransportErrorKind
  readonly retryable: boolean

  static {
    Object.defineProperty(TransportError.prototype, transportBrand, { value: true })
  }

  static override is(value: unknown): value is TransportError {
    return typeof value === 'object' && value !== null && transportBrand in value
  }

  constructor(kind: TransportErrorKind, message: string, options?: TransportErrorOptions) {
    super(message, options)
    this.kind = kind
    this.retryable = options?.retryable ?? false
  }
}
