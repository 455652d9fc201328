import { join } from 'node:path'
import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import { createReport, type OnBlobDiagnostic } from './diagnostics.ts'
import { decodeHeader, encodeHeader, headerBytes } from './fs-header.ts'
import { createJanitor } from './fs-janitor.ts'
import { layoutOf } from './fs-layout.ts'
import { openWritten, readVerified } from './fs-open-blob.ts'
import { codeOf, type FileHandle, type FileSystem, localFiles, readFully, removeFile, writeAll } from './fs-port.ts'
import { assertIsBlob, createBlobHash } from './hash-stream.ts'
import { type BlobSource, readChunks } from './read-chunks.ts'
import { bestType, normalizeType } from './mime-type.ts'
import { onDisk } from './storage-error.ts'
import { type BlobInfo, type BlobStore, notStored, type PutOptions } from './store.ts'

export interface CreateFsStoreOptions {
  /** Bytes of all files together; beyond, those go that were not used for longest. A larger blob is not kept. Default 1 GiB. */
  readonly maxBytes?: number | undefined
  /** Milliseconds without a write after which a temporary file is taken for that of a process that died. Default one hour. */
  readonly staleMs?: number | undefined
  readonly onDiagnostic?: OnBlobDiagnostic | undefined
  /** The file system. Default `node:fs/promises`. */
  readonly files?: FileSystem | undefined
}

const defaultMaxBytes = 1024 ** 3
const defaultStaleMs = 60 * 60 * 1000

/**
 * Keeps blobs in files below a folder, which is made when it is missing, for this user only. Any number of processes may
 * share one, and each may be killed at any time: a file appears whole, under the name that its bytes were found to have, or
 * not at all. What a file holds is hashed again before any of it is handed out, so that a damaged one is noticed.
 *
 * The folder is a cache: whatever is in it may be deleted at any time.
 */
export function createFsStore(root: string, options: CreateFsStoreOptions = {}): BlobStore {
  const { maxBytes = defaultMaxBytes, staleMs = defaultStaleMs, files = localFiles } = options
  const report = createReport(options.onDiagnostic)
  const layout = layoutOf(root)
  const janitor = createJanitor({ files, layout, maxBytes, staleMs, report })

  /** Does what needs a folder, making it when that is what was missing: it may be deleted while we run. */
  async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      await files.mkdir(folder, { recursive: true, mode: 0o700 })
      return await work()
    }
  }

  async function openStored(id: BlobId): Promise<FileHandle | undefined> {
    try {
      return await files.open(layout.fileOf(id), 'r')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** What the header of a stored blob says. */
  async function storedInfo(id: BlobId): Promise<BlobInfo | 'damaged' | undefined> {
    const file = await openStored(id)
    if (file === undefined) return undefined
    try {
      const header = new Uint8Array(headerBytes)
      await readFully(file, header, 0)
      const decoded = decodeHeader(id, header)
      if (decoded === 'damaged') return 'damaged'
      const { size } = await file.stat()
      return { id, size: size - headerBytes, mimeType: decoded.mimeType }
    } finally {
      await file.close()
    }
  }

  async function discard(id: BlobId): Promise<BlobError> {
    await onDisk(removeFile(files, layout.fileOf(id)))
    const error = new BlobError('damaged', `the stored file of ${id.text} had other bytes and was removed`, {
      details: { expected: id.text },
      retryable: true,
    })
    report({ level: 'warning', code: 'damaged-blob', message: error.message })
    return error
  }

  interface Taken {
    readonly info: BlobInfo
    /** Open for reading; the caller closes it. */
    readonly file: FileHandle
  }

  /** Writes a source to a temporary file, and gives that its name when its bytes are known. */
  async function take(source: BlobSource, { expect, mimeType, ...reading }: PutOptions = {}): Promise<Taken> {
    const temporary = join(layout.temporary, process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex'))
    reading.signal?.throwIfAborted()
    const file = await onDisk(inFolder(layout.temporary, () => files.open(temporary, 'wx+', 0o600)))
    const hash = createBlobHash()
    try {
      for await (const chunk of readChunks(source, reading)) {
        await onDisk(writeAll(file, chunk, headerBytes + hash.size))
        hash.update(chunk)
      }
      const found = { id: hash.finish(), size: hash.size }
      if (expect !== undefined) assertIsBlob(found, expect)
      const stored = await onDisk(storedInfo(found.id))
      const known = typeof stored === 'object' ? stored.mimeType : undefined
      const info: BlobInfo = { ...found, mimeType: bestType(known, normalizeType(mimeType)) }
      await onDisk(writeAll(file, encodeHeader(info.id, info.mimeType), 0))
      await onDisk(fits(info) ? give(file, temporary, info.id) : removeFile(files, temporary))
      return { info, file }
    } catch (error) {
      await file.close().catch(() => undefined)
      await removeFile(files, temporary).catch(() => undefined)
      // The next attempt shall find room, if what fills the disk is ours.
      if (BlobError.is(error) && error.kind === 'no-space') await janitor.makeRoom(2 * (hash.size + headerBytes))
      throw error
    }
  }

  const fits = ({ size }: BlobInfo): boolean => headerBytes + size <= maxBytes

  /** Gives a temporary file the name of its blob. Another process may do the same: theirs has the same bytes. */
  async function give(file: FileHandle, temporary: string, id: BlobId): Promise<void> {
    // Without this a power cut could leave a file that has its name and its length, and no bytes. A lost name is only a miss, so the
    // folder is not synced.
    await file.sync()
    try {
      await inFolder(layout.folderOf(id), () => files.rename(temporary, layout.fileOf(id)))
    } catch (error) {
      // Windows does not replace a file that somebody reads; what they read has the same bytes.
      const inUse =
        ['EPERM', 'EACCES', 'EBUSY'].includes(codeOf(error) ?? '') && typeof (await storedInfo(id)) === 'object'
      if (!inUse) throw error
      await removeFile(files, temporary)
    }
  }

  async function takeAndCount(source: BlobSource, putting: PutOptions | undefined): Promise<Taken> {
    const taken = await take(source, putting)
    if (fits(taken.info)) await janitor.added(headerBytes + taken.info.size)
    else report({ level: 'info', code: 'not-kept', message: `${taken.info.id.text} is larger than the store may be` })
    return taken
  }

  return {
    async put(source, putting) {
      const { info, file } = await takeAndCount(source, putting)
      await file.close()
      return info
    },

    async receive(source, putting) {
      const { info, file } = await takeAndCount(source, putting)
      return await openWritten(info, file)
    },

    async open(id, { signal } = {}) {
      signal?.throwIfAborted()
      const file = await onDisk(openStored(id))
      if (file === undefined) throw notStored(id)
      const opened = await readVerified(file, id, signal)
      if (opened === 'damaged') throw await discard(id)
      return opened
    },

    async stat(id, { signal } = {}) {
      signal?.throwIfAborted()
      const info = await onDisk(storedInfo(id))
      if (info !== 'damaged') return info
      await discard(id)
      return undefined
    },

    async delete(id, { signal } = {}) {
      signal?.throwIfAborted()
      await onDisk(removeFile(files, layout.fileOf(id)))
    },
  }
}
