import type { BlobSource, UploadedBlob } from '@atenea/blobs'
import { type HandlerContext, ToolError } from '@atenea/core'
import type { JsonObject } from '@atenea/mcpcompat'
import type { Atproto } from '../../atproto/atproto.ts'
import { type AtprotoSettings, accountVariables, maxMessageBlobBytes } from '../../atproto/atproto-settings.ts'
import { openBelow } from '../../atproto/file-roots.ts'
import { withProgress } from '../../atproto/report-progress.ts'
import { tellingFailures } from '../../atproto/tool-failure.ts'
import type { BlobToUpload, UploadReport } from '../upload-blob.ts'

/** Uploads bytes or a file. */
export async function upload(
  atproto: Atproto,
  { data, path, mimeType }: BlobToUpload,
  context: HandlerContext,
): Promise<UploadReport> {
  assertAccount(atproto.settings)
  if ((data === undefined) === (path === undefined)) throw new ToolError('Give either "path" or "data", and not both')
  if (data !== undefined) return await send(atproto, decodeData(data), mimeType, context)
  return await tellingFailures(async () => {
    await using file = await openBelow(atproto.settings.fileRoots, path ?? '')
    const stream = file.handle.createReadStream({ autoClose: false })
    return await send(atproto, stream, mimeType, context)
  })
}

/** Uploads from a source, telling how far it is. */
export async function send(
  { blobs }: Atproto,
  source: BlobSource,
  mimeType: string,
  { signal, progress }: HandlerContext,
): Promise<UploadReport> {
  let sent: { readonly done: number; readonly total: number } | undefined
  const onProgress = (done: number, total: number): void => void (sent = { done, total })
  return await tellingFailures(async () =>
    reportOf(await withProgress(blobs.upload(source, { mimeType, onProgress, signal }), progress, () => sent)),
  )
}

/** A `ToolError` that says what is missing when there is no account to upload for. */
export function assertAccount({ account }: Pick<AtprotoSettings, 'account'>): void {
  const missing = (['identifier', 'password'] as const).filter((what) => account[what] === undefined)
  if (missing.length === 0) return
  throw new ToolError(
    `This server has no account to upload for. Its operator must set ${missing.map((what) => accountVariables[what]).join(' and ')} in its environment` +
      ` (${accountVariables.identifier}: handle or DID, ${accountVariables.password}: an app password).`,
  )
}

/** The bytes of an argument. */
export function decodeData(data: string): Buffer {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    throw new ToolError('"data" is not base64 with its padding (A-Z a-z 0-9 + / =)')
  }
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length > maxMessageBlobBytes) {
    throw new ToolError(
      `"data" holds ${bytes.length} bytes, and one message takes ${maxMessageBlobBytes}: use "path" or begin_blob_upload`,
    )
  }
  return bytes
}

function reportOf({ did, id, size, blob, sentType, storedType }: UploadedBlob): UploadReport {
  const warning =
    storedType === sentType
      ? undefined
      : `The PDS keeps this blob as ${storedType ?? 'something without a type'} and not as ${sentType}. A record must refer to it with the type that the PDS keeps.`
  return {
    did,
    cid: id.text,
    size,
    blob: blob as JsonObject,
    sentType,
    ...(storedType !== undefined && { storedType }),
    ...(warning !== undefined && { warning }),
  }
}
