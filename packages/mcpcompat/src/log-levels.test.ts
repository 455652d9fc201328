import { expect, test } from 'vitest'
import { isLogLevel, levelAdmits, logLevels } from './log-levels.ts'

test('MC-LOG-03: the levels in their order, each admits itself and what lies above', () => {
  expect(logLevels).toEqual(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'])
  const admitted = logLevels.map((wanted) => logLevels.filter((level) => levelAdmits(wanted, level)).length)
  expect(admitted).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  expect(logLevels.every((wanted) => levelAdmits(wanted, wanted))).toBe(true)
})

test('MC-LOG-02: without a wanted level nothing is sent', () => {
  expect(logLevels.filter((level) => levelAdmits(undefined, level))).toEqual([])
})

test.each([['Info'], ['warn'], [''], [3], [null], [undefined], [['info']], ['toString']])(
  'MC-LOG-05: %j is no level',
  (value) => {
    expect(isLogLevel(value)).toBe(false)
  },
)
