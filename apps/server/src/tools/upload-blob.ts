import { defineTool, jsonSchema } from '@atenea/core'
import type { JsonObject } from '@atenea/mcpcompat'
import type { AtprotoAccess } from '../atproto/atproto.ts'

export interface BlobToUpload {
  readonly data?: string | undefined
  readonly path?: string | undefined
  readonly mimeType: string
}

/** What became of an upload. */
export interface UploadReport {
  readonly did: string
  readonly cid: string
  readonly size: number
  readonly blob: JsonObject
  readonly sentType: string
  readonly storedType?: string | undefined
  readonly warning?: string | undefined
}

export const uploadReport = jsonSchema<UploadReport>({
  type: 'object',
  properties: {
    did: { type: 'string', description: 'The account that it was uploaded for.' },
    cid: { type: 'string', description: 'The CID, computed here and confirmed by the PDS.' },
    size: { type: 'integer', minimum: 0 },
    blob: { type: 'object', description: 'The blob object of the PDS; put it into a record as it is.' },
    sentType: { type: 'string' },
    storedType: { type: 'string', description: 'The MIME type that the PDS keeps.' },
    warning: { type: 'string' },
  },
  required: ['did', 'cid', 'size', 'blob', 'sentType'],
  additionalProperties: false,
})

/** `upload_blob`: bytes for a record of the own account. */
export const uploadBlob = (access: AtprotoAccess) =>
  defineTool({
    name: 'upload_blob',
    title: 'Upload blob',
    description:
      'Uploads a file or bytes as a blob for the account of this server and returns the blob object that a record needs, with its CID. Give ' +
      'either "path", a file below a folder that the operator allows, which is best for anything large, or "data", base64 of at most 7 MB. For more, ' +
      'or for many small pieces, use begin_blob_upload. Say the true MIME type; the PDS may keep another, and a record must refer to the blob exactly as ' +
      'returned. Nobody can fetch the blob before a record refers to it.',
    inputSchema: jsonSchema<BlobToUpload>({
      type: 'object',
      properties: {
        path: { type: 'string', description: 'A file; relative to the first folder that the operator allows.' },
        data: { type: 'string', description: 'The bytes in base64.' },
        mimeType: { type: 'string', description: 'What the bytes are, such as image/png.' },
      },
      required: ['mimeType'],
      additionalProperties: false,
    }),
    outputSchema: uploadReport,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    handler: async (request, context) => {
      const { upload } = await import('./blob/upload.ts')
      return await upload(await access(), request, context)
    },
  })
