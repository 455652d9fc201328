import { type ExitCode, exitCode } from '@atenea/cli'
import type { Finding, Report } from './report.ts'
import type { Run } from './run.ts'

/** From which level on a finding lets the program fail. */
export type FailOn = 'error' | 'warning'

/** Whether a finding is at or above the level. */
export function isFailure({ level }: Pick<Finding, 'level'>, failOn: FailOn): boolean {
  return level === 'error' || (failOn === 'warning' && level === 'warning')
}

/** What one report means to the caller of the program. */
export function exitCodeOf(report: Report, failOn: FailOn): ExitCode {
  switch (report.outcome) {
    case 'unreachable':
      return exitCode.unreachable
    case 'auth-required':
      return exitCode.authRequired
    case 'tool-failed':
      return exitCode.toolFailed
    case 'fine':
      return report.verdict.era === 'none' || report.findings.some((finding) => isFailure(finding, failOn))
        ? exitCode.failed
        : exitCode.ok
  }
}

/** What comes first decides: a configuration to mend, then what is down, what wants a login, and so on. */
const precedence: readonly ExitCode[] = [
  exitCode.usage,
  exitCode.unreachable,
  exitCode.authRequired,
  exitCode.toolFailed,
  exitCode.failed,
]

/** What a whole run means. */
export function exitCodeOfRun({ reports, notProbed }: Run, failOn: FailOn): ExitCode {
  const codes = new Set<ExitCode>(reports.map((report) => exitCodeOf(report, failOn)))
  if (notProbed.some(({ reason }) => reason === 'configuration')) codes.add(exitCode.usage)
  return precedence.find((code) => codes.has(code)) ?? exitCode.ok
}
