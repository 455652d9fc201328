import { expect, test } from 'vitest'
import { tallyOf } from '../scripts/tally.ts'
import type { RecordedTest, TestRecord } from '../scripts/test-record.ts'

const good = { ok: true, output: '', stdout: '' }
const bad = { ok: false, output: '', stdout: '', reason: 'exit code 1' }
const tested = (state: RecordedTest['state'], note?: string): RecordedTest => ({
  file: 'a.test.ts',
  name: 'x',
  state,
  note,
})
const record: TestRecord = {
  tests: [tested('passed'), tested('passed'), tested('skipped', 'needs git'), tested('pending')],
  faults: [],
}

test('a command is one check, good or bad', () => {
  expect(tallyOf(good, 'counts itself')).toEqual({ passed: 1, failed: 0, skipped: [] })
  expect(tallyOf(bad, 'counts itself')).toEqual({ passed: 0, failed: 1, skipped: [] })
})

test('a command that counts is taken at its word, save that a bad exit code is never a success', () => {
  const stdout = 'vector 7: expected 1, got 2\n364 passed, 1 failed\n'
  expect(tallyOf({ ...bad, stdout }, 'counts itself')).toEqual({ passed: 364, failed: 1, skipped: [] })
  expect(tallyOf({ ...bad, stdout: '365 passed, 0 failed' }, 'counts itself')).toMatchObject({ passed: 365, failed: 1 })
  expect(tallyOf({ ...good, stdout: '3 passed, 0 failed of which none\n' }, 'counts itself').passed).toBe(1)
})

test('tests are counted one by one, and what was skipped is named with its reason', () => {
  expect(tallyOf(good, record)).toEqual({
    passed: 2,
    failed: 0,
    skipped: ['needs git (a.test.ts: x)', 'no reason given (a.test.ts: x)'],
  })
})

test('a failed test, a fault outside of tests, a bad exit code and a run that broke off are failures', () => {
  const failing = { tests: [...record.tests, tested('failed')], faults: [] }
  expect(tallyOf(bad, failing).failed).toBe(1)
  expect(tallyOf(bad, { ...failing, faults: ['b.test.ts: does not load'] }).failed).toBe(2)
  expect(tallyOf(bad, record).failed).toBe(1)
  expect(tallyOf(bad, undefined)).toEqual({ passed: 0, failed: 1, skipped: [] })
  expect(tallyOf(good, undefined).failed).toBe(1)
})
