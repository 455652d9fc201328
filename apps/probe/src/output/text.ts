import { factsOfAuth } from './auth-facts.ts'
import { printable, wrap } from '@atenea/cli'
import type { EraReport, Finding, ListName, Report } from '../report.ts'
import type { NotProbed, Run } from '../run.ts'
import type { Style } from './style.ts'
import { table } from './table.ts'
import {
  capabilityWords,
  countsOf,
  describingEra,
  duration,
  entryKey,
  identityOf,
  inOrder,
  levelMoods,
  levels,
  type Mood,
  moodOfReport,
  moodOfVerdict,
  revisionsOf,
  signs,
  stepWord,
  targetName,
  verdictWords,
} from './words.ts'

const barWidth = 24
/** Lines of what a server wrote to stderr. */
const stderrLines = 12
const shownNames = 12
/** Characters of what was seen in a step, so that its line stays one. */
const longestDetail = 40

/** A run for people: what is wrong and what to do about it first. With several servers, a table of all of them at the end. */
export function runText(run: Run, style: Style): string {
  const parts = run.reports.map((report) => reportText(report, style, run.config !== undefined))
  if (run.config === undefined) return `${parts.join('\n')}\n`
  const wrong = run.notProbed.filter(({ reason }) => reason === 'configuration')
  return `${[...parts, ...wrong.map((server) => wrongText(server, style)), summaryTable(run, style)].join('\n\n')}\n`
}

function reportText(report: Report, style: Style, isBrief: boolean): string {
  const sections = [headline(report, style, isBrief)]
  // In one of many the cause says it all.
  if (!isBrief || report.outcome !== 'unreachable') sections.push(eras(report, style))
  if (!isBrief) sections.push(aboutServer(report, style))
  sections.push(auth(report, style), call(report, style), findings(report, style, isBrief), stderr(report))
  if (!isBrief) sections.push(timing(report, style))
  return sections.filter((section) => section !== '').join('\n\n')
}

function wrongText({ name, detail }: NotProbed, style: Style): string {
  const head = style.bold(style.mood('bad', `${signs.bad} ${oneLine(name)}: it is wrong in the configuration.`))
  return [head, ...detail.split('\n').map((line) => indented(oneLine(line)))].join('\n')
}

function headline(report: Report, style: Style, isBrief: boolean): string {
  const { verdict, target } = report
  const mood = moodOfReport(report)
  const before = isBrief && target.name !== undefined ? `${oneLine(target.name)}: ` : ''
  const lines = [style.bold(style.mood(mood, `${signs[mood]} ${before}${oneLine(verdict.summary)}`))]
  lines.push(
    ...factLines(style, [
      ['Cause', verdict.cause],
      ['Repair', verdict.repair],
    ]),
  )
  lines.push(style.dim(indented(oneLine(target.text))))
  return lines.join('\n')
}

function eras({ legacy, modern }: Report, style: Style): string {
  if (legacy.verdict === 'not-tried' && modern.verdict === 'not-tried') return ''
  return [eraText('legacy', legacy, style), eraText('modern', modern, style)].join('\n')
}

function eraText(era: string, report: EraReport, style: Style): string {
  const mood = moodOfVerdict(report.verdict)
  const verdict = style.mood(mood, `${signs[mood]} ${verdictWords[report.verdict]}`.padEnd(22))
  const first = `  ${era.padEnd(7)} ${verdict} ${oneLine(revisionsOf(report))}`.trimEnd()
  const reason = report.reason === '' ? [] : wrapped(style, report.reason, 12, 12).map((line) => style.dim(line))
  return [first, ...reason].join('\n')
}

function aboutServer(report: Report, style: Style): string {
  const era = describingEra(report)
  const identity = identityOf(report)
  if (identity === undefined && era.capabilities === undefined) return ''
  const { instructions, capabilities } = era
  const lines = factLines(style, [
    ['name', identity],
    ['instructions', instructions === undefined ? undefined : shortened(instructions, 300)],
    ['capabilities', capabilities === undefined ? undefined : capabilityWords(capabilities)],
    ...(['tools', 'prompts', 'resources', 'templates'] as const).map(
      (name) => [name, listWords(report, name)] as const,
    ),
  ])
  return ['Server', ...lines].join('\n')
}

