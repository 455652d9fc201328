/**
 * `pnpm requirements [OWNER…]`: which MUST rows of the requirement catalogue no test names, for each part of the
 * toolkit. With `--check RECORD` (the record of a run, see `test-record.ts`): fails when a title names an id that does
 * not exist, or when a row that is due is named by no test that passed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requirements } from '../packages/testkit/src/requirements.ts'
import { dueOwners, dueReportGroups, postponed } from './requirements-due.ts'
import { coverageOf, missingMusts, missingReports, mustsOf, partOf } from './requirement-coverage.ts'
import { outputOf } from './run-command.ts'
import type { RecordedTest, TestRecord } from './test-record.ts'

/** Names every test without running any: the files are loaded, so that rows of `test.each` are spelled out. */
async function listTests(): Promise<RecordedTest[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'atenea-list-'))
  try {
    const path = join(scratch, 'tests.json')
    const args = ['list', '--project', 'sources', '--staticParse=false', `--json=${path}`]
    await outputOf('vitest', args, { timeoutMs: 600_000 })
    const tests = JSON.parse(readFileSync(path, 'utf8')) as { file: string; name: string }[]
    return tests.map((test) => ({ ...test, state: 'passed' }))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function report(owners: readonly string[]): Promise<void> {
  const { named } = coverageOf(await listTests())
  console.log('part          MUST  named  without a test')
  for (const owner of owners) {
    const missing = missingMusts(owner, named)
    const all = mustsOf(owner).length
    console.log(
      `${owner.padEnd(12)} ${String(all).padStart(5)} ${String(all - missing.length).padStart(6)}  ${missing.length}`,
    )
  }
  for (const owner of owners) {
    const missing = missingMusts(owner, named)
    if (missing.length > 0) console.log(`\n${owner}`)
    for (const row of missing) console.log(`  ${row.id.padEnd(13)} ${row.level.padEnd(7)} ${row.text}`)
    for (const entry of missingReports(owner, named)) console.log(`  ${entry.id.padEnd(13)} report  ${entry.title}`)
  }
}

/** Each line is one fault; the run is good when there is none. */
function faultsOf(tests: readonly RecordedTest[]): string[] {
  const { named, unknown } = coverageOf(tests)
  const rows = new Set(dueOwners.flatMap((owner) => missingMusts(owner, named)))
  const reports = new Set(dueOwners.flatMap((owner) => missingReports(owner, named)))
  const known = new Set(requirements.map((row) => row.id))
  return [
    ...unknown.map((id) => `no such id: ${id}`),
    ...[...rows]
      .filter(({ id }) => !postponed.has(id))
      .map(({ id, level, text }) => `no test that passed names ${id} (${level}): ${text}`),
    ...[...reports]
      .filter(({ id }) => dueReportGroups.includes(id.charAt(0)))
      .map(({ id, title }) => `no test that passed names the field report ${id}: ${title}`),
    ...[...postponed.keys()].filter((id) => named.has(id)).map((id) => `${id} is postponed, yet a test names it`),
    ...[...postponed.keys()].filter((id) => !known.has(id)).map((id) => `postponed, but no such requirement: ${id}`),
  ]
}

const [first, second, ...rest] = process.argv.slice(2)
if (first === '--check') {
  if (second === undefined) throw new Error('--check needs the record of a run')
  const record = JSON.parse(readFileSync(second, 'utf8')) as TestRecord
  const faults = faultsOf(record.tests)
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
} else {
  const owners = [first, second, ...rest].filter((owner) => owner !== undefined)
  await report(owners.length > 0 ? owners : [...new Set(requirements.flatMap((row) => row.owners.map(partOf)))])
}
