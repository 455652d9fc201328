import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import { DefinitionError } from '../definition-error.ts'
import type { AnySchema } from './schema-types.ts'
import { Invalid, createValidator, isThenable } from './validator.ts'

/** The schema of a form, ready to read what a user filled in. */
export interface FormSchema<Content> {
  readonly json: JsonObject
  /** The content when it fits (MC-ELIC-15). */
  readonly read: (content: JsonValue) => { readonly value: Content } | undefined
}

const where = 'elicitation/create: the schema of the form'

/** Forms are read at once, so their schemas must be simple: no references, nothing that has to be waited for. */
export function createFormSchema<Content>(schema: AnySchema): FormSchema<Content> {
  const { json, validate } = createValidator(schema, { where, root: 'content', side: 'input' })
  return {
    json: withoutNoise(json),
    read(content) {
      const value = validate(content)
      if (isThenable(value)) throw new DefinitionError(`${where} is too complex: its check does not answer at once`)
      return value instanceof Invalid ? undefined : { value: value as Content }
    },
  }
}

/** Members that libraries add and that the protocol has no place for in a form. */
function withoutNoise(json: JsonObject): JsonObject {
  const { additionalProperties: _closed, ...rest } = json
  return rest
}
