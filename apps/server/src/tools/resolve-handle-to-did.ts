import { defineTool, jsonSchema } from '@atenea/core'
import type { AtprotoAccess } from '../atproto/atproto.ts'

/** `resolve_handle_to_did`: whose handle it is. */
export const resolveHandleToDid = (access: AtprotoAccess) =>
  defineTool({
    name: 'resolve_handle_to_did',
    title: 'Resolve handle to DID',
    description:
      'Finds the DID of the account that has an AT Protocol handle, such as alice.example.com, by DNS and HTTPS. The DID document must name ' +
      'the handle in return, else the handle is refused as unconfirmed. Use it when you have a handle and need the DID for a record, a mention or ' +
      'another tool. For more about an account use resolve_identity.',
    inputSchema: jsonSchema<{ readonly handle: string }>({
      type: 'object',
      properties: {
        handle: { type: 'string', description: 'The handle, such as alice.example.com; a leading @ is ignored.' },
      },
      required: ['handle'],
      additionalProperties: false,
    }),
    outputSchema: jsonSchema<{ readonly handle: string; readonly did: string }>({
      type: 'object',
      properties: {
        handle: { type: 'string', description: 'The handle in lower case.' },
        did: { type: 'string' },
      },
      required: ['handle', 'did'],
      additionalProperties: false,
    }),
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    handler: async ({ handle }, { signal }) => {
      const { didOfHandle } = await import('./identity/resolve.ts')
      return await didOfHandle(await access(), handle, { signal })
    },
  })
