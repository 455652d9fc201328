import { defineTool, jsonSchema } from '@atenea/core'
import type { AtprotoAccess } from '../atproto/atproto.ts'
import { maxMessageBlobBytes } from '../atproto/atproto-settings.ts'
import { uploadReport } from './upload-blob.ts'

export interface UploadPlan {
  readonly mimeType: string
  readonly size?: number | undefined
  readonly cid?: string | undefined
}

export interface UploadState {
  readonly uploadId: string
  /** Bytes that are here; the offset of the next piece. */
  readonly received: number
  /** ISO 8601. */
  readonly expiresAt: string
}

export interface UploadPiece {
  readonly uploadId: string
  readonly offset: number
  readonly data: string
}

/** Largest blob that is uploaded in pieces: what public lexicons allow at most. */
export const maxUploadBytes = 300_000_000

const uploadId = { type: 'string', description: 'As begin_blob_upload returned it.' }

const uploadState = jsonSchema<UploadState>({
  type: 'object',
  properties: {
    uploadId,
    received: { type: 'integer', minimum: 0, description: 'Bytes that are here: the offset of the next piece.' },
    expiresAt: { type: 'string', description: 'When it is forgotten unless a piece comes before.' },
  },
  required: ['uploadId', 'received', 'expiresAt'],
  additionalProperties: false,
})

/** `begin_blob_upload`: the first of three steps. */
export const beginBlobUpload = (access: AtprotoAccess) =>
  defineTool({
    name: 'begin_blob_upload',
    title: 'Begin blob upload',
    description:
      'Begins the upload of a blob that comes in pieces, for the account of this server. Then call append_blob_upload for each piece in order, and ' +
      'finish_blob_upload. What was appended survives a restart of the server; an upload is forgotten a day after its last piece. For a file, or for at ' +
      'most 7 MB at once, upload_blob is simpler.',
    inputSchema: jsonSchema<UploadPlan>({
      type: 'object',
      properties: {
        mimeType: { type: 'string', description: 'What the bytes are, such as video/mp4.' },
        size: {
          type: 'integer',
          minimum: 0,
          maximum: maxUploadBytes,
          description: 'All bytes together, if known; then checked.',
        },
        cid: { type: 'string', description: 'The CID that all bytes together must have, if known (bafkrei…).' },
      },
      required: ['mimeType'],
      additionalProperties: false,
    }),
    outputSchema: uploadState,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    handler: async (plan, context) => {
      const { beginUpload } = await import('./blob/chunked-upload.ts')
      return await beginUpload(await access(), plan, context)
    },
  })

/** `append_blob_upload`: one piece. */
export const appendBlobUpload = (access: AtprotoAccess) =>
  defineTool({
    name: 'append_blob_upload',
    title: 'Append to blob upload',
    description:
      'Appends the next piece to an upload. "offset" is the number of bytes before it, as the last answer gave it in "received"; so a piece that is sent ' +
      'twice is taken once.',
    inputSchema: jsonSchema<UploadPiece>({
      type: 'object',
      properties: {
        uploadId,
        offset: { type: 'integer', minimum: 0 },
        data: { type: 'string', description: `The bytes in base64, at most ${maxMessageBlobBytes} of them.` },
      },
      required: ['uploadId', 'offset', 'data'],
      additionalProperties: false,
    }),
    outputSchema: uploadState,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    handler: async (piece, context) => {
      const { appendUpload } = await import('./blob/chunked-upload.ts')
      return await appendUpload(await access(), piece, context)
    },
  })

/** `finish_blob_upload`: sends what was appended. */
export const finishBlobUpload = (access: AtprotoAccess) =>
  defineTool({
    name: 'finish_blob_upload',
    title: 'Finish blob upload',
    description:
      'Sends what was appended to the PDS as one blob and returns the blob object that a record needs, with its CID. May be called again when its answer was ' +
      'lost. Nobody can fetch the blob before a record refers to it.',
    inputSchema: jsonSchema<{ readonly uploadId: string }>({
      type: 'object',
      properties: { uploadId },
      required: ['uploadId'],
      additionalProperties: false,
    }),
    outputSchema: uploadReport,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    handler: async ({ uploadId: id }, context) => {
      const { finishUpload } = await import('./blob/chunked-upload.ts')
      return await finishUpload(await access(), id, context)
    },
  })
