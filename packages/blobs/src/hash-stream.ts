import { BlobError } from './blob-error.ts'
import { BlobId } from './blob-id.ts'
import { type BlobSource, readChunks, type ReadOptions } from './read-chunks.ts'
import { sha256 } from './sha256.ts'

/** What bytes are: their id and their number. */
export interface BlobSize {
  readonly id: BlobId
  readonly size: number
}

/** Hashes bytes as they pass, with the hash of the runtime. */
export interface BlobHash {
  update(chunk: Uint8Array): void
  /** Bytes that have passed. */
  readonly size: number
  /** The id of what has passed. Ends the hash. */
  finish(): BlobId
}

/** A hash that has seen nothing yet. */
export function createBlobHash(): BlobHash {
  const hash = sha256()
  let size = 0
  return {
    update(chunk) {
      hash.update(chunk)
      size += chunk.length
    },
    get size() {
      return size
    },
    finish: () => new BlobId(hash.digest()),
  }
}

/** Reads a source to its end and tells what its bytes are. Nothing is kept. */
export async function computeBlobId(source: BlobSource, options: ReadOptions = {}): Promise<BlobSize> {
  const hash = createBlobHash()
  for await (const chunk of readChunks(source, options)) hash.update(chunk)
  return { id: hash.finish(), size: hash.size }
}

/** Reads a source to its end. A `BlobError` of kind `mismatch` unless its bytes are those of the id. */
export async function verifyBlob(source: BlobSource, expected: BlobId, options: ReadOptions = {}): Promise<BlobSize> {
  const found = await computeBlobId(source, options)
  assertIsBlob(found, expected)
  return found
}

/** A `BlobError` of kind `mismatch` unless the bytes that were found are those that were expected. */
export function assertIsBlob({ id, size }: BlobSize, expected: BlobId): void {
  if (id.equals(expected)) return
  throw new BlobError(
    'mismatch',
    `the bytes are not those of ${expected.text}: ${size} bytes came that are ${id.text}`,
    {
      details: { expected: expected.text, actual: id.text, size },
    },
  )
}
