import { toJSONSchema } from 'zod'
import { resultSchema } from './report-schema.ts'

/** The JSON Schema of what `--format json` writes, which `report.schema.json` holds. */
export function reportJsonSchema(): object {
  return {
    title: 'Report of atenea-probe',
    ...toJSONSchema(resultSchema, { io: 'input', unrepresentable: 'any', reused: 'inline' }),
  }
}
