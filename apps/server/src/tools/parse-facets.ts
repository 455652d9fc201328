import { defineTool, jsonSchema, ToolError } from '@atenea/core'
import type { AtprotoAccess } from '../atproto/atproto.ts'
import type { ParsedFacets } from './facets/parse-facets.ts'

const index = {
  type: 'object',
  description: 'UTF-8 byte offsets into the text, the end exclusive.',
  properties: { byteStart: { type: 'integer', minimum: 0 }, byteEnd: { type: 'integer', minimum: 1 } },
  required: ['byteStart', 'byteEnd'],
  additionalProperties: false,
}

const feature = {
  oneOf: [
    {
      type: 'object',
      properties: { $type: { const: 'app.bsky.richtext.facet#mention' }, did: { type: 'string' } },
      required: ['$type', 'did'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { $type: { const: 'app.bsky.richtext.facet#link' }, uri: { type: 'string' } },
      required: ['$type', 'uri'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { $type: { const: 'app.bsky.richtext.facet#tag' }, tag: { type: 'string' } },
      required: ['$type', 'tag'],
      additionalProperties: false,
    },
  ],
}

/** `parse_facets`: what in a text Bluesky should show as links, tags and mentions. */
export const parseFacets = (access: AtprotoAccess) =>
  defineTool({
    name: 'parse_facets',
    title: 'Parse rich text facets',
    description:
      'Finds links (also bare domains), hashtags, cashtags and mentions in the plain text of a post, with UTF-8 byte offsets as ' +
      'app.bsky.richtext.facet wants them. Use it before writing an app.bsky.feed.post: without facets nothing in its text can be clicked. ' +
      '"facets" can go into the record as they are. A mention needs the DID of its account: its handle is looked up, and one that cannot be resolved ' +
      'is no error but stands in "mentions" with the reason. With resolveMentions false nothing is looked up, and all mentions stand there. At most 5 ' +
      'mentions, 5 links, 5 tags and 10 in all are returned; "omitted" counts the rest.',
    inputSchema: jsonSchema<{ readonly text: string; readonly resolveMentions?: boolean | undefined }>({
      type: 'object',
      properties: {
        text: {
          type: 'string',
          description:
            'The text exactly as the record will hold it, such as "Hi @alice.example.com, see example.com #atproto".',
        },
        resolveMentions: {
          type: 'boolean',
          description: 'Whether to look up the DIDs of mentioned handles. Default true.',
        },
      },
      required: ['text'],
      additionalProperties: false,
    }),
    outputSchema: jsonSchema<ParsedFacets>({
      type: 'object',
      properties: {
        facets: {
          type: 'array',
          description: 'Facets for the record, in the order of the text.',
          items: {
            type: 'object',
            properties: { index, features: { type: 'array', items: feature, minItems: 1, maxItems: 1 } },
            required: ['index', 'features'],
            additionalProperties: false,
          },
        },
        mentions: {
          type: 'array',
          description: 'Mentions whose DID is not known.',
          items: {
            type: 'object',
            properties: { handle: { type: 'string' }, index, problem: { type: 'string' } },
            required: ['handle', 'index'],
            additionalProperties: false,
          },
        },
        omitted: { type: 'integer', minimum: 0, description: 'How many finds were left out by the limits.' },
      },
      required: ['facets', 'mentions', 'omitted'],
      additionalProperties: false,
    }),
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    handler: async ({ text, resolveMentions = true }, { signal }) => {
      const { parseFacets: parse } = await import('./facets/parse-facets.ts')
      const { TextError } = await import('./facets/detect-facets.ts')
      try {
        const parsed = parse(text)
        if (!resolveMentions || parsed.mentions.length === 0) return parsed
        const { resolveMentions: resolve } = await import('./facets/resolve-mentions.ts')
        return await resolve(await access(), parsed, { signal })
      } catch (error) {
        if (error instanceof TextError) throw new ToolError(error.message, { cause: error })
        throw error
      }
    },
  })
