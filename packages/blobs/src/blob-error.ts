/** What went wrong. Branch on this, never on the text. */
export type BlobErrorKind =
  // what was asked for
  /** Text that names no blob of the AT Protocol; an `UnsupportedCidError` says why. */
  | 'unsupported-cid'
  /** Neither a DID of a supported method nor a handle. */
  | 'invalid-identifier'
  /** A MIME type that cannot be sent. */
  | 'invalid-type'
  // whose it is
  /** The DID or handle does not exist, as far as those know who must know it. */
  | 'unknown-identity'
  /** Handle and DID document do not name each other, or a handle names several DIDs. */
  | 'unconfirmed-handle'
  /** A DID document that is none, or of another DID, or that names no PDS. */
  | 'bad-document'
  // where it is
  /** A host that must not be spoken to; `details.reason` says why. Nothing was sent to it. */
  | 'endpoint-refused'
  /** A redirect that leads nowhere, too far, or that must not be followed. */
  | 'bad-redirect'
  /** No connection, or one that broke before an answer came. */
  | 'unreachable'
  /** A deadline passed, for the whole exchange or for the next byte. */
  | 'timeout'
  // what the PDS says
  /** Credentials are missing, refused or expired. */
  | 'auth'
  /** The account does not offer this blob: never uploaded, not referenced by a record, or taken down. */
  | 'not-found'
  /** As `not-found`, and this client uploaded it itself: no record refers to it yet. */
  | 'not-referenced'
  /** The account is unknown to its PDS, deactivated, or taken down. */
  | 'account-unavailable'
  /** Too many requests; `details.retryAfterMs` when the PDS named a time. */
  | 'rate-limited'
  /** Refused for another reason that the PDS named. */
  | 'refused'
  /** The PDS failed (5xx). */
  | 'upstream'
  /** An answer that is not what the protocol says. */
  | 'bad-answer'
  // what came
  /** Other bytes than those of the CID. */
  | 'mismatch'
  /** Other bytes, and they are an error message or a web page that came with status 200. */
  | 'error-body'
  /** The body ended too early. */
  | 'truncated'
  /** A body that is compressed although that was ruled out. */
  | 'encoded'
  /** Over a limit in bytes, ours or that of the PDS. */
  | 'too-large'
  // where it is kept
  /** The store does not hold it. */
  | 'not-stored'
  /** The store held other bytes under this CID; it has removed them. */
  | 'damaged'
  /** The disk or the quota is full. */
  | 'no-space'
  /** The store failed otherwise; see `cause`. */
  | 'storage'

/** Facts for programs. None of them is secret. */
export interface BlobErrorDetails {
  /** The blob that was asked for. */
  readonly expected?: string
  /** The blob that the bytes are. */
  readonly actual?: string
  /** Origin that the bytes or the answer came from, after redirects. */
  readonly source?: string
  /** HTTP status. */
  readonly status?: number
  /** Name of the error that the PDS gave, such as `RepoDeactivated`. */
  readonly upstreamError?: string
  /** Why an endpoint or a CID was refused, or the code of the system for a connection that failed. */
  readonly reason?: string
  /** Bytes that came, or that there would be, as far as known. */
  readonly size?: number
  /** Bytes that were allowed. */
  readonly limit?: number
  readonly retryAfterMs?: number
}

export interface BlobErrorOptions extends ErrorOptions {
  readonly details?: BlobErrorDetails
  /** Whether the same attempt may succeed later without a change. */
  readonly retryable?: boolean
}

const brand = Symbol.for('atenea.BlobError')

/** Every failure that this package reports on purpose, except aborts: they reject with the reason of their signal. */
export class BlobError extends Error {
  override readonly name: string = 'BlobError'
  readonly kind: BlobErrorKind
  readonly details: BlobErrorDetails
  readonly retryable: boolean

  static {
    Object.defineProperty(BlobError.prototype, brand, { value: true })
  }

  /** Knows errors of other copies of this package too. */
  static is(value: unknown): value is BlobError {
    return typeof value === 'object' && value !== null && brand in value
  }

  constructor(kind: BlobErrorKind, message: string, options?: BlobErrorOptions) {
    super(message, options)
    this.kind = kind
    this.details = options?.details ?? {}
    this.retryable = options?.retryable ?? false
  }
}
