import { computeBlobId, parseBlobId } from '@atenea/blobs'
import { type HandlerContext, ToolError, type Workflow, WorkflowConflictError } from '@atenea/core'
import type { JsonValue } from '@atenea/mcpcompat'
import type { Atproto } from '../../atproto/atproto.ts'
import { tellingFailures } from '../../atproto/tool-failure.ts'
import { maxUploadBytes, type UploadPiece, type UploadPlan, type UploadState } from '../chunked-upload.ts'
import type { UploadReport } from '../upload-blob.ts'
import { createPieceFiles, newPieceFolder, type Piece, type PieceFiles } from './piece-files.ts'
import { assertAccount, decodeData, send } from './upload.ts'

/** What a workflow keeps of an upload. Its bytes are in files, since they are written once and a state is written again each time. */
interface Upload {
  readonly mimeType: string
  readonly size: number | null
  readonly cid: string | null
  readonly folder: string
  readonly pieces: readonly Piece[]
  /** What came of it, once it is finished. */
  readonly report: UploadReport | null
}

const maxPieces = 4096
/** Milliseconds for which a finished upload still answers. */
const finishedTtlMs = 60 * 60 * 1000

export async function beginUpload(
  atproto: Atproto,
  { mimeType, size, cid }: UploadPlan,
  { principal, signal }: HandlerContext,
): Promise<UploadState> {
  assertAccount(atproto.settings)
  if (!/^[\w!#$&^.+'-]+\/[\w!#$&^.+'-]+(?:\s*;.*)?$/.test(mimeType)) {
    throw new ToolError(`${JSON.stringify(mimeType.slice(0, 100))} is not a MIME type such as video/mp4`)
  }
  return await tellingFailures(async () => {
    const wanted = cid === undefined ? null : parseBlobId(cid).text
    const files = createPieceFiles(atproto.settings.stateDir)
    await files.sweep()
    const upload = { mimeType, size: size ?? null, cid: wanted, folder: newPieceFolder(), pieces: [], report: null }
    return stateOf(await atproto.uploads(principal).create(stored(upload), { signal }))
  })
}

export async function appendUpload(
  atproto: Atproto,
  { uploadId, offset, data }: UploadPiece,
  { principal, signal }: HandlerContext,
): Promise<UploadState> {
  const uploads = atproto.uploads(principal)
  const files = createPieceFiles(atproto.settings.stateDir)
  const seen = await uploads.load(uploadId, { signal })
  const upload = uploadOf(seen)
  if (upload.report !== null) throw new ToolError('This upload is finished; begin another one.')
  const bytes = decodeData(data)
  const piece: Piece = { offset, size: bytes.length, cid: (await computeBlobId(bytes)).id.text }
  if (holds(upload, piece)) return stateOf(seen)
  assertFits(upload, piece)
  await files.write(upload.folder, piece, bytes)
  try {
    return stateOf(await uploads.update(seen, stored({ ...upload, pieces: [...upload.pieces, piece] }), { signal }))
  } catch (error) {
    const now = await uploads.load(uploadId).catch(() => undefined)
    if (now !== undefined && holds(uploadOf(now), piece)) return stateOf(now)
    // Only where another piece has come to this place can nobody refer to the file any more. Otherwise somebody who appends the same bytes may be
    // about to, or the update was kept although its answer was lost; what is left over goes with the upload.
    if (now !== undefined && bytesOf(uploadOf(now)) > offset) {
      await files.remove(upload.folder, piece).catch(() => undefined)
    }
    throw error
  }
}

export async function finishUpload(atproto: Atproto, uploadId: string, context: HandlerContext): Promise<UploadReport> {
  const { principal, signal } = context
  const uploads = atproto.uploads(principal)
  const files = createPieceFiles(atproto.settings.stateDir)
  const seen = await uploads.load(uploadId, { signal })
  const upload = uploadOf(seen)
  if (upload.report !== null) return upload.report
  assertAccount(atproto.settings)
  await assertWhole(upload, files, context)
  const report = await send(atproto, files.read(upload.folder, upload.pieces), upload.mimeType, context)
  try {
    await uploads.complete(seen, stored({ ...upload, pieces: [], report }), { ttlMs: finishedTtlMs })
  } catch (error) {
    if (!(error instanceof WorkflowConflictError)) throw error
    if (!error.completed) throw new ToolError('A piece was appended while the upload was sent; finish it again.')
    // Somebody else finished it with the same bytes.
  }
  await files.removeAll(upload.folder)
  return report
}

async function assertWhole(upload: Upload, files: PieceFiles, { signal }: HandlerContext): Promise<void> {
  const received = bytesOf(upload)
  if (upload.size !== null && received !== upload.size) {
    throw new ToolError(`${received} of ${upload.size} bytes were appended; append the rest from offset ${received}.`)
  }
  if (upload.cid === null) return
  const { id } = await computeBlobId(files.read(upload.folder, upload.pieces), { signal })
  if (id.text !== upload.cid) {
    throw new ToolError(`What was appended is ${id.text} and not ${upload.cid}. Nothing was sent; begin again.`)
  }
}

function assertFits(upload: Upload, { offset, size }: Piece): void {
  const received = bytesOf(upload)
  if (offset !== received) {
    throw new ToolError(`The next piece begins at offset ${received}, and this one at ${offset}.`)
  }
  if (size === 0) throw new ToolError('The piece is empty.')
  const limit = upload.size ?? maxUploadBytes
  if (received + size > limit)
    throw new ToolError(`The upload may have ${limit} bytes, and this piece ends at ${received + size}.`)
  if (upload.pieces.length >= maxPieces) {
    throw new ToolError(`An upload may have ${maxPieces} pieces; begin again with larger ones.`)
  }
}

function holds({ pieces }: Upload, piece: Piece): boolean {
  return pieces.some(({ offset, cid }) => offset === piece.offset && cid === piece.cid)
}

function bytesOf({ pieces }: Upload): number {
  const last = pieces.at(-1)
  return last === undefined ? 0 : last.offset + last.size
}

function uploadOf({ state }: Workflow): Upload {
  return state as unknown as Upload
}

function stored(upload: Upload): JsonValue {
  return upload as unknown as JsonValue
}

function stateOf(workflow: Workflow): UploadState {
  return {
    uploadId: workflow.id,
    received: bytesOf(uploadOf(workflow)),
    expiresAt: new Date(workflow.expiresAt).toISOString(),
  }
}
