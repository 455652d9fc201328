import { proxyTargets } from './proxy/proxy-targets.ts'
import type { Suite } from './suites/suite.ts'
import { type Era, type Target, targets } from './targets.ts'

/** Everything that is measured. */
export const allTargets: readonly Target[] = [...targets, ...proxyTargets]

/** The targets that take part in a suite, in one era. */
export function targetsOf(
  suite: Pick<Suite, 'name' | 'carrier' | 'route'>,
  era: Era,
  all: readonly Target[] = allTargets,
): readonly Target[] {
  return all.filter(
    (target) =>
      takesPart(suite, target) &&
      target.eras.includes(era) &&
      (target.suites === undefined || target.suites.includes(suite.name)) &&
      target.without?.[era]?.includes(suite.name) !== true,
  )
}

/** Whether a target is of the kind that a suite measures. */
export function takesPart(suite: Pick<Suite, 'carrier' | 'route'>, target: Target): boolean {
  return (target.carrier ?? 'stdio') === (suite.carrier ?? 'stdio') && target.route === suite.route
}
