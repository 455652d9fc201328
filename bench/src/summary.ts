import { type Measurement, quietLimit } from './run.ts'
import { median, noise } from './statistics.ts'
import type { Metric, Suite } from './suites/suite.ts'
import { type Era, limitName } from './targets.ts'

/** One figure of one target over all rounds. */
export interface SummaryFigure {
  readonly metric: string
  /** Median over the rounds; undefined where the thing never happened. */
  readonly median: number | undefined
  /** (max − min) / median over the rounds. */
  readonly noise: number | undefined
  /** Median of how many times worse than the limit it was, each within one round. */
  readonly ratio: number | undefined
  /** Whether the goal of this target was met; undefined where it has none. */
  readonly met: boolean | undefined
}

/** One row of the report. */
export interface SummaryRow {
  readonly suite: string
  readonly target: string
  readonly era: Era
  readonly figures: readonly SummaryFigure[]
  /** Rounds for which no quiet moment was found. */
  readonly disturbedRounds: number
}

/** Medians, noise and ratios of all that was measured by one suite. */
export function summarise(suite: Suite, all: readonly Measurement[]): readonly SummaryRow[] {
  const own = all.filter((measurement) => measurement.suite === suite.name)
  const groups = Map.groupBy(own, ({ target, era }) => `${era} ${target}`)
  return [...groups.values()].map((rounds) => {
    const [{ target, era }] = rounds as [Measurement]
    const limits = own.filter((measurement) => measurement.target === limitName && measurement.era === era)
    return {
      suite: suite.name,
      target,
      era,
      figures: suite.metrics.map((metric) => figureOf(metric, target, rounds, limits)),
      disturbedRounds: rounds.filter(({ otherWork }) => otherWork > quietLimit).length,
    }
  })
}

function figureOf(
  metric: Metric,
  target: string,
  rounds: readonly Measurement[],
  limits: readonly Measurement[],
): SummaryFigure {
  const values = rounds.flatMap(({ figures }) => figures[metric.key] ?? [])
  const middle = values.length === 0 ? undefined : median(values)
  const ratio = metric.ratio === undefined || target === limitName ? undefined : ratioOf(metric, rounds, limits)
  const goal = metric.goals?.[target]
  const compared = metric.ratio === undefined ? middle : ratio
  return {
    metric: metric.key,
    median: middle,
    noise: values.length === 0 || middle === 0 ? undefined : noise(values),
    ratio,
    met: goal === undefined ? undefined : values.length === rounds.length && compared !== undefined && compared <= goal,
  }
}

function ratioOf(metric: Metric, rounds: readonly Measurement[], limits: readonly Measurement[]): number | undefined {
  const ratios = rounds.flatMap(({ round, figures }) => {
    const value = figures[metric.key]
    const limit = limits.find((measurement) => measurement.round === round)?.figures[metric.key]
    if (value === undefined || limit === undefined) return []
    return metric.ratio === 'rate' ? limit / value : value / limit
  })
  return ratios.length === 0 ? undefined : median(ratios)
}
