import { BlobError, type BlobErrorKind } from '@atenea/blobs'
import { type ContentsEntry, type HandlerContext, resourceNotFound } from '@atenea/core'
import { RpcError, rpcCode } from '@atenea/mcpcompat'
import { fetchBlob } from '../tools/blob/deliver.ts'
import type { Atproto } from './atproto.ts'
import { maxMessageBlobBytes } from './atproto-settings.ts'
import { blobContent } from './blob-content.ts'
import { blobUri } from './blob-uri.ts'

/** What says that there is no such resource, rather than that it could not be had now. */
const missing: ReadonlySet<BlobErrorKind> = new Set([
  'unsupported-cid',
  'invalid-identifier',
  'unknown-identity',
  'account-unavailable',
  'not-found',
  'not-referenced',
])

/** Reads a blob as a resource. */
export async function readBlob(
  atproto: Atproto,
  { did, cid, uri }: { readonly did: string; readonly cid: string; readonly uri: string },
  context: HandlerContext,
): Promise<ContentsEntry> {
  try {
    await using blob = await fetchBlob(atproto, { did, cid }, context, maxMessageBlobBytes)
    const data = await blob.bytes({ signal: context.signal, shared: true })
    const content = blobContent(data, blob.info.mimeType)
    const entry = { uri: blobUri(blob.did, blob.info.id.text), mimeType: content.mimeType }
    return content.kind === 'text' ? { ...entry, text: content.text } : { ...entry, blob: data }
  } catch (error) {
    if (!BlobError.is(error)) throw error
    if (missing.has(error.kind)) throw resourceNotFound(uri)
    const { size } = error.details
    // A `uri` here would read as "not found".
    const data =
      error.kind === 'too-large'
        ? { ...(size !== undefined && { size }), limit: maxMessageBlobBytes }
        : { reason: error.kind }
    const advice = error.kind === 'too-large' ? '; get_blob can save it to a file' : ''
    throw new RpcError(rpcCode.internalError, `The blob cannot be read: ${error.message}${advice}`, {
      data,
      cause: error,
    })
  }
}
