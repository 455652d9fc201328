import { isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { FindingLevel } from '../findings/kind.ts'
import type { EraReport, EraVerdict, Finding, Report, Step, StepName } from '../report.ts'

/** Verdicts as people read them. */
export const verdictWords: Readonly<Record<EraVerdict, string>> = {
  works: 'works',
  'works-with-defects': 'works, with defects',
  refuses: 'refuses',
  'silent-downgrade': 'silent downgrade',
  'not-spoken': 'not spoken',
  'not-tried': 'not tried',
}

/** How good or bad something is, for colours and signs. */
export type Mood = 'good' | 'mixed' | 'bad' | 'plain'

/** The sign before a line of each mood; never the colour alone says it. */
export const signs: Readonly<Record<Mood, string>> = { good: '✓', mixed: '!', bad: '✗', plain: '·' }

const verdictMoods: Readonly<Record<EraVerdict, Mood>> = {
  works: 'good',
  'works-with-defects': 'mixed',
  refuses: 'bad',
  'silent-downgrade': 'bad',
  'not-spoken': 'plain',
  'not-tried': 'plain',
}

export function moodOfVerdict(verdict: EraVerdict): Mood {
  return verdictMoods[verdict]
}

export const levels: readonly FindingLevel[] = ['error', 'warning', 'note']

export const levelMoods: Readonly<Record<FindingLevel, Mood>> = { error: 'bad', warning: 'mixed', note: 'plain' }

/** How a server does as a whole. */
export function moodOfReport({ outcome, verdict, findings }: Report): Mood {
  if (outcome !== 'fine' || verdict.era === 'none') return 'bad'
  return findings.some(({ level }) => level !== 'note') ? 'mixed' : 'good'
}

/** Findings of a level, those left out because there were many of a kind counted too. */
function countOf(findings: readonly Finding[], level: FindingLevel): number {
  return findings.filter((finding) => finding.level === level).reduce((count, { more = 0 }) => count + 1 + more, 0)
}

/** `2 errors, 1 warning`, or `none`. */
export function countsOf(findings: readonly Finding[]): string {
  const parts = levels.flatMap((level) => {
    const count = countOf(findings, level)
    return count === 0 ? [] : [`${count} ${level}${count === 1 ? '' : 's'}`]
  })
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/** A duration in milliseconds, as short as it can be told. */
export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  return `${(ms / 1000).toFixed(1)} s`
}

const stepWords: Readonly<Partial<Record<StepName, string>>> = {
  spawn: 'start process',
  dns: 'DNS',
  tcp: 'TCP',
  tls: 'TLS',
  http: 'HTTP',
  'first-byte': 'first byte',
  'first-line': 'first line',
  templates: 'resource templates',
  exit: 'end process',
}

/** Steps by when they began; those that contain others come first. */
export function inOrder(steps: readonly Step[]): readonly Step[] {
  return steps.toSorted((a, b) => a.startMs - b.startMs || b.durationMs - a.durationMs)
}

export function stepWord(name: StepName): string {
  return stepWords[name] ?? name
}

/** The era whose answers describe the server: the modern one where it showed anything. */
export function describingEra({ modern, legacy }: Report): EraReport {
  return modern.server === undefined && modern.capabilities === undefined ? legacy : modern
}

/** Capabilities with their options, in one line. */
export function capabilityWords(capabilities: JsonObject): string {
  const words = Object.entries(capabilities).map(([name, value]) => {
    const options = isJsonObject(value) ? Object.keys(value) : []
    return options.length === 0 ? name : `${name} (${options.join(', ')})`
  })
  return words.length === 0 ? 'none' : words.join(', ')
}

/** What an entry of a list is known by: a URI where it has one, else its name. */
export function entryKey(entry: JsonValue): string {
  const { name, uri, uriTemplate } = isJsonObject(entry) ? entry : {}
  const key = uri ?? uriTemplate ?? name
  return typeof key === 'string' ? key : '(no name)'
}

/** What a server calls itself, in one line. */
export function identityOf({ modern, legacy }: Report): string | undefined {
  const server = modern.server ?? legacy.server
  if (server === undefined) return undefined
  const { name, version, title } = server
  const words = [name, version].filter((word) => typeof word === 'string')
  const shown = words.length === 0 ? '(no name)' : words.join(' ')
  return typeof title === 'string' && title !== name ? `${shown} (${title})` : shown
}

/** The server as the user named it. */
export function targetName({ target }: Report): string {
  return target.name ?? target.text
}

/** What was asked for and what was shown, kept apart. */
export function revisionsOf({ requested, observed }: Pick<Report['modern'], 'requested' | 'observed'>): string {
  if (requested === undefined) return ''
  return `asked for ${requested}, ${observed === undefined ? 'none shown' : `shown ${observed}`}`
}
