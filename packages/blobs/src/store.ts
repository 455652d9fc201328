import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import type { AbortOptions } from './abort.ts'
import type { BlobSize } from './hash-stream.ts'
import type { BlobSource, ReadOptions } from './read-chunks.ts'

/** What a store knows of a blob. */
export interface BlobInfo extends BlobSize {
  /**
   * The MIME type that the bytes were stored under: somebody's claim, and never sniffed from them. Once a type that says
   * something is known, `application/octet-stream` does not replace it.
   */
  readonly mimeType: string | undefined
}

export interface PutOptions extends ReadOptions {
  /** What the bytes must be; nothing is stored when they are not. */
  readonly expect?: BlobId | undefined
  /** MIME type to keep with the bytes. */
  readonly mimeType?: string | undefined
}

export interface RangeOptions extends AbortOptions {
  /** First byte, and the one after the last. A `RangeError` unless it lies within the blob. Default: all. */
  readonly range?: readonly [start: number, end: number] | undefined
}

export interface BytesOptions extends RangeOptions {
  /**
   * For whoever only reads: the bytes may then be those that others get, and those that a store holds, and must not be changed. Spares the
   * copy of a blob that is in memory, which takes nearly as long as hashing it. Default false.
   */
  readonly shared?: boolean | undefined
}

/**
 * A blob whose bytes were found to be those of its id. It may hold a file open: dispose it. What is read of it stays the
 * same whatever happens to the store in the meantime.
 */
export interface OpenBlob extends AsyncDisposable {
  readonly info: BlobInfo
  /** Its bytes in chunks, for one reader. May be called again, and several may read at once. */
  read(options?: RangeOptions): AsyncIterable<Uint8Array<ArrayBuffer>>
  /** All its bytes at once, in an array of the caller's own unless `shared`. */
  bytes(options?: BytesOptions): Promise<Uint8Array<ArrayBuffer>>
}

/**
 * Keeps blobs under their ids, as many as fit. Nothing can be read from it before its bytes were found to be those of its
 * id, and a blob may go whenever there is need of room.
 */
export interface BlobStore {
  /** Reads a source to its end and keeps it, if it fits. A failure leaves nothing behind. */
  put(source: BlobSource, options?: PutOptions): Promise<BlobInfo>
  /** As `put`, and opens what came, whether it could be kept or not. */
  receive(source: BlobSource, options?: PutOptions): Promise<OpenBlob>
  /** A `BlobError` of kind `not-stored` when there is none, `damaged` when its bytes have changed; then it is gone. */
  open(id: BlobId, options?: AbortOptions): Promise<OpenBlob>
  /** Undefined when there is none. The bytes are not looked at. */
  stat(id: BlobId, options?: AbortOptions): Promise<BlobInfo | undefined>
  /** Does nothing when there is none. */
  delete(id: BlobId, options?: AbortOptions): Promise<void>
}

/** What a store says of a blob that it does not have. */
export function notStored(id: BlobId): BlobError {
  return new BlobError('not-stored', `no blob ${id.text} is stored here`, { details: { expected: id.text } })
}
