/**
 * The test command: every check of the repository, one after the other, each with its own lines. Ends with one line
 * `N passed, N failed` that counts each test of a test runner, each vector, and each check that is only good or bad.
 *
 * What npm alone cannot provide is skipped with a line that names what is missing; with ATENEA_FULL=1 that is a failure.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'
import type { TestRecord } from './test-record.ts'

interface Tally {
  passed: number
  failed: number
}

interface Step {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Where a run of vitest leaves its record: its tests are counted one by one. */
  readonly record?: string
  /** A step without which this one could only repeat its failure. */
  readonly after?: string
}

const full = process.env['ATENEA_FULL'] === '1'
const scratch = mkdtempSync(join(tmpdir(), 'atenea-test-'))
const record = (name: string): string => join(scratch, `${name}.json`)

function vitest(name: string, after: string): Step {
  const reporters = ['--reporter=default', '--reporter=./scripts/test-record.ts']
  return { name, command: 'vitest', args: ['run', '--project', name, ...reporters], record: record(name), after }
}

const steps: readonly Step[] = [
  { name: 'format', command: 'biome', args: ['format'] },
  { name: 'lint', command: 'oxlint', args: [] },
  { name: 'types', command: 'tsc', args: ['-b'] },
  { name: 'unused code', command: 'knip', args: [] },
  { name: 'build', command: 'turbo', args: ['run', 'build', '--output-logs=errors-only'] },
  vitest('sources', 'build'),
  vitest('packed', 'build'),
  {
    name: 'requirements',
    command: 'node',
    args: ['scripts/requirements.ts', '--check', record('sources')],
    after: 'sources',
  },
]

const total: Tally = { passed: 0, failed: 0 }
const broken = new Set<string>()

/** Counts the tests of a run and names what was skipped. A run that left no record broke off. */
function countRecord(path: string): Tally {
  if (!existsSync(path)) return { passed: 0, failed: 1 }
  const { tests, faults } = JSON.parse(readFileSync(path, 'utf8')) as TestRecord
  const skipped = tests.filter((test) => test.state === 'skipped' || test.state === 'pending')
  for (const test of skipped) console.log(`skipped: ${test.note ?? 'no reason given'} (${test.file}: ${test.name})`)
  return {
    passed: tests.filter((test) => test.state === 'passed').length,
    failed: tests.filter((test) => test.state === 'failed').length + faults.length + (full ? skipped.length : 0),
  }
}

/** What a command that counts for itself printed last, or undefined. */
function countOutput(output: string): Tally | undefined {
  const match = /(?:^|\n)(\d+) passed, (\d+) failed\s*$/.exec(output)
  return match === null ? undefined : { passed: Number(match[1]), failed: Number(match[2]) }
}

async function run(step: Step): Promise<void> {
  console.log(`\n── ${step.name}`)
  if (step.after !== undefined && broken.has(step.after)) {
    console.log(`not run, since "${step.after}" failed`)
    broken.add(step.name)
    return
  }
  const started = performance.now()
  const result = await runCommand(step.command, step.args, {
    env: { TURBO_TELEMETRY_DISABLED: '1', ...(step.record === undefined ? {} : { ATENEA_TEST_RECORD: step.record }) },
    live: step.record !== undefined,
    timeoutMs: 30 * 60_000,
  })
  const tally = tallyOf(step, result.ok, result.output)
  total.passed += tally.passed
  total.failed += tally.failed
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (tally.failed > 0) {
    broken.add(step.name)
    if (result.output !== '') console.log(result.output.trimEnd())
  }
  const verdict = tally.failed === 0 ? 'ok' : `failed${result.reason === undefined ? '' : ` (${result.reason})`}`
  console.log(`${step.name}: ${verdict}, ${tally.passed} passed, ${tally.failed} failed, ${seconds} s`)
}

/** A bad exit code always counts as a failure, also when everything that was counted is good. */
function tallyOf(step: Step, ok: boolean, output: string): Tally {
  const counted = step.record === undefined ? countOutput(output) : countRecord(step.record)
  if (counted === undefined) return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
  return !ok && counted.failed === 0 ? { passed: counted.passed, failed: 1 } : counted
}

try {
  for (const step of steps) await run(step)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (total.passed === 0) total.failed += 1
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