/** How many, and which; apart where the eras differ. */
function listWords({ modern, legacy }: Report, name: ListName): string | undefined {
  const counts = [modern.counts[name], legacy.counts[name]].filter((count) => count !== undefined)
  if (counts.length === 0) return undefined
  const entries = modern.lists[name] ?? legacy.lists[name] ?? []
  const names = entries.slice(0, shownNames).map(entryKey)
  const more = entries.length > names.length ? ` and ${entries.length - names.length} more` : ''
  const differs = new Set(counts).size > 1 ? `${counts[0]} modern, ${counts[1]} legacy` : String(counts[0])
  return names.length === 0 ? differs : `${differs}: ${names.join(', ')}${more}`
}

function auth({ auth: challenge }: Report, style: Style): string {
  return challenge === undefined ? '' : ['Authentication', ...factLines(style, factsOfAuth(challenge))].join('\n')
}

function call({ call: called }: Report, style: Style): string {
  if (called === undefined) return ''
  const mood: Mood = called.ok ? 'good' : 'bad'
  const lines = [
    `Call of ${oneLine(called.name)} (${called.era}): ${style.mood(mood, `${signs[mood]} ${called.ok ? 'answered' : 'failed'}`)} in ${duration(called.durationMs)}`,
  ]
  if (called.detail !== undefined) lines.push(...wrapped(style, called.detail, 2))
  if (called.answer !== undefined) lines.push(indented(oneLine(shortened(JSON.stringify(called.answer), 2000))))
  return lines.join('\n')
}

function findings(report: Report, style: Style, isBrief: boolean): string {
  const found = report.findings
  if (found.length === 0) return isBrief || moodOfReport(report) === 'bad' ? '' : 'Findings: none'
  const lines = [`Findings: ${countsOf(found)}`]
  for (const level of levels) {
    if (isBrief && level === 'note') continue
    const chosen = found.filter((finding) => finding.level === level)
    const ids = new Set(chosen.map(({ id }) => id))
    for (const id of ids)
      lines.push(
        ...kindLines(
          chosen.filter((finding) => finding.id === id),
          style,
        ),
      )
  }
  return lines.join('\n')
}

/** Findings of one kind: what it is and how to mend it once, and what was seen of each. */
function kindLines(alike: readonly Finding[], style: Style): string[] {
  const [finding] = alike
  if (finding === undefined) return []
  const { level, id, title, repair, requirements } = finding
  const mood = levelMoods[level]
  const isOfOneEra = alike.every(({ era }) => era === finding.era)
  const about = [
    ...(alike.length > 1 || finding.subject === undefined ? [] : [`— ${oneLine(finding.subject)}`]),
    ...(isOfOneEra && finding.era !== undefined ? [`(${finding.era})`] : []),
  ]
  const head = [`${style.bold(id)}: ${oneLine(title)}`, ...about].join(' ')
  const lines = [`  ${style.mood(mood, `${signs[mood]} ${level}`)} ${head}`]
  for (const { subject, era, evidence, more = 0 } of alike) {
    // evidence mostly says itself what it is about
    const isNamed = alike.length === 1 || subject === undefined || evidence.includes(subject)
    const which = [isNamed ? undefined : subject, isOfOneEra ? undefined : era].filter((word) => word !== undefined)
    const saw = [which.join(', '), evidence].filter((part) => part !== '').join(': ')
    if (saw !== '') lines.push(...wrapped(style, `saw: ${saw}`, 6))
    if (more > 0) lines.push(`      and ${more} more like it`)
  }
  if (level !== 'note') lines.push(...wrapped(style, `fix: ${repair}`, 6))
  if (requirements.length > 0 && level !== 'note') lines.push(style.dim(`      rule: ${requirements.join(', ')}`))
  return lines
}

