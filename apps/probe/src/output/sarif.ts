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
export function runSarif({ reports, notProbed, config }: Run): string {
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
        results: reports.flatMap((report) => resultsOf(report, config)),
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

/** Services that show results want a file, which a server is not: the configuration that names it, or else what was asked. */
function artifactOf({ target }: Report, config: string | undefined): string {
  if (config !== undefined) return encodeURI(config.replaceAll('\\', '/').toWellFormed())
  if (target.kind === 'url' && URL.canParse(target.text)) return new URL(target.text).href
  return target.text.toWellFormed().split('/').map(encodeURIComponent).join('/')
}

function resultsOf(report: Report, config: string | undefined): object[] {
  const uri = artifactOf(report, config)
  return [...outcomeResults(report, uri), ...report.findings.map((finding) => findingResult(finding, report, uri))]
}

function outcomeResults(report: Report, uri: string): object[] {
  const { outcome, verdict, call } = report
  const id = outcome === 'fine' ? (verdict.era === 'none' ? 'no-era' : undefined) : outcome
  if (id === undefined) return []
  const detail = id === 'tool-failed' ? call?.detail : verdict.cause
  const text = [verdict.summary, detail, verdict.repair].filter((line) => line !== undefined).join('\n')
  return [resultOf({ id, level: 'error', text, about: '', report, uri })]
}

function findingResult(finding: Finding, report: Report, uri: string): object {
  const { id, level, title, evidence, repair, more = 0, subject, era } = finding
  const about = [subject, era].filter((word) => word !== undefined)
  const lines = [
    about.length === 0 ? title : `${title} (${about.join(', ')})`,
    ...(evidence === '' ? [] : [`Saw: ${evidence}`]),
    ...(more > 0 ? [`And ${more} more like it.`] : []),
    `Fix: ${repair}`,
  ]
  return resultOf({ id, level, text: lines.join('\n'), about: about.join('/'), report, uri })
}

interface ResultParts {
  readonly id: string
  readonly level: FindingLevel
  readonly text: string
  /** What in the server is meant; empty for the whole. */
  readonly about: string
  readonly report: Report
  readonly uri: string
}

function resultOf({ id, level, text, about, report, uri }: ResultParts): object {
  const name = targetName(report)
  const place = (about === '' ? name : `${name}/${about}`).toWellFormed()
  return {
    ruleId: id,
    ruleIndex: ruleIndexes.get(id) ?? -1,
    level: sarifLevels[level],
    message: { text: withoutLinks(text.toWellFormed()) },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } },
        logicalLocations: [{ name: about === '' ? name : about, fullyQualifiedName: place, kind: 'resource' }],
      },
    ],
    // The same fault of the same server is one alert from run to run.
    partialFingerprints: { 'ateneaProbe/v1': `${id}:${place}` },
  }
}

/** Viewers make links of `[words](target)`, and what servers say must not become one. */
function withoutLinks(text: string): string {
  return text.replaceAll('](', '] (')
}
