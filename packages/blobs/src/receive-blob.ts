import { BlobError } from './blob-error.ts'
import type { BlobId } from './blob-id.ts'
import type { AbortOptions } from './abort.ts'
import type { HttpResponse } from './http-client.ts'
import { essenceOf } from './mime-type.ts'
import type { BlobStore, OpenBlob } from './store.ts'
import { parseRecord, printable, stringOf } from './xrpc.ts'

export interface ReceiveBlobOptions extends AbortOptions {
  readonly store: BlobStore
  readonly expect: BlobId
  readonly maxBytes: number
  /** Hears how many bytes have come. */
  readonly onProgress: (received: number) => void
}

/** Bytes of a body that are looked at when it turns out to be something else. */
const shownBytes = 2048

/**
 * Reads the body of an answer into the store. Other bytes than those of the id are a `BlobError` of kind `mismatch`, or
 * `error-body` when they are a message for people that came with the status of a success; either way nothing is kept.
 */
export async function receiveBlob(response: HttpResponse, options: ReceiveBlobOptions): Promise<OpenBlob> {
  const { store, expect, maxBytes, onProgress, signal } = options
  const mimeType = essenceOf(response.header('content-type'))
  const beginning: Uint8Array[] = []
  let held = 0

  async function* watched(): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of response.body) {
      if (held < shownBytes) beginning.push(new Uint8Array(chunk.subarray(0, shownBytes - held)))
      held += chunk.length
      yield chunk
      onProgress(held)
    }
  }

  try {
    return await store.receive(watched(), { expect, mimeType, maxBytes, signal })
  } catch (error) {
    if (!BlobError.is(error) || error.kind !== 'mismatch') throw error
    throw otherBytes(error, response, messageIn(mimeType, Buffer.concat(beginning)))
  } finally {
    response[Symbol.dispose]()
  }
}

function otherBytes(error: BlobError, { url, redirects, status }: HttpResponse, said: string | undefined): BlobError {
  const from = `${url.origin}${redirects === 0 ? '' : ` (after ${redirects} redirects)`}`
  const details = { ...error.details, source: url.origin, status }
  return said === undefined
    ? new BlobError('mismatch', `${from}: ${error.message}`, { details })
    : new BlobError('error-body', `${from} answers ${status} with a message instead of ${details.expected}: ${said}`, {
        details,
      })
}

/** What the bytes say, if they are an error of XRPC or a web page. */
function messageIn(mimeType: string | undefined, bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  const record = parseRecord(text)
  const error = record && (stringOf(record, 'error') ?? stringOf(record, 'message'))
  if (error !== undefined) return printable(text)
  const isPage = mimeType === 'text/html' || /^\s*<(?:!doctype html|html)\b/i.test(text)
  return isPage ? `a web page (${printable(/<title>([^<]*)/i.exec(text)?.[1] ?? 'without a title')})` : undefined
}
