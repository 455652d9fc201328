import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import type { AbortOptions } from './abort.ts'
import type { BlobSize } from './hash-stream.ts'
import type { HttpClient, HttpResponse } from './http-client.ts'
import { essenceOf } from './mime-type.ts'
import type { OpenBlob } from './store.ts'
import { answerError, isRecord, type JsonRecord, printable, readJson, stringOf, xrpcUrl } from './xrpc.ts'

/** How long and how much is waited for. */
export interface TransferLimits {
  /** Bytes of a blob. */
  readonly maxBytes: number
  /** Milliseconds for all of a transfer. */
  readonly timeoutMs: number
  /** Milliseconds without a byte. */
  readonly idleMs: number
}

/** What a PDS says of a blob that it offers. */
export interface OfferedBlob {
  /** As the header says, without parameters; undefined where it says nothing that is a type. */
  readonly mimeType: string | undefined
  /** Bytes, where the header says it. */
  readonly size: number | undefined
}

export interface GetBlobOptions extends AbortOptions {
  readonly maxBytes?: number | undefined
}

export interface UploadRequest extends AbortOptions {
  readonly token: string
  readonly blob: OpenBlob
  readonly mimeType: string
  /** What must not be seen in an error. */
  readonly secrets: readonly string[]
}

/** The calls for blobs at the PDS of an account, by its origin. No call is repeated, and nothing is kept. */
export interface PdsClient {
  /** `com.atproto.sync.getBlob`. Nothing of the body is verified yet. */
  getBlob(pds: string, did: string, id: BlobId, options: GetBlobOptions): Promise<HttpResponse>
  /** Whether the account offers a blob. Throws what `getBlob` would throw if it does not. */
  headBlob(pds: string, did: string, id: BlobId, options: AbortOptions): Promise<OfferedBlob>
  /** `com.atproto.repo.uploadBlob`. The blob object as the PDS gave it, which names the bytes that were sent. */
  uploadBlob(pds: string, request: UploadRequest): Promise<JsonRecord>
  /** Bytes that the PDS takes in one upload, where it says so. */
  uploadLimit(pds: string, options: AbortOptions): Promise<number | undefined>
}

const maxRedirects = 3
const maxJsonBytes = 256 * 1024

/** Calls with a client whose guard judges where they go. */
export function createPdsClient(http: HttpClient, limits: TransferLimits): PdsClient {
  const { timeoutMs, idleMs } = limits
  const brief = { maxBytes: maxJsonBytes, timeoutMs: Math.min(timeoutMs, 2 * idleMs), idleMs }

  async function getBlob(
    pds: string,
    did: string,
    id: BlobId,
    { maxBytes, signal }: GetBlobOptions,
  ): Promise<HttpResponse> {
    const response = await http.request({
      method: 'GET',
      url: blobUrl(pds, did, id),
      headers: { accept: '*/*' },
      maxBytes: maxBytes ?? limits.maxBytes,
      maxRedirects,
      timeoutMs,
      idleMs,
      signal,
    })
    if (response.status === 200) return response
    throw await blobError(response, did, id)
  }

  return {
    getBlob,

    async headBlob(pds, did, id, { signal }) {
      const url = blobUrl(pds, did, id)
      using response = await http.request({
        method: 'HEAD',
        url,
        headers: { accept: '*/*' },
        maxRedirects,
        signal,
        ...brief,
      })
      for await (const _ of response.body) throw new BlobError('bad-answer', `${pds} answers HEAD with a body`)
      if (response.status === 200) return offeredBlob(response)
      // A refusal of HEAD has no body that tells more, and some servers know GET only. Asking so and leaving is cheap.
      using again = await getBlob(pds, did, id, { maxBytes: Number.POSITIVE_INFINITY, signal })
      return offeredBlob(again)
    },

    async uploadBlob(pds, { token, blob, mimeType, secrets, signal }) {
      const { size } = blob.info
      const response = await http.request({
        method: 'POST',
        url: xrpcUrl(pds, 'com.atproto.repo.uploadBlob'),
        headers: { authorization: `Bearer ${token}`, 'content-type': mimeType, accept: 'application/json' },
        body: { size, chunks: blob.read({ signal }) },
        maxBytes: maxJsonBytes,
        maxRedirects: 0,
        timeoutMs,
        idleMs,
        signal,
      })
      if (response.status !== 200) {
        const error = await answerError(response, secrets)
        throw error.kind === 'too-large' ? refusedSize(error, size) : error
      }
      return uploadedBlob(await readJson(response), { pds, sent: blob.info, secrets })
    },

    async uploadLimit(pds, { signal }) {
      const url = xrpcUrl(pds, 'com.atproto.server.describeServer')
      const response = await http.request({ method: 'GET', url, maxRedirects: 0, signal, ...brief })
      if (response.status !== 200) throw await answerError(response)
      const { blobUploadLimit } = await readJson(response)
      return typeof blobUploadLimit === 'number' && blobUploadLimit > 0 ? blobUploadLimit : undefined
    },
  }
}

function blobUrl(pds: string, did: string, id: BlobId): URL {
  return xrpcUrl(pds, 'com.atproto.sync.getBlob', { did, cid: id.text })
}

/** What the headers of an answer to `getBlob` say. */
export function offeredBlob(response: HttpResponse): OfferedBlob {
  const length = response.header('content-length')
  return {
    mimeType: essenceOf(response.header('content-type')),
    size: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined,
  }
}

/** The reference PDS has one answer for every reason why it does not offer a blob: 400, and this text. */
const noSuchBlob = /blob not found/i

async function blobError(response: HttpResponse, did: string, id: BlobId): Promise<BlobError> {
  const error = await answerError(response)
  const isMissing = error.kind === 'not-found' || (error.kind === 'refused' && noSuchBlob.test(error.message))
  if (!isMissing) return error
  const message =
    `${did} offers no blob ${id.text}: it was never uploaded, no record refers to it yet, or it was taken down. ` +
    `(${error.message})`
  return new BlobError('not-found', message, { details: { ...error.details, expected: id.text } })
}

interface Sent {
  readonly pds: string
  readonly sent: BlobSize
  readonly secrets: readonly string[]
}

/** Checks that the PDS names the bytes that were sent (G1), and gives its blob object as it is. */
function uploadedBlob({ blob }: JsonRecord, { pds, sent, secrets }: Sent): JsonRecord {
  const ref = isRecord(blob) && isRecord(blob['ref']) ? stringOf(blob['ref'], '$link') : undefined
  if (!isRecord(blob) || ref === undefined) {
    throw new BlobError('bad-answer', `${pds} took an upload and does not say what it is`, { details: { source: pds } })
  }
  const { size } = blob
  if (ref === sent.id.text && (size === undefined || size === sent.size)) return blob
  const actual = printable(ref, secrets)
  const message =
    `${pds} names ${actual}${typeof size === 'number' ? ` of ${size} bytes` : ''} ` +
    `for an upload that is ${sent.id.text} of ${sent.size} bytes`
  throw new BlobError('mismatch', message, {
    details: { source: pds, expected: sent.id.text, actual, size: sent.size },
  })
}

function refusedSize(error: BlobError, size: number): BlobError {
  const message = `${error.message}: it does not take ${size} bytes`
  return new BlobError('too-large', message, { details: { ...error.details, size } })
}
