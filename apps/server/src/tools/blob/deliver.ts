import { type AccountBlob, BlobError, parseBlobId } from '@atenea/blobs'
import type { ContentBlock, HandlerContext, ToolResult } from '@atenea/core'
import type { Atproto } from '../../atproto/atproto.ts'
import { blobContent, linkedType } from '../../atproto/blob-content.ts'
import { blobUri } from '../../atproto/blob-uri.ts'
import { assertSavable, saveBelow } from '../../atproto/file-roots.ts'
import { withProgress } from '../../atproto/report-progress.ts'
import { tellingFailures } from '../../atproto/tool-failure.ts'
import type { BlobReport, BlobRequest } from '../get-blob.ts'

type Delivered = ToolResult<BlobReport> & { readonly structuredContent: BlobReport }

/** Fetches a blob and hands it out in the way that fits. */
export async function deliver(atproto: Atproto, request: BlobRequest, context: HandlerContext): Promise<Delivered> {
  return await tellingFailures(async () => {
    // Before anything is sent.
    parseBlobId(request.cid)
    return request.saveTo === undefined
      ? await show(atproto, request, context)
      : await save(atproto, request, request.saveTo, context)
  })
}

async function save(
  atproto: Atproto,
  { did, cid }: BlobRequest,
  saveTo: string,
  context: HandlerContext,
): Promise<Delivered> {
  const { fileRoots } = atproto.settings
  // Before anything is fetched that could not be kept.
  await assertSavable(fileRoots, saveTo)
  await using blob = await fetchBlob(atproto, { did, cid }, context)
  const savedTo = await saveBelow(fileRoots, saveTo, blob.read({ signal: context.signal }))
  return delivered({ ...facts(blob), delivered: 'file', savedTo }, [])
}

async function show(atproto: Atproto, { did, cid }: BlobRequest, context: HandlerContext): Promise<Delivered> {
  const { inlineLimitBytes: limit } = atproto.settings
  const { blobs } = atproto
  // Asking for its size is cheap, and a blob that is only linked to need not be fetched.
  const offer = await blobs.head(did, cid, { signal: context.signal })
  if (offer.size !== undefined && offer.size > limit) return linked({ did, cid }, offer)
  try {
    await using blob = await fetchBlob(atproto, { did, cid }, context, limit)
    const data = await blob.bytes({ signal: context.signal, shared: true })
    return delivered({ ...facts(blob), delivered: 'content' }, [block(blob, data)])
  } catch (error) {
    if (!BlobError.is(error) || error.kind !== 'too-large') throw error
    return linked({ did, cid }, { mimeType: offer.mimeType, size: error.details.size })
  }
}

/** A verified blob. The caller disposes it. */
export async function fetchBlob(
  { blobs, downloads }: Atproto,
  { did, cid }: { readonly did: string; readonly cid: string },
  { signal, progress }: Pick<HandlerContext, 'signal' | 'progress'>,
  maxBytes?: number,
): Promise<AccountBlob> {
  return await withProgress(blobs.get(did, cid, { maxBytes, signal }), progress, () => {
    const found = downloads.progressOf(did, cid)
    return found && { done: found.received, total: found.total }
  })
}

function facts({ did, info: { id, size, mimeType } }: AccountBlob): Omit<BlobReport, 'delivered'> {
  return {
    did,
    cid: id.text,
    uri: blobUri(did, id.text),
    size,
    ...(mimeType !== undefined && { declaredType: mimeType }),
  }
}

function block({ did, info: { id, mimeType: claimed } }: AccountBlob, data: Uint8Array): ContentBlock {
  const content = blobContent(data, claimed)
  if (content.kind === 'image') return { type: 'image', data, mimeType: content.mimeType }
  if (content.kind === 'text') return { type: 'text', text: content.text }
  return { type: 'resource', resource: { uri: blobUri(did, id.text), mimeType: content.mimeType, blob: data } }
}

function linked(
  { did, cid }: { readonly did: string; readonly cid: string },
  { size, mimeType }: { readonly size: number | undefined; readonly mimeType: string | undefined },
): Delivered {
  const uri = blobUri(did, cid)
  const known = size === undefined ? {} : { size }
  const report = {
    did,
    cid,
    uri,
    ...known,
    ...(mimeType !== undefined && { declaredType: mimeType }),
    delivered: 'link',
  } as const
  const link = { type: 'resource_link', uri, name: cid, mimeType: linkedType(mimeType), ...known } as const
  return delivered(report, [link])
}

/** The report comes as text too, for clients that know no structured content. */
function delivered(report: BlobReport, blocks: readonly ContentBlock[]): Delivered {
  return { structuredContent: report, content: [{ type: 'text', text: JSON.stringify(report) }, ...blocks] }
}
