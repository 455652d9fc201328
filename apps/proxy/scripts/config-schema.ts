/** Writes `config.schema.json`, the published schema of the configuration file. A test fails when it is not current. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configJsonSchema } from '../src/config/json-schema.ts'

writeFileSync(
  join(import.meta.dirname, '../config.schema.json'),
  `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`,
)
