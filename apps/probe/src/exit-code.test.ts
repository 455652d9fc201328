import { describe, expect, test } from 'vitest'
import {
  findingOf,
  listOf,
  lockedReport,
  noEra,
  runOf,
  sampleReport,
  unreachableReport,
} from '../test/_util/sample-reports.ts'
import { exitCodeOf, exitCodeOfRun } from './exit-code.ts'
import type { Run } from './run.ts'

const fine = sampleReport()
const faulty = sampleReport({ findings: [findingOf('error')] })
const toolFailed = sampleReport({ outcome: 'tool-failed', findings: [findingOf('error')] })

describe('exit codes', () => {
  test.each([
    ['fine', fine, 0, 0],
    ['notes', sampleReport({ findings: [findingOf('note')] }), 0, 0],
    ['a warning', sampleReport({ findings: [findingOf('warning')] }), 0, 1],
    ['an error', faulty, 1, 1],
    ['no era', sampleReport({ verdict: { era: 'none', summary: '' }, modern: noEra, legacy: noEra }), 1, 1],
    ['a login wanted', lockedReport(), 3, 3],
    ['unreachable', unreachableReport(), 4, 4],
    ['a failed tool', toolFailed, 5, 5],
  ] as const)('%s', (_name, report, onError, onWarning) => {
    expect(exitCodeOf(report, 'error')).toBe(onError)
    expect(exitCodeOf(report, 'warning')).toBe(onWarning)
  })

  test('of several servers the first that applies of 4, 3, 5, 1, 0', () => {
    const down = unreachableReport()
    const locked = lockedReport()
    expect(exitCodeOfRun(runOf(fine, faulty, toolFailed, locked, down), 'error')).toBe(4)
    expect(exitCodeOfRun(runOf(fine, faulty, toolFailed, locked), 'error')).toBe(3)
    expect(exitCodeOfRun(runOf(fine, faulty, toolFailed), 'error')).toBe(5)
    expect(exitCodeOfRun(runOf(fine, faulty), 'error')).toBe(1)
    expect(exitCodeOfRun(runOf(fine, fine), 'error')).toBe(0)
  })

  test('a configuration that is wrong comes before, one that is switched off does not count', () => {
    expect(exitCodeOfRun(listOf(unreachableReport()), 'error')).toBe(2)
    const off: Run = {
      reports: [fine],
      notProbed: [{ name: 'off', reason: 'disabled', detail: '' }],
      config: 'mcp.json',
    }
    expect(exitCodeOfRun(off, 'error')).toBe(0)
  })
})
