import { createHash, randomBytes } from 'node:crypto'
import { BlobId } from '../../src/blob-id.ts'

/** The id of bytes, by the hash of Node alone. */
export function idOf(bytes: Uint8Array | string): BlobId {
  return new BlobId(createHash('sha256').update(bytes).digest())
}

/** Bytes that nobody else has, and their id. */
export function someBytes(length: number): { bytes: Buffer; id: BlobId } {
  const bytes = randomBytes(length)
  return { bytes, id: idOf(bytes) }
}

/** Bytes in chunks, as a stream brings them. */
export async function* inChunks(bytes: Uint8Array, length = 1000): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += length) yield await Promise.resolve(bytes.subarray(at, at + length))
}

/** All of a stream. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
