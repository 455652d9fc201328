import { type Report, reportVersion } from '../report.ts'
import type { NotProbed, Run } from '../run.ts'

/** Reports of several servers in one file. `report.schema.json` describes it, and a single report. */
export interface ReportList {
  readonly format: 'atenea-probe-reports'
  readonly version: typeof reportVersion
  readonly reports: readonly Report[]
  readonly notProbed: readonly NotProbed[]
}

/** A run for programs: the report itself, or a list of them where servers of a configuration were asked. */
export function runJson({ reports, notProbed, config }: Run): string {
  const list: ReportList = { format: 'atenea-probe-reports', version: reportVersion, reports, notProbed }
  return `${JSON.stringify(config === undefined ? reports[0] : list, undefined, 2)}\n`
}
