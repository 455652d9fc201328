import type { BlobId } from './blob-id.ts'
import { assertIsBlob, createBlobHash } from './hash-stream.ts'
import { type BlobSource, readChunks } from './read-chunks.ts'
import { bestType, normalizeType } from './mime-type.ts'
import { openBytes } from './open-blob.ts'
import { type BlobInfo, type BlobStore, notStored, type OpenBlob, type PutOptions } from './store.ts'

export interface CreateMemoryStoreOptions {
  /** Bytes of all blobs together; beyond, those go that were not used for longest. Default 64 MiB. */
  readonly maxBytes?: number | undefined
}

const defaultMaxBytes = 64 * 1024 * 1024

interface Held {
  readonly info: BlobInfo
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Keeps blobs in the memory of this process. */
export function createMemoryStore(options: CreateMemoryStoreOptions = {}): BlobStore {
  const { maxBytes = defaultMaxBytes } = options
  /** In the order of their use, the latest last. */
  const blobs = new Map<string, Held>()
  let total = 0

  function remove(key: string): void {
    total -= blobs.get(key)?.info.size ?? 0
    blobs.delete(key)
  }

  function keep(held: Held): void {
    const key = held.info.id.text
    remove(key)
    if (held.info.size > maxBytes) return
    blobs.set(key, held)
    total += held.info.size
    for (const oldest of blobs.keys()) {
      if (total <= maxBytes) break
      remove(oldest)
    }
  }

  /** A use makes a blob the last one to go. */
  function use(id: BlobId): Held | undefined {
    const held = blobs.get(id.text)
    if (held === undefined) return undefined
    blobs.delete(id.text)
    blobs.set(id.text, held)
    return held
  }

  async function take(source: BlobSource, { expect, mimeType, ...reading }: PutOptions = {}): Promise<Held> {
    const hash = createBlobHash()
    const chunks: Uint8Array[] = []
    for await (const chunk of readChunks(source, reading)) {
      hash.update(chunk)
      // The source may reuse its buffer for the next chunk.
      chunks.push(new Uint8Array(chunk))
    }
    const found = { id: hash.finish(), size: hash.size }
    if (expect !== undefined) assertIsBlob(found, expect)
    const known = blobs.get(found.id.text)?.info.mimeType
    const info: BlobInfo = { ...found, mimeType: bestType(known, normalizeType(mimeType)) }
    const held: Held = { info, bytes: Buffer.concat(chunks) }
    keep(held)
    return held
  }

  return {
    put: async (source, putting) => (await take(source, putting)).info,
    async receive(source, putting): Promise<OpenBlob> {
      const { info, bytes } = await take(source, putting)
      return openBytes(info, bytes)
    },
    async open(id, { signal } = {}) {
      signal?.throwIfAborted()
      const held = use(id)
      if (held === undefined) throw notStored(id)
      return openBytes(held.info, held.bytes)
    },
    async stat(id, { signal } = {}) {
      signal?.throwIfAborted()
      return blobs.get(id.text)?.info
    },
    async delete(id, { signal } = {}) {
      signal?.throwIfAborted()
      remove(id.text)
    },
  }
}
