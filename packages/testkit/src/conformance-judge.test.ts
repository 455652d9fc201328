import { expect, test } from 'vitest'
import { judgeChecks, type SuiteCheck } from './conformance-judge.ts'

const check = (id: string, status: string): SuiteCheck => ({ id, status, description: 'why' })
const judged = (checks: readonly SuiteCheck[] | undefined, excused?: readonly string[] | '*') =>
  judgeChecks(
    ['one'],
    new Map(checks === undefined ? [] : [['one', checks]]),
    excused === undefined ? {} : { one: excused },
  ).problems

test.each<[string, readonly SuiteCheck[] | undefined, readonly string[] | '*' | undefined, readonly string[]]>([
  ['passes', [check('a', 'SUCCESS')], undefined, []],
  ['information does no harm', [check('a', 'SUCCESS'), check('b', 'INFO')], undefined, []],
  ['fails', [check('a', 'SUCCESS'), check('b', 'FAILURE')], undefined, ['one: FAILURE b (why)']],
  ['warns', [check('a', 'SUCCESS'), check('b', 'WARNING')], undefined, ['one: WARNING b (why)']],
  ['was skipped', [check('a', 'SKIPPED')], undefined, ['one: nothing was checked']],
  ['has no result', undefined, undefined, ['one: no result']],
  ['fails as excused', [check('b', 'FAILURE')], ['b'], []],
  ['fails, all excused', [check('b', 'FAILURE'), check('c', 'WARNING')], '*', []],
  ['was not run, all excused', undefined, '*', []],
  ['passes though excused', [check('b', 'SUCCESS')], ['b'], ['one: b is excused, but it passes']],
  ['passes though all excused', [check('b', 'SUCCESS')], '*', ['one: excused, but it passes']],
])('a scenario that %s', (_name, checks, excused, problems) => {
  expect(judged(checks, excused)).toEqual(problems)
})

test('an excuse for what is not run is a problem', () => {
  expect(judgeChecks([], new Map(), { two: '*' }).problems).toEqual(['two: excused, but not part of this leg'])
})
