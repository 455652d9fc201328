/** One check as the official suite records it. */
export interface SuiteCheck {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string | undefined
  readonly description?: string | undefined
}

/** Known failures with a reason, by scenario: ids of checks, or all of them. */
export type Excused = Readonly<Record<string, readonly string[] | '*'>>

export interface Judgement {
  readonly clean: number
  readonly passes: number
  /** One line each; empty when everything is as it must be. */
  readonly problems: readonly string[]
}

/**
 * Judges what the suite recorded, more strictly than its exit status does: a warning, a scenario without a result, one in which nothing
 * passed, and an excuse that is not needed any more are problems too.
 */
export function judgeChecks(
  scored: readonly string[],
  results: ReadonlyMap<string, readonly SuiteCheck[]>,
  excused: Excused = {},
): Judgement {
  const problems: string[] = []
  let clean = 0
  let passes = 0
  for (const scenario of scored) {
    const found = judgeScenario(scenario, results.get(scenario), excused[scenario])
    problems.push(...found.problems)
    passes += found.passes
    if (found.problems.length === 0) clean++
  }
  for (const scenario of Object.keys(excused)) {
    if (!scored.includes(scenario)) problems.push(`${scenario}: excused, but not part of this leg`)
  }
  return { clean, passes, problems }
}

function judgeScenario(
  scenario: string,
  checks: readonly SuiteCheck[] | undefined,
  excused: readonly string[] | '*' | undefined,
): Pick<Judgement, 'passes' | 'problems'> {
  const bad = (checks ?? []).filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  const passes = (checks ?? []).filter(({ status }) => status === 'SUCCESS').length
  const isVacuous = passes === 0 && bad.length === 0
  const problems = bad
    .filter(({ id }) => excused !== '*' && excused?.includes(id) !== true)
    .map((check) => `${scenario}: ${check.status} ${check.id} (${reasonOf(check)})`)
  if (isVacuous && excused !== '*') {
    problems.push(checks === undefined ? `${scenario}: no result` : `${scenario}: nothing was checked`)
  }
  if (excused === '*' && bad.length === 0 && !isVacuous) problems.push(`${scenario}: excused, but it passes`)
  for (const id of Array.isArray(excused) ? excused : []) {
    if (!bad.some((check) => check.id === id)) problems.push(`${scenario}: ${id} is excused, but it passes`)
  }
  return { passes, problems }
}

function reasonOf({ errorMessage, description }: SuiteCheck): string {
  return (errorMessage ?? description ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 200)
}
