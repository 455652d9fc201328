import type { CommandResult } from './run-command.ts'
import type { TestRecord } from './test-record.ts'

/** What a step of the test command showed. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  /** What was not tried, each with the reason. */
  readonly skipped: readonly string[]
}

/**
 * Counts what a step showed: each test that vitest recorded, what a command counted itself in its last line, or the
 * command as one. A bad exit code is a failure also where everything that was counted is good.
 *
 * `record` is undefined when a run of vitest broke off before it could write one.
 */
export function tallyOf(result: CommandResult, record: TestRecord | undefined | 'counts itself'): Tally {
  const counted = record === 'counts itself' ? countOutput(result.stdout) : record && countRecord(record)
  if (counted === undefined) {
    const good = result.ok && record === 'counts itself'
    return { passed: good ? 1 : 0, failed: good ? 0 : 1, skipped: [] }
  }
  return !result.ok && counted.failed === 0 ? { ...counted, failed: 1 } : counted
}

function countRecord({ tests, faults }: TestRecord): Tally {
  const skipped = tests.filter((test) => test.state === 'skipped' || test.state === 'pending')
  return {
    passed: tests.filter((test) => test.state === 'passed').length,
    failed: tests.filter((test) => test.state === 'failed').length + faults.length,
    skipped: skipped.map((test) => `${test.note ?? 'no reason given'} (${test.file}: ${test.name})`),
  }
}

function countOutput(stdout: string): Tally | undefined {
  const match = /(?:^|\n)(\d+) passed, (\d+) failed\s*$/.exec(stdout)
  return match === null ? undefined : { passed: Number(match[1]), failed: Number(match[2]), skipped: [] }
}
