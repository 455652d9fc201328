import { setTimeout as delay } from 'node:timers/promises'
import { watchOtherWork } from './accounting.ts'
import { targetsOf } from './all-targets.ts'
import type { Job } from './session.ts'
import type { Figures, Suite } from './suites/suite.ts'
import type { Era, Target } from './targets.ts'
import type { Wire } from './wire.ts'

/** What is to be measured. */
export interface Plan {
  readonly suites: readonly Suite[]
  readonly targets: readonly Target[]
  readonly wires: readonly Wire[]
  readonly rounds: number
  readonly scale: number
  /** How often a measurement is repeated when other work disturbed it. */
  readonly repeats: number
}

/** One target, measured once by one suite. */
export interface Measurement {
  readonly suite: string
  readonly target: string
  readonly era: Era
  readonly round: number
  readonly figures: Figures
  /** How many processors other work kept busy meanwhile. Over a quarter means that no quiet moment was found. */
  readonly otherWork: number
}

/** Other work above this share of a processor makes a measurement worthless. */
export const quietLimit = 0.25

/**
 * Runs a plan: in each round of a suite all targets come in turn, so that a ratio compares what was measured within
 * seconds. A wrong answer or a missing one ends the run with an error that names the target.
 */
export async function runPlan(
  plan: Plan,
  onProgress: (measurement: Measurement) => void,
): Promise<readonly Measurement[]> {
  const measurements: Measurement[] = []
  for (const suite of plan.suites) {
    for (let round = 1; round <= plan.rounds; round++) {
      for (const job of jobsOf(plan, suite)) {
        const measurement = await measureQuietly(suite, job, round, plan.repeats)
        measurements.push(measurement)
        onProgress(measurement)
      }
    }
  }
  return measurements
}

function jobsOf({ targets, wires, scale }: Plan, suite: Suite): readonly Job[] {
  return wires.flatMap((wire) => targetsOf(suite, wire.era, targets).map((target) => ({ target, wire, scale })))
}

async function measureQuietly(suite: Suite, job: Job, round: number, repeats: number): Promise<Measurement> {
  const where = { suite: suite.name, target: job.target.name, era: job.wire.era, round }
  let best: Measurement | undefined
  for (let left = repeats; ; left--) {
    const otherWork = watchOtherWork()
    const figures = await suite.measure(job).catch((cause: unknown) => {
      throw new Error(`${suite.name}, ${job.target.name}, ${job.wire.era}, round ${round}`, { cause })
    })
    const measurement = { ...where, figures, otherWork: otherWork() }
    if (best === undefined || measurement.otherWork < best.otherWork) best = measurement
    if (best.otherWork <= quietLimit || left <= 0) return best
    await delay(2_000)
  }
}