/** Worth reading where a server did not do well. */
function stderr(report: Report): string {
  if (report.stderr === undefined || report.stderr.trim() === '' || moodOfReport(report) !== 'bad') return ''
  const lines = report.stderr.trimEnd().split(/\r?\n/)
  const shown = lines.slice(-stderrLines)
  const title = shown.length < lines.length ? `The last ${shown.length} lines of its stderr` : 'Its stderr'
  return [title, ...shown.map((line) => `  | ${oneLine(line)}`)].join('\n')
}

function timing({ steps: recorded, durationMs }: Report, style: Style): string {
  const steps = inOrder(recorded)
  const end = Math.max(durationMs, ...steps.map((step) => step.startMs + step.durationMs))
  if (steps.length === 0 || end <= 0) return ''
  const rows = steps.map((step) => {
    const from = Math.min(barWidth - 1, Math.floor((step.startMs / end) * barWidth))
    const cells = Math.max(1, Math.round((step.durationMs / end) * barWidth))
    const bar = `${' '.repeat(from)}${'━'.repeat(Math.min(cells, barWidth - from))}`.padEnd(barWidth)
    const era = step.era === undefined ? '' : ` (${step.era})`
    return [
      `  ${signs[step.ok ? 'good' : 'bad']} ${stepWord(step.name)}${era}`,
      style.mood(step.ok ? 'plain' : 'bad', bar),
      duration(step.durationMs),
      style.dim(oneLine(cut(step.detail ?? ''))),
    ]
  })
  return [`Timing: ${duration(durationMs)} in all`, table(rows, ['left', 'left', 'right', 'left'])].join('\n')
}

function summaryTable({ reports, notProbed }: Run, style: Style): string {
  const rows = reports.map((report) => {
    const mood = moodOfReport(report)
    return [
      style.mood(mood, `${signs[mood]} ${oneLine(targetName(report))}`),
      outcomeWord(report) ?? verdictWords[report.legacy.verdict],
      outcomeWord(report) === undefined ? verdictWords[report.modern.verdict] : '',
      countsOf(report.findings),
      duration(report.durationMs),
    ]
  })
  const others = notProbed.map(({ name, reason }) => {
    const mood = reason === 'disabled' ? 'plain' : 'bad'
    return [
      style.mood(mood, `${signs[mood]} ${oneLine(name)}`),
      reason === 'disabled' ? 'disabled' : 'wrong in the configuration',
    ]
  })
  const head = ['  server', 'legacy', 'modern', 'findings', 'time'].map((word) => style.bold(word))
  return table([head, ...rows, ...others], ['left', 'left', 'left', 'left', 'right'])
}

/** What stands in place of verdicts where no era was seen. */
function outcomeWord({ outcome }: Report): string | undefined {
  if (outcome === 'unreachable') return 'unreachable'
  return outcome === 'auth-required' ? 'wants a login' : undefined
}

type Fact = readonly [label: string, text: string | undefined]

/** Terms and what they mean, the latter below each other. Those without meaning are left out. */
function factLines({ width }: Style, facts: readonly Fact[]): string[] {
  const known = facts.flatMap(([label, text]) => (text === undefined ? [] : [[oneLine(label), oneLine(text)] as const]))
  const column = Math.max(0, ...known.map(([label]) => label.length)) + 4
  return known.flatMap(([label, text]) =>
    wrap(text, width - column).map((line, index) => `${(index === 0 ? `  ${label}:` : '').padEnd(column)}${line}`),
  )
}

/** Lines of a text, those after the first as far in as a word like `saw:` makes the first, unless said otherwise. */
function wrapped({ width }: Style, text: string, indent: number, hanging = indent + 5): string[] {
  return wrap(oneLine(text), width - hanging).map(
    (line, index) => `${' '.repeat(index === 0 ? indent : hanging)}${line}`,
  )
}

function indented(text: string): string {
  return `  ${text}`
}

/** What a peer wrote, unable to do anything to a terminal. */
function oneLine(text: string): string {
  return printable(text.replace(/\s*[\r\n]+\s*/g, ' ⏎ '))
}

function cut(text: string): string {
  return text.length <= longestDetail ? text : `${text.slice(0, longestDetail - 1).toWellFormed()}…`
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()} … (${text.length} characters)`
}
