import { readWhole, UsageError } from '@atenea/cli'
import { type Report, reportVersion } from '../report.ts'

const maxBytes = 256 * 1024 * 1024

/** Reads a report that `--format json` wrote. Throws a `UsageError` that says why it cannot be one. */
export async function readReport(file: string): Promise<Report> {
  const value = parse(read(file), file)
  const { format, version } = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  if (format === 'atenea-probe-reports') {
    throw new UsageError(
      `${file} holds reports of several servers; save one with --format json --config FILE NAME … or without --config`,
    )
  }
  if (format !== 'atenea-probe-report') {
    throw new UsageError(`${file} is no report; save one with: atenea-probe --format json --output ${file} …`)
  }
  if (version !== reportVersion) {
    throw new UsageError(
      `${file} is a report of version ${String(version)}, and this program reads version ${reportVersion}`,
    )
  }
  const { reportSchema } = await import('../report-schema.ts')
  const checked = reportSchema.safeParse(value)
  if (checked.success) return checked.data as Report
  const [issue] = checked.error.issues
  const place = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.map(String).join('.')}`
  throw new UsageError(`${file} is a damaged report: ${issue?.message ?? 'it does not match the schema'}${place}`)
}

function read(file: string): string {
  try {
    return readWhole(file, maxBytes).toString('utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`cannot read the report: ${reason}`, { cause })
  }
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`${file} is no JSON: ${reason}`, { cause })
  }
}
