import type { SummaryFigure, SummaryRow } from './summary.ts'
import { summarise } from './summary.ts'
import type { Measurement } from './run.ts'
import type { Metric, Suite } from './suites/suite.ts'
import { allTargets, takesPart } from './all-targets.ts'

/** A table for each suite: medians, in brackets how many times worse than the limit, and the noise of the first figure. */
export function toMarkdown(suites: readonly Suite[], measurements: readonly Measurement[]): string {
  return suites
    .map((suite) => ({ suite, rows: summarise(suite, measurements) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ suite, rows }) => table(suite, rows))
    .join('\n')
}

function table(suite: Suite, rows: readonly SummaryRow[]): string {
  const head = ['', ...suite.metrics.map(({ title }) => title), 'noise']
  const lines = [
    `### ${suite.title}`,
    '',
    cells(head),
    cells([':--', ...suite.metrics.map(() => '--:'), '--:']),
    ...rows.map((row) => cells(rowCells(suite, row))),
  ]
  const goals = suite.metrics.flatMap((metric) => goalText(suite, metric) ?? [])
  return `${[...lines, ...(goals.length > 0 ? ['', `Goals: ${goals.join('; ')}.`] : [])].join('\n')}\n`
}

/** The goal of our server, and in brackets those of others. */
function goalText(suite: Suite, { title, goals, ratio }: Metric): string | undefined {
  if (goals === undefined) return undefined
  const unit = ratio === undefined ? '' : '×'
  const { ours, ...all } = goals
  const others = Object.entries(all).filter(([, goal]) => goal !== ours)
  const brackets = others.map(([target, goal]) => ` (${titleOf(suite, target)} ≤ ${goal}${unit})`).join('')
  return `${title} ≤ ${ours}${unit}${brackets}`
}

function rowCells(suite: Suite, row: SummaryRow): readonly string[] {
  const figures = suite.metrics.map((metric, index) => cell(metric, row.figures[index] as SummaryFigure))
  const first = row.figures[0]?.noise
  const disturbed = row.disturbedRounds === 0 ? '' : `, ${row.disturbedRounds} disturbed`
  return [
    `${titleOf(suite, row.target)}, ${row.era}`,
    ...figures,
    first === undefined ? '' : `${Math.round(first * 100)} %${disturbed}`,
  ]
}

function cell({ digits, key }: Metric, { median, ratio, met }: SummaryFigure): string {
  if (median === undefined) return key === 'cancelMs' ? '**never**' : ''
  const value = median.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
  const compared = ratio === undefined ? value : `${value} (${ratio.toFixed(2)}×)`
  return met === false ? `**${compared}**` : compared
}

function titleOf(suite: Suite, name: string): string {
  return allTargets.find((target) => target.name === name && takesPart(suite, target))?.title ?? name
}

function cells(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}
