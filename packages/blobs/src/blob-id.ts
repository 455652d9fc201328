import { CID } from 'multiformats/cid'
import { create as multihashOf } from 'multiformats/hashes/digest'
import { BlobError } from './blob-error.ts'

/** Why a text names no blob. */
export type UnsupportedCidReason =
  /** Not the text of any CID: too short or long, foreign characters, a path, a URL. */
  | 'not-a-cid'
  /** Version 0 (`Qm…`). */
  | 'cid-v0'
  /** A CID in another base than base32: base58, hexadecimal, base36, … */
  | 'encoding'
  /** Base32 in capitals, all or some. */
  | 'upper-case'
  /** Not the codec `raw`. The CID of a record is one (dag-cbor, `bafyrei…`). */
  | 'codec'
  /** Not sha2-256. */
  | 'hash'
  /** A sha2-256 that was cut. */
  | 'digest-length'
  /** A second spelling of a CID: bits or bytes that a canonical one does not have. */
  | 'not-canonical'

/** A text that names no blob, and why. Blobs have one form of CID: version 1, raw, sha2-256, lower-case base32. */
export class UnsupportedCidError extends BlobError {
  override readonly name: string = 'UnsupportedCidError'
  readonly reason: UnsupportedCidReason

  constructor(reason: UnsupportedCidReason, message: string) {
    super('unsupported-cid', message, { details: { reason } })
    this.reason = reason
  }
}

const rawCodec = 0x55
const sha256Code = 0x12
const digestBytes = 32
/** Characters of every blob's CID: `b` and 36 bytes in base32. */
const textLength = 59
/** No hash in use makes a longer one. Some bases take quadratic time to decode, so a longer text is not even tried. */
const maxTextLength = 150

/** What opens a CID in hexadecimal, base36, base58, base64 and the kin of base32. */
const otherBase = /^(?:[fF][0-9A-Fa-f]{72,}|[kKzmMuUvVtThcC][A-Za-z0-9]{45,})$/

const codecNames = new Map([
  [0x70, 'dag-pb, a node of IPFS'],
  [0x71, 'dag-cbor, a record or a node of a repository'],
  [0x0129, 'dag-json'],
])
const hashNames = new Map([
  [0x00, 'identity'],
  [0x11, 'sha1'],
  [0x13, 'sha2-512'],
  [0x14, 'sha3-512'],
  [0x1b, 'keccak-256'],
  [0x1e, 'blake3'],
  [0xb220, 'blake2b-256'],
])

const brand = Symbol.for('atenea.BlobId')

/**
 * The name of a blob: what sha2-256 makes of its bytes. Immutable. Every digest of 32 bytes is one, so an instance is
 * always valid; text becomes one by `parseBlobId`.
 */
export class BlobId {
  /** The CID in its canonical text, 59 characters. Equal ids have equal texts: use it as key. */
  readonly text: string
  readonly #digest: Uint8Array

  static {
    Object.defineProperty(BlobId.prototype, brand, { value: true })
  }

  /** Knows ids of other copies of this package too. */
  static is(value: unknown): value is BlobId {
    return typeof value === 'object' && value !== null && brand in value
  }

  /** A `RangeError` unless the digest has 32 bytes. They are copied. */
  constructor(digest: Uint8Array) {
    if (digest.length !== digestBytes) throw new RangeError(`a sha2-256 has ${digestBytes} bytes, not ${digest.length}`)
    this.#digest = new Uint8Array(digest)
    this.text = CID.create(1, rawCodec, multihashOf(sha256Code, this.#digest)).toString()
  }

  /** The sha2-256, as a copy. */
  get digest(): Uint8Array {
    return new Uint8Array(this.#digest)
  }

  /** The sha2-256 in 64 lower-case hexadecimal digits. */
  get hex(): string {
    return Array.from(this.#digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  equals(other: BlobId): boolean {
    return this.text === other.text
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

/** The id that a text names. An `UnsupportedCidError` for everything but the one canonical text of a blob's CID. */
export function parseBlobId(text: string): BlobId {
  if (typeof text !== 'string' || !/^[A-Za-z0-9]+$/.test(text) || text.length > maxTextLength) {
    throw unsupported('not-a-cid', text, 'is not the text of a CID')
  }
  if (/^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) throw unsupported('cid-v0', text, 'is a CID of version 0')
  const lower = text.toLowerCase()
  if (lower !== text && lower.startsWith('b') && decode(lower) !== undefined) {
    throw unsupported('upper-case', text, 'is base32 with capitals')
  }
  if (otherBase.test(text)) throw unsupported('encoding', text, 'is in another base than base32')
  const cid = decode(text)
  if (cid === undefined) {
    throw text.length === textLength && /^bafkrei[a-z2-7]+$/.test(text)
      ? unsupported('not-canonical', text, 'ends in bits that belong to no byte')
      : unsupported('not-a-cid', text, 'is not the text of a CID')
  }
  if (cid.version !== 1) throw unsupported('cid-v0', text, 'is a CID of version 0')
  if (cid.code !== rawCodec) throw unsupported('codec', text, `has the codec ${named(codecNames, cid.code)}, not raw`)
  const { code, size, digest } = cid.multihash
  if (code !== sha256Code) throw unsupported('hash', text, `has the hash ${named(hashNames, code)}, not sha2-256`)
  if (size !== digestBytes) throw unsupported('digest-length', text, `has a hash of ${size} bytes instead of 32`)
  const id = new BlobId(digest)
  // The decoder refuses every second spelling that is known of. If it ever lets one through, one id must not become two keys.
  if (id.text !== text) throw unsupported('not-canonical', text, 'is not the canonical text of its CID')
  return id
}

function decode(text: string): CID | undefined {
  try {
    return CID.parse(text)
  } catch {
    return undefined
  }
}

function named(names: ReadonlyMap<number, string>, code: number): string {
  return names.get(code) ?? `0x${code.toString(16)}`
}

const shownCharacters = 80

function unsupported(reason: UnsupportedCidReason, text: unknown, why: string): UnsupportedCidError {
  const shown = typeof text === 'string' ? JSON.stringify(text.slice(0, shownCharacters).toWellFormed()) : typeof text
  return new UnsupportedCidError(
    reason,
    `${shown} ${why}. The CID of a blob is bafkrei… with 59 characters: version 1, raw, sha2-256, lower-case base32.`,
  )
}
