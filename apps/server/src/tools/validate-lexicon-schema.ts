import { defineTool, jsonSchema } from '@atenea/core'
import type { LexiconReport } from './lexicon/validate-lexicon.ts'

const finding = {
  type: 'object',
  properties: {
    path: {
      type: 'string',
      description: 'Where, such as defs.main.record.properties.text.maxLength; empty for the document itself.',
    },
    message: { type: 'string', description: 'What is wrong, and what would be right.' },
  },
  required: ['path', 'message'],
  additionalProperties: false,
}

/** `validate_lexicon_schema`: whether a lexicon document follows the specification. */
export const validateLexiconSchema = defineTool({
  name: 'validate_lexicon_schema',
  title: 'Validate lexicon schema',
  description:
    'Checks an AT Protocol lexicon (the schema document of a record type, query, procedure, subscription or permission set) against the ' +
    'lexicon language, version 1: the shape of every definition, names, bounds, defaults, and references within the document. Use it after ' +
    'writing or changing a lexicon and before publishing it. An invalid lexicon is a normal answer with valid: false and up to 20 errors, ' +
    'each with its path. Warnings are about what is allowed but refused by a common implementation, or probably a slip, such as a misspelt ' +
    'member. References to other lexicons are checked for their form only, since nothing is fetched.',
  inputSchema: jsonSchema<{ readonly schema: Readonly<{ [member: string]: unknown }> }>({
    type: 'object',
    properties: {
      schema: {
        type: 'object',
        description: 'The lexicon document, with its members "lexicon" (1), "id" (an NSID) and "defs".',
      },
    },
    required: ['schema'],
    additionalProperties: false,
  }),
  outputSchema: jsonSchema<LexiconReport>({
    type: 'object',
    properties: {
      valid: { type: 'boolean', description: 'Whether there is no error; warnings do not count.' },
      errors: { type: 'array', items: finding },
      warnings: { type: 'array', items: finding },
    },
    required: ['valid', 'errors', 'warnings'],
    additionalProperties: false,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  handler: async ({ schema }) => {
    const { validateLexicon } = await import('./lexicon/validate-lexicon.ts')
    return validateLexicon(schema)
  },
})
