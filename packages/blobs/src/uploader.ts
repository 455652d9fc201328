import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import { createExpiringMap } from './expiring-map.ts'
import type { AbortOptions } from './abort.ts'
import type { BlobSize } from './hash-stream.ts'
import type { BlobSource } from './read-chunks.ts'
import { parseType } from './mime-type.ts'
import type { PdsClient, UploadRequest } from './pds.ts'
import type { Authorized, Session } from './session.ts'
import type { BlobStore, OpenBlob } from './store.ts'
import { type JsonRecord, stringOf } from './xrpc.ts'

export interface UploadOptions extends AbortOptions {
  /** What the bytes are. It is sent as it is; the PDS may know better, and then `storedType` differs. */
  readonly mimeType: string
  /** Hears how many of the bytes were sent, of how many. Counts again when a session had to be renewed. */
  readonly onProgress?: ((sent: number, size: number) => void) | undefined
}

/** What became of an upload. */
export interface UploadedBlob extends BlobSize {
  readonly did: string
  /** The blob object as the PDS gave it, for use in a record. The PDS serves the blob as soon as a record refers to it. */
  readonly blob: JsonRecord
  /** The type that was sent. */
  readonly sentType: string
  /** The type that the PDS gave, as it gave it. A reference from a record that says another one is refused. */
  readonly storedType: string | undefined
}

/** Uploads for one account. */
export type Upload = (source: BlobSource, options: UploadOptions) => Promise<UploadedBlob>

export interface CreateUploaderOptions {
  readonly session: Session | undefined
  readonly pds: PdsClient
  readonly store: BlobStore
  /** Bytes of one blob, beside what the PDS says. */
  readonly maxBytes: number
  readonly onUploaded: (did: string, id: BlobId) => void
}

const limitMs = 5 * 60 * 1000
const maxLimits = 100

/**
 * Uploads go through the store: so their CID and their size are known before the first byte is sent, and they are still there
 * when the PDS does not serve them yet.
 */
export function createUploader({ session, pds, store, maxBytes, onUploaded }: CreateUploaderOptions): Upload {
  const limits = createExpiringMap<{ readonly bytes: number | undefined }>({ ttlMs: limitMs, maxEntries: maxLimits })

  /** What a PDS takes in one upload. One that does not say it says so when it gets too much. */
  async function limitOf(origin: string, { signal }: AbortOptions): Promise<number> {
    let limit = limits.get(origin)
    if (limit === undefined) {
      try {
        limit = { bytes: await pds.uploadLimit(origin, { signal }) }
      } catch (error) {
        if (!BlobError.is(error)) throw error
        limit = { bytes: undefined }
      }
      limits.set(origin, limit)
    }
    return limit.bytes ?? Number.POSITIVE_INFINITY
  }

  /** Sends once, and once more if the session had expired: a request that was refused for that has done nothing. */
  async function send(
    leave: Authorized,
    use: Session,
    request: Omit<UploadRequest, 'token' | 'secrets'>,
  ): Promise<JsonRecord> {
    const sendWith = ({ pds: origin, token }: Authorized): Promise<JsonRecord> =>
      pds.uploadBlob(origin, { ...request, token, secrets: use.secrets })
    try {
      return await sendWith(leave)
    } catch (error) {
      if (!BlobError.is(error) || error.kind !== 'auth') throw error
      return await sendWith(await use.renew(leave, { signal: request.signal }))
    }
  }

  return async (source, { mimeType, onProgress, signal }) => {
    const sentType = parseType(mimeType)
    if (session === undefined) {
      throw new BlobError(
        'auth',
        'to upload, the client needs an account: its identifier and an app password, or a token',
      )
    }
    const leave = await session.authorize({ signal })
    const limit = Math.min(maxBytes, await limitOf(leave.pds, { signal }))
    const opened = await store.receive(source, { maxBytes: limit, mimeType: sentType, signal })
    try {
      const sent = onProgress === undefined ? opened : withProgress(opened, onProgress)
      const blob = await send(leave, session, { blob: sent, mimeType: sentType, signal })
      const { id, size } = opened.info
      onUploaded(leave.did, id)
      return { did: leave.did, id, size, blob, sentType, storedType: stringOf(blob, 'mimeType') }
    } finally {
      await opened[Symbol.asyncDispose]()
    }
  }
}

/** The blob, which tells how much of it was read. */
function withProgress(blob: OpenBlob, onProgress: (sent: number, size: number) => void): OpenBlob {
  return {
    info: blob.info,
    bytes: (options) => blob.bytes(options),
    async *read(options) {
      let sent = 0
      for await (const chunk of blob.read(options)) {
        yield chunk
        sent += chunk.length
        onProgress(sent, blob.info.size)
      }
    },
    [Symbol.asyncDispose]: () => blob[Symbol.asyncDispose](),
  }
}
