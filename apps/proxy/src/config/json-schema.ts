import { toJSONSchema } from 'zod'
import { configSchema } from './schema.ts'

/** The configuration file as JSON Schema, for editors. */
export function configJsonSchema(): unknown {
  return toJSONSchema(configSchema, { io: 'input' })
}
