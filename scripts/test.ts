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
import { tallyOf } from './tally.ts'
import type { TestRecord } from './test-record.ts'

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
  {
    name: 'vectors',
    command: 'node',
    args: ['packages/testkit/src/vectors/main.ts', 'packages/testkit/fixtures/spec/vectors.json'],
    after: 'build',
  },
  vitest('sources', 'build'),
  vitest('pds', 'build'),
  vitest('packed', 'build'),
  {
    name: 'requirements',
    command: 'node',
    args: ['scripts/requirements.ts', '--check', record('sources')],
    after: 'sources',
  },
]

const total = { passed: 0, failed: 0 }
const broken = new Set<string>()

/** A run that left no record broke off. */
function readRecord(path: string): TestRecord | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TestRecord) : undefined
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
  const tally = tallyOf(result, step.record === undefined ? 'counts itself' : readRecord(step.record))
  const failed = tally.failed + (full ? tally.skipped.length : 0)
  for (const line of tally.skipped) console.log(`skipped: ${line}`)
  total.passed += tally.passed
  total.failed += failed
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (failed > 0) {
    broken.add(step.name)
    if (result.output !== '') console.log(result.output.trimEnd())
  }
  const verdict = failed === 0 ? 'ok' : `failed${result.reason === undefined ? '' : ` (${result.reason})`}`
  console.log(`${step.name}: ${verdict}, ${tally.passed} passed, ${failed} failed, ${seconds} s`)
}

try {
  for (const step of steps) await run(step)
} catch (error) {
  console.log(error)
  total.failed += 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (total.passed === 0) total.failed += 1
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
