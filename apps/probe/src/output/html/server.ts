import { factsOfAuth } from '../auth-facts.ts'
import { isJsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { EraReport, Finding, ListName, Report } from '../../report.ts'
import {
  capabilityWords,
  countsOf,
  describingEra,
  duration,
  entryKey,
  identityOf,
  levelMoods,
  levels,
  type Mood,
  moodOfReport,
  moodOfVerdict,
  signs,
  targetName,
  verdictWords,
} from '../words.ts'
import { html, type Markup } from './markup.ts'
import { waterfall } from './waterfall.ts'

/** More would make a page that no browser likes. */
const shownEntries = 500

/** What there is to say about one server. Headings within are of the third order. */
export function serverSection(report: Report, id: string): Markup {
  const { verdict, target, findings } = report
  const mood = moodOfReport(report)
  return html`<section class="server" aria-labelledby="${id}">
<div class="verdict">${badge(mood, signs[mood])}<h2 id="${id}">${target.name === undefined ? '' : `${target.name}: `}${verdict.summary}</h2></div>
<p class="target"><code>${target.text}</code></p>
${advice(report)}
${eraCards(report)}
${authFacts(report)}${callFacts(report)}
${findings.length === 0 && mood === 'bad' ? undefined : html`<h3>Findings: ${countsOf(findings)}</h3>`}
${levels.flatMap((level) => findings.filter((finding) => finding.level === level)).map(findingDetails)}
${aboutServer(report)}
${timing(report, id)}
${stderrDetails(report)}
</section>
`
}

/** A table of all servers, each with a link to what follows. */
export function summaryRow(report: Report, id: string): Markup {
  const mood = moodOfReport(report)
  const isReached = report.outcome === 'fine' || report.outcome === 'tool-failed'
  const words = isReached
    ? html`<td>${verdictWords[report.legacy.verdict]}</td><td>${verdictWords[report.modern.verdict]}</td>`
    : html`<td colspan="2">${report.outcome === 'unreachable' ? 'unreachable' : 'wants a login'}</td>`
  return html`<tr><th scope="row"><span class="named">${badge(mood, signs[mood])} <a href="#${id}">${targetName(report)}</a></span></th>${words}<td>${countsOf(report.findings)}</td><td class="number narrow">${duration(report.durationMs)}</td></tr>
`
}

const spoken: Readonly<Record<string, string>> = { good: 'good', mixed: 'with defects', bad: 'bad', plain: 'neutral' }

/** A sign, with a word for those who only hear it. */
export function badge(mood: Mood, text: string): Markup {
  return text === signs[mood]
    ? html`<span class="badge ${mood}" role="img" aria-label="${spoken[mood]}">${text}</span>`
    : html`<span class="badge ${mood}">${text}</span>`
}

function advice({ verdict: { cause, repair } }: Report): Markup | undefined {
  if (cause === undefined && repair === undefined) return undefined
  return html`<dl class="advice">${cause === undefined ? undefined : html`<dt>Cause</dt><dd>${cause}</dd>`}${repair === undefined ? undefined : html`<dt>Repair</dt><dd>${repair}</dd>`}</dl>`
}

function eraCards({ legacy, modern }: Report): Markup | undefined {
  if (legacy.verdict === 'not-tried' && modern.verdict === 'not-tried') return undefined
  return html`<div class="eras">${eraCard('Legacy', legacy)}${eraCard('Modern', modern)}</div>`
}

function eraCard(title: string, report: EraReport): Markup {
  const { reason, requested, observed, supportedVersions } = report
  const mood = moodOfVerdict(report.verdict)
  const asked = html`<p>asked for ${unbroken(requested)}, ${observed === undefined ? 'none shown' : html`shown ${unbroken(observed)}`}</p>`
  const served = supportedVersions?.map((version, index) => html`${index === 0 ? '' : ', '}${unbroken(version)}`)
  return html`<div class="era"><h3>${title} clients ${badge(mood, `${signs[mood]} ${verdictWords[report.verdict]}`)}</h3>
<p>${reason}</p>${requested === undefined ? undefined : asked}${served === undefined ? undefined : html`<p>says it serves ${served}</p>`}</div>`
}

/** A revision is not broken at its hyphens, unless it is none and longer. */
function unbroken(revision: string | undefined): Markup | string | undefined {
  return revision !== undefined && revision.length <= 12 ? html`<span class="nobr">${revision}</span>` : revision
}

function facts(title: string, rows: readonly (readonly [string, string | Markup | undefined])[]): Markup {
  const shown = rows.filter(([, value]) => value !== undefined)
  return html`<h3>${title}</h3><dl class="facts">${shown.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
  )}</dl>`
}

function authFacts({ auth }: Report): Markup | undefined {
  return auth === undefined ? undefined : facts('Authentication', factsOfAuth(auth))
}

function callFacts({ call }: Report): Markup | undefined {
  if (call === undefined) return undefined
  const mood = call.ok ? 'good' : 'bad'
  const answer = call.answer === undefined ? undefined : html`<pre>${JSON.stringify(call.answer, undefined, 2)}</pre>`
  return facts(`Call of ${call.name}`, [
    ['outcome', badge(mood, `${signs[mood]} ${call.ok ? 'answered' : 'failed'}`)],
    ['took', `${duration(call.durationMs)}, in the ${call.era} era`],
    ['detail', call.detail],
    ['answer', answer],
  ])
}

function findingDetails(finding: Finding): Markup {
  const { id, level, title, era, subject, evidence, repair, requirements, more = 0 } = finding
  const mood = levelMoods[level]
  const about = [subject, era].filter((word) => word !== undefined).join(', ')
  return html`<details${level === 'error' ? html` open` : undefined}><summary>${badge(mood, `${signs[mood]} ${level}`)} <code>${id}</code> ${title}${about === '' ? undefined : html` <span class="about">(${about})</span>`}</summary>
<dl class="facts"><dt>Saw</dt><dd>${evidence}${more > 0 ? ` — and ${more} more like it` : undefined}</dd><dt>Repair</dt><dd>${repair}</dd>${requirements.length === 0 ? undefined : html`<dt>Rule</dt><dd>${requirements.join(', ')}</dd>`}</dl></details>
`
}

function aboutServer(report: Report): Markup | undefined {
  const era = describingEra(report)
  const identity = identityOf(report)
  if (identity === undefined && era.capabilities === undefined) return undefined
  const { capabilities, instructions } = era
  return html`${facts('Server', [
    ['name', identity],
    ['capabilities', capabilities === undefined ? undefined : capabilityWords(capabilities)],
    ['instructions', instructions === undefined ? undefined : html`<span class="lines">${instructions}</span>`],
  ])}
${(['tools', 'prompts', 'resources', 'templates'] as const).map((list) => listDetails(report, list))}`
}

const listTitles: Readonly<Record<ListName, string>> = {
  tools: 'Tools',
  prompts: 'Prompts',
  resources: 'Resources',
  templates: 'Resource templates',
}

function listDetails({ modern, legacy }: Report, list: ListName): Markup | undefined {
  const entries = modern.lists[list] ?? legacy.lists[list]
  if (entries === undefined) return undefined
  const counts = [modern.counts[list], legacy.counts[list]].filter((count) => count !== undefined)
  const differs = new Set(counts).size > 1 ? ` (legacy clients: ${counts[1]})` : ''
  const summary = html`<summary>${listTitles[list]}: ${entries.length}${differs}</summary>`
  if (entries.length === 0) return html`<details>${summary}<p>None.</p></details>`
  const more = entries.length - shownEntries
  return html`<details>${summary}<dl>${entries.slice(0, shownEntries).map(entryRow)}</dl>${more > 0 ? html`<p>and ${more} more</p>` : undefined}</details>
`
}

function entryRow(entry: JsonValue): Markup {
  const { title, description } = isJsonObject(entry) ? entry : {}
  const words = [textOf(title), textOf(description)].filter((text) => text !== undefined).join(': ')
  return html`<dt><code>${entryKey(entry)}</code></dt><dd>${words === '' ? '(no description)' : words}</dd>
`
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function timing(report: Report, id: string): Markup | undefined {
  const picture = waterfall(report, `${id}-timing`)
  return picture === undefined ? undefined : html`<h3>Timing: ${duration(report.durationMs)} in all</h3>${picture}`
}

function stderrDetails({ stderr }: Report): Markup | undefined {
  if (stderr === undefined || stderr.trim() === '') return undefined
  return html`<details><summary>What it wrote to stderr</summary><pre>${stderr}</pre></details>`
}
