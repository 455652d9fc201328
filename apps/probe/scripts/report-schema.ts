/** Writes `report.schema.json`, the published schema of `--format json`. A test fails when it is not current. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reportJsonSchema } from '../src/report-json-schema.ts'

writeFileSync(
  join(import.meta.dirname, '../report.schema.json'),
  `${JSON.stringify(reportJsonSchema(), undefined, 2)}\n`,
)
