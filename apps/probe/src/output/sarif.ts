import { catalog } from '../findings/catalog.ts'
import type { FindingKind, FindingLevel } from '../findings/kind.ts'
import type { Finding, Report } from '../report.ts'
import type { Run } from '../run.ts'
import { version } from '../version.ts'
import { targetName } from './words.ts'

/** What the standard calls our levels. */
const sarifLevels: Readonly<Record<FindingLevel, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  note: 'note',
}

/** Rules for what is no finding: that nobody gets in at all. */
const outcomeRules: Readonly<Record<string, FindingKind>> = {
  unreachable: {
    level: 'error',
    requirements: [],
    title: 'The server cannot be reached or started',
    repair: 'See the message for the step that failed.',
  },
  'auth-required': {
    level: 'error',
    requirements: [],
    title: 'The server wants credentials',
    repair: 'Pass credentials with --header-file, as the challenge in the message says.',
  },
  'no-era': {
    level: 'error',
    requirements: [],
    title: 'Clients of neither era get in',
    repair: 'See the message for what was answered in each era.',
  },
  'tool-failed': {
    level: 'error',
    requirements: [],
    title: 'The tool that was called failed',
    repair: 'See the message for the answer.',
  },
}

const rules: readonly (readonly [id: string, kind: FindingKind])[] = [
  ...Object.entries<FindingKind>(catalog),
  ...Object.entries(outcomeRules),
]
const ruleIndexes: ReadonlyMap<string, number> = new Map(rules.map(([id], index) => [id, index]))

/** A run as SARIF 2.1.0, which code scanning services read. A server has no lines, so that results name it and what in it is meant. */
export function runSarif({ reports, notProbed }: Run): string {
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'atenea-probe',
            semanticVersion: version,
            rules: rules.map(([id, kind]) => ruleOf(id, kind)),
          },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: notProbed.every(({ reason }) => reason !== 'configuration'),
            toolConfigurationNotifications: notProbed
              .filter(({ reason }) => reason === 'configuration')
              .map(({ name, detail }) => ({ level: 'error', message: { text: `${name}: ${detail}` } })),
          },
        ],
        results: reports.flatMap(resultsOf),
      },
    ],
  }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

function ruleOf(id: string, { level, requirements, title, repair }: FindingKind): object {
  const needs = requirements.length === 0 ? '' : ` (${requirements.join(', ')})`
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: `${title}${needs}` },
    help: { text: repair, markdown: repair },
    helpUri: 'https://modelcontextprotocol.io/specification',
    defaultConfiguration: { level: sarifLevels[level] },
    properties: { tags: ['mcp', ...requirements] },
  }
}

function resultsOf(report: Report): object[] {
  return [...outcomeResults(report), ...report.findings.map((finding) => findingResult(finding, report))]
}

function outcomeResults(report: Report): object[] {
  const { outcome, verdict, call } = report
  const id = outcome === 'fine' ? (verdict.era === 'none' ? 'no-era' : undefined) : outcome
  if (id === undefined) return []
  const detail = id === 'tool-failed' ? call?.detail : verdict.cause
  const text = [verdict.summary, detail, verdict.repair].filter((line) => line !== undefined).join('\n')
  return [result(id, 'error', text, report, undefined)]
}

function findingResult(finding: Finding, report: Report): object {
  const { id, level, title, evidence, repair, more = 0, subject, era } = finding
  const about = [subject, era].filter((word) => word !== undefined)
  const lines = [
    about.length === 0 ? title : `${title} (${about.join(', ')})`,
    ...(evidence === '' ? [] : [`Saw: ${evidence}`]),
    ...(more > 0 ? [`And ${more} more like it.`] : []),
    `Fix: ${repair}`,
  ]
  return result(id, level, lines.join('\n'), report, about.join('/'))
}

function result(id: string, level: FindingLevel, text: string, report: Report, about: string | undefined): object {
  const name = targetName(report)
  const place = about === undefined || about === '' ? name : `${name}/${about}`
  return {
    ruleId: id,
    ruleIndex: ruleIndexes.get(id) ?? -1,
    level: sarifLevels[level],
    message: { text: text.toWellFormed() },
    locations: [
      {
        logicalLocations: [
          { name: about === undefined || about === '' ? name : about, fullyQualifiedName: place, kind: 'resource' },
        ],
      },
    ],
    // The same fault of the same server is one alert from run to run.
    partialFingerprints: { 'ateneaProbe/v1': `${id}:${place}`.toWellFormed() },
  }
}
