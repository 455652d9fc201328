import type { FindingId } from '../findings/catalog.ts'
import { showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { isBusy } from '../wire/patience.ts'
import { errorOf } from '../wire/received.ts'

/**
 * What stands between a request and the answer to it, as the finding that names it: a wall, an outage, an error that cannot be read. Whoever
 * checks something else must not take such an answer for a defect of what it looks at. A request that should be refused may be refused
 * with 403 or 500 too; a good one may not.
 */
export function obstacleOf(answer: Answer, of: 'any-request' | 'good-request'): FindingId | undefined {
  const { http, response, failure } = answer
  if (failure !== undefined) return undefined
  const status = http?.status ?? 0
  if (status === 429) return 'rate-limited'
  if (isBusy(answer)) return 'server-unavailable'
  if (status === 401 || status === 407) return 'auth-partial'
  const error = errorOf(response)
  if (error !== undefined && error.code === undefined) return 'error-malformed'
  if (of === 'any-request') return undefined
  if (status === 403) return 'auth-partial'
  return status >= 500 && response === undefined ? 'server-failure' : undefined
}

/** The answer as one that says nothing about what was asked. */
export function unusable(answer: Answer): Answer {
  const failure = { kind: 'unusable', stage: 'http', message: showAnswer(answer) } as const
  return { ...answer, response: undefined, http: undefined, failure }
}
