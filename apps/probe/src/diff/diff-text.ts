import { printable } from '@atenea/cli'
import type { JsonValue } from '@atenea/mcpcompat'
import type { Style } from '../output/style.ts'
import { table } from '../output/table.ts'
import { duration, type Mood, signs, verdictWords } from '../output/words.ts'
import type { ReportTarget } from '../report.ts'
import type { Diff, Difference, DifferenceArea, DifferenceKind } from './diff.ts'

/** In the order in which they matter to whoever compares. */
const sections: readonly (readonly [kind: DifferenceKind, title: string, mood: Mood, sign: string])[] = [
  ['lost', 'B loses', 'bad', '-'],
  ['worse', 'B does worse', 'bad', '↓'],
  ['changed', 'B changes', 'mixed', '~'],
  ['added', 'B adds', 'good', '+'],
  ['better', 'B does better', 'good', '↑'],
]

const areaWords: Readonly<Record<DifferenceArea, string>> = {
  outcome: 'outcome',
  verdict: 'clients',
  revision: 'revision',
  identity: 'identity',
  instructions: 'instructions',
  capabilities: 'capability',
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  templates: 'resource template',
  finding: 'finding',
}

const longestValue = 120

/** A comparison for people, what B loses first. */
export function diffText(diff: Diff, style: Style): string {
  const mood: Mood = diff.same ? 'good' : 'bad'
  const head = [
    style.bold(style.mood(mood, `${signs[mood]} ${summaryOf(diff)}`)),
    `  A  ${nameOf(diff.a)}`,
    `  B  ${nameOf(diff.b)}`,
  ].join('\n')
  const parts = sections.flatMap(([kind, title, sectionMood, sign]) => {
    const chosen = diff.differences.filter((difference) => difference.kind === kind)
    if (chosen.length === 0) return []
    const lines = chosen.map((difference) => `  ${style.mood(sectionMood, sign)} ${differenceText(difference)}`)
    return [[style.bold(title), ...lines].join('\n')]
  })
  const notes = diff.notCompared.map((text) => `  ${oneLine(text)}`)
  const times = diff.timings.map(({ step, aMs, bMs }) => [`  ${step}`, duration(aMs), duration(bMs)])
  return `${[
    head,
    ...parts,
    ...(notes.length === 0 ? [] : [['Not compared', ...notes].join('\n')]),
    table([['Time, for information', 'A', 'B'], ...times], ['left', 'right', 'right']),
  ].join('\n\n')}\n`
}

function summaryOf({ same, differences }: Diff): string {
  if (differences.length === 0) return 'A and B are the same'
  const words: Readonly<Record<DifferenceKind, string>> = {
    lost: 'lost',
    worse: 'worse',
    changed: 'changed',
    added: 'added',
    better: 'better',
  }
  const counts = sections.flatMap(([kind]) => {
    const count = differences.filter((difference) => difference.kind === kind).length
    return count === 0 ? [] : [`${count} ${words[kind]}`]
  })
  return `${same ? 'B loses nothing' : 'B is not as A is'}: ${counts.join(', ')}`
}

function differenceText({ kind, area, era, subject, pointer, a, b }: Difference): string {
  const about = era === undefined || era === 'both' ? '' : ` (${era})`
  const place = [subject, pointer]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => oneLine(part ?? ''))
  const head = `${areaWords[area]}${place.length === 0 ? '' : ` ${place.join(' ')}`}${about}`
  if (area === 'finding') return `${head}: ${shown(area, kind === 'worse' ? b : a)}`
  if (a === undefined && b === undefined) return head
  if (b === undefined) return kind === 'lost' ? `${head}: ${shown(area, a)}` : `${head}: ${shown(area, a)} is gone`
  if (a === undefined) return kind === 'added' ? `${head}: ${shown(area, b)}` : `${head}: ${shown(area, b)} is new`
  return `${head}: ${shown(area, a)} → ${shown(area, b)}`
}

function shown(area: DifferenceArea, value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (area === 'verdict' && typeof value === 'string' && Object.hasOwn(verdictWords, value)) {
    return verdictWords[value as keyof typeof verdictWords]
  }
  const text = typeof value === 'string' && (area === 'finding' || area === 'outcome') ? value : JSON.stringify(value)
  const short = text.length <= longestValue ? text : `${text.slice(0, longestValue).toWellFormed()}…`
  return oneLine(short)
}

function nameOf({ name, text }: ReportTarget): string {
  return oneLine(name === undefined ? text : `${name}: ${text}`)
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*[\r\n]+\s*/g, ' ⏎ '))
}
