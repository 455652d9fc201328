/** Which requirement, decision, bridge rule, verdict row or field report the tests name, read from their titles. */
import { type Requirement, type RequirementOwner, requirements } from '../packages/testkit/src/requirements.ts'
import {
  bridgeRuleIds,
  decisionIds,
  duplexProbeRowIds,
  type FieldReport,
  fieldReports,
  httpProbeRowIds,
} from '../packages/testkit/src/spec-ids.ts'
import type { RecordedTest } from './test-record.ts'

/** Ids that no other text looks like, wherever they stand in a title. */
const freeId = /(?<![\w-])(?:(?:MC|MT|MH|MS|LG)-(?:[A-Z]+-)?\d+|BR-\d+|A-\d+|[HS]\d\d)(?![\w-])/g
/** Field reports are as short as a cell of a chess board, so they count only in the list of ids that opens a title. */
const openingIds = /^(?:[A-Z][A-Z0-9-]*\d(?:, | and |: |\/))*[A-Z][A-Z0-9-]*\d(?=:)/
const fieldReportId = /(?<![\w-])[A-G]\d{1,2}(?![\w-])/g

/** The ids that a title names, known or not. Suites and test are parted by ` > `, as vitest does. */
export function idsOfTitle(title: string): string[] {
  return title
    .split(' > ')
    .flatMap((part) => [...(part.match(freeId) ?? []), ...(openingIds.exec(part)?.[0].match(fieldReportId) ?? [])])
}

const knownIds: ReadonlySet<string> = new Set([
  ...requirements.map((row) => row.id),
  ...decisionIds,
  ...bridgeRuleIds,
  ...httpProbeRowIds,
  ...duplexProbeRowIds,
  ...fieldReports.map((report) => report.id),
])

/** What the tests of a run cover. */
export interface Coverage {
  /** Known ids that at least one test names which passed. */
  readonly named: ReadonlySet<string>
  /** Ids that do not exist, each with the test that names it. */
  readonly unknown: readonly string[]
}

/** Reads ids from the titles of a run. Only a test that passed covers what it names. */
export function coverageOf(tests: readonly RecordedTest[]): Coverage {
  const named = new Set<string>()
  const unknown: string[] = []
  for (const test of tests) {
    for (const id of idsOfTitle(test.name)) {
      if (!knownIds.has(id)) unknown.push(`${id} (${test.file}: ${test.name})`)
      else if (test.state === 'passed') named.add(id)
    }
  }
  return { named, unknown }
}

const isMust = (row: Requirement): boolean => row.level.startsWith('MUST')

/** The rows of a part of the toolkit that bind it and that no test names. */
export function missingMusts(owner: string, named: ReadonlySet<string>): Requirement[] {
  return mustsOf(owner).filter((row) => !named.has(row.id))
}

/** The field reports of a part of the toolkit that no test names. */
export function missingReports(owner: string, named: ReadonlySet<string>): FieldReport[] {
  return fieldReports.filter((report) => !named.has(report.id) && report.owners.some((name) => partOf(name) === owner))
}

/** The rows that bind a part of the toolkit, as client or as server. */
export function mustsOf(owner: string): Requirement[] {
  return requirements.filter((row) => isMust(row) && row.owners.some((name) => partOf(name) === owner))
}

/** `http/c` and `http/s` are halves of `http`. */
export function partOf(owner: RequirementOwner): string {
  return owner.split('/')[0] ?? owner
}
