import type { ZodType } from 'zod'
import { checkSchema } from './check-schema.ts'
import { type Environment, readConfigText, Source } from './source.ts'

export interface LoadConfigOptions<T> {
  /** Path as the user gave it; it appears in messages. */
  readonly file: string
  /** Objects in it should be strict, so that an unknown key is a fault. */
  readonly schema: ZodType<T>
  readonly environment: Environment
}

/**
 * Reads a configuration file: JSON with comments and trailing commas, `${NAME}` and `${NAME:-default}` in strings. Throws a
 * `UsageError` that lists every fault with its line and column. The file is never written.
 */
export async function loadConfig<T>({ file, schema, environment }: LoadConfigOptions<T>): Promise<T> {
  const source = new Source(file, readConfigText(file))
  const root = source.parse()
  const value = source.valueOf(root, environment)
  source.throwFaults()
  const checked = checkSchema(value, schema, root, source.fault)
  source.throwFaults()
  if (checked === undefined) throw new Error('the schema refused the file without saying why')
  return checked
}
