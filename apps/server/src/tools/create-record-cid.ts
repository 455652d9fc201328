import { defineTool, jsonSchema, ToolError } from '@atenea/core'

type Record = Readonly<{ [member: string]: unknown }>

/** `create_record_cid`: the content identifier of a record, without storing it. */
export const createRecordCid = defineTool({
  name: 'create_record_cid',
  title: 'Create record CID',
  description:
    'Computes the CID (content identifier) under which an AT Protocol repository stores a record: the record is encoded as DAG-CBOR, hashed ' +
    'with sha2-256, and the CIDv1 is returned in base32 (bafyrei…). Use it to check that a record is what a link or strongRef says, or to ' +
    'refer to a record before it is written. Links are written as {"$link": "bafy…"}, bytes as {"$bytes": "<base64>"}. What the data model ' +
    'does not allow (fractions, integers beyond 2^53, malformed links, bytes or blobs) is refused with the place of the fault. Nothing is ' +
    'stored or sent. A server adds "$type" to a record that lacks it, which changes the CID: include it.',
  inputSchema: jsonSchema<{ readonly record: Record }>({
    type: 'object',
    properties: {
      record: {
        type: 'object',
        description:
          'The whole record as JSON, such as {"$type": "app.bsky.feed.post", "text": "Hello", "createdAt": "2026-01-01T00:00:00.000Z"}. ' +
          'The order of its members does not matter.',
      },
    },
    required: ['record'],
    additionalProperties: false,
  }),
  outputSchema: jsonSchema<{ readonly cid: string }>({
    type: 'object',
    properties: { cid: { type: 'string', description: 'CIDv1, dag-cbor, sha2-256, in lower-case base32.' } },
    required: ['cid'],
    additionalProperties: false,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  handler: async ({ record }) => {
    const { recordCid } = await import('./record/record-cid.ts')
    const { DataModelError } = await import('./record/data-model.ts')
    try {
      return { cid: recordCid(record) }
    } catch (error) {
      if (error instanceof DataModelError) throw new ToolError(error.message, { cause: error })
      throw error
    }
  },
})
