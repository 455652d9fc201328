import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import { decodeHeader, headerBytes } from './fs-header.ts'
import { codeOf, type FileHandle, readFully } from './fs-port.ts'
import { createBlobHash } from './hash-stream.ts'
import { boundsOf, chunkBytes, openBytes } from './open-blob.ts'
import { onDisk } from './storage-error.ts'
import type { BlobInfo, OpenBlob, RangeOptions } from './store.ts'

/**
 * Blobs up to this size are read once, hashed in memory and served from there, so that a caller who forgets to dispose of one
 * leaves no file open. Larger ones are read twice.
 */
const inMemoryBytes = 1024 * 1024
/** What is read at once to be hashed. */
const hashedBytes = 256 * 1024

/**
 * Opens the file of a blob after hashing all of it. Takes the file over: it is closed, also on failure, or belongs to the
 * blob that is returned.
 */
export async function readVerified(
  file: FileHandle,
  id: BlobId,
  signal: AbortSignal | undefined,
): Promise<OpenBlob | 'damaged'> {
  let opened: OpenBlob | 'damaged' | undefined
  try {
    opened = await onDisk(verify(file, id, signal))
    return opened
  } catch (error) {
    // A sector that cannot be read is as good as one with other bytes.
    if (BlobError.is(error) && codeOf(error.cause) === 'EIO') return 'damaged'
    throw error
  } finally {
    if (!(opened instanceof OpenFile)) await file.close()
  }
}

async function verify(file: FileHandle, id: BlobId, signal: AbortSignal | undefined): Promise<OpenBlob | 'damaged'> {
  const { size: total, mtime } = await file.stat()
  // Used now, which is written while the file is read. Where the system does not let us say so, the blob is only forgotten sooner.
  const used = file.utimes(new Date(), mtime).catch(() => undefined)
  try {
    return await verifyContent(file, id, total, signal)
  } finally {
    await used
  }
}

async function verifyContent(
  file: FileHandle,
  id: BlobId,
  total: number,
  signal: AbortSignal | undefined,
): Promise<OpenBlob | 'damaged'> {
  const isSmall = total <= inMemoryBytes + headerBytes
  // All of a small file, or the header and the first part of a large one.
  const buffer = Buffer.allocUnsafeSlow(isSmall ? total : headerBytes + hashedBytes)
  let filled = await readFully(file, buffer, 0)
  const decoded = decodeHeader(id, buffer.subarray(0, Math.min(filled, headerBytes)))
  if (decoded === 'damaged') return 'damaged'
  const hash = createBlobHash()
  hash.update(buffer.subarray(headerBytes, filled))
  for (let isMore = !isSmall && filled === buffer.length; isMore; isMore = filled === buffer.length) {
    signal?.throwIfAborted()
    filled = await readFully(file, buffer, headerBytes + hash.size)
    hash.update(buffer.subarray(0, filled))
  }
  if (!hash.finish().equals(id)) return 'damaged'
  const info: BlobInfo = { id, size: hash.size, mimeType: decoded.mimeType }
  return isSmall ? openBytes(info, buffer.subarray(headerBytes)) : new OpenFile(info, file)
}

/** Opens the file of a blob that was just written, from bytes that were hashed on their way. Takes the file over. */
export async function openWritten(info: BlobInfo, file: FileHandle): Promise<OpenBlob> {
  const opened = new OpenFile(info, file)
  if (info.size > inMemoryBytes) return opened
  try {
    return openBytes(info, await opened.bytes())
  } finally {
    await file.close()
  }
}

/** An open blob in a file of the store, whose bytes are known to be right. Owns the file. */
class OpenFile implements OpenBlob {
  readonly info: BlobInfo
  readonly #file: FileHandle

  constructor(info: BlobInfo, file: FileHandle) {
    this.info = info
    this.#file = file
  }

  async *read({ range, signal }: RangeOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const { size, id } = this.info
    const [start, end] = boundsOf(range, size)
    const hash = createBlobHash()
    for (let at = start; at < end; ) {
      signal?.throwIfAborted()
      const chunk = new Uint8Array(Math.min(chunkBytes, end - at))
      if ((await onDisk(readFully(this.#file, chunk, headerBytes + at))) < chunk.length) throw changed(id)
      at += chunk.length
      hash.update(chunk)
      // Nobody who keeps to this package writes into a file that has its name. If one was changed after all since it was hashed, its
      // last chunk is held back.
      if (at === size && hash.size === size && !hash.finish().equals(id)) throw changed(id)
      yield chunk
    }
  }

  async bytes({ range, signal }: RangeOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const [start, end] = boundsOf(range, this.info.size)
    const all = new Uint8Array(end - start)
    let at = 0
    for await (const chunk of this.read({ range: [start, end], signal })) {
      all.set(chunk, at)
      at += chunk.length
    }
    return all
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }
}

function changed(id: BlobId): BlobError {
  return new BlobError('damaged', `the stored file of ${id.text} was changed while it was read`, {
    details: { expected: id.text },
    retryable: true,
  })
}
