import type { Route } from '../proxy/routes.ts'
import type { Job } from '../session.ts'
import type { Carrier } from '../targets.ts'

/** One figure that a suite reports. */
export interface Metric {
  readonly key: string
  readonly title: string
  /** Whether it is compared with the limit, and which way round: `rate` is better when higher, `cost` when lower. */
  readonly ratio: 'rate' | 'cost' | undefined
  readonly digits: number
  /** By name of a target: the highest ratio to the limit that it should have, or where there is no ratio the highest figure. */
  readonly goals?: Readonly<Record<string, number>>
}

/** The goal of our server in the forms in which it is measured. */
export function oursAtMost(goal: number): Readonly<Record<string, number>> {
  return { ours: goal, 'ours-bundled': goal, 'ours-cached': goal }
}

/** Figures by key. `undefined` where the thing never happened. */
export type Figures = Readonly<Record<string, number | undefined>>

/** A kind of measurement. */
export interface Suite {
  readonly name: string
  /** What carries the messages. Default stdio. */
  readonly carrier?: Carrier
  /** Which proxies it is about. */
  readonly route?: Route
  readonly title: string
  readonly metrics: readonly Metric[]
  /** Measures one target once, in fresh processes. Throws when an answer was wrong. */
  measure(job: Job): Promise<Figures>
}
