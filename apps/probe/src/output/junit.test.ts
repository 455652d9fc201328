import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { everyReport } from '../../test/_util/every-report.ts'
import {
  findingOf,
  listOf,
  lockedReport,
  runOf,
  sampleReport,
  unreachableReport,
} from '../../test/_util/sample-reports.ts'
import { exitCodeOfRun } from '../exit-code.ts'
import { runJunit } from './junit.ts'

const schema = readFileSync(join(import.meta.dirname, '../../test/_util/junit.xsd'), 'utf8')

async function faultsOf(xml: string): Promise<readonly string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: 'junit.xml', contents: xml }],
    schema: [{ fileName: 'junit.xsd', contents: schema }],
  })
  return errors.map(({ message }) => message)
}

/** The counts of the first element. */
function countsOf(xml: string): readonly string[] {
  return ['tests', 'failures', 'errors'].map(
    (name) => new RegExp(`<testsuites[^>]* ${name}="(\\d+)"`).exec(xml)?.[1] ?? '',
  )
}

describe('JUnit', () => {
  test.each(everyReport)('%s is valid by the schema', async (_name, report) => {
    expect(await faultsOf(runJunit(runOf(report), 'error'))).toEqual([])
  })

  test('several servers are suites of one file', async () => {
    const xml = runJunit(listOf(...everyReport.map(([, report]) => report)), 'warning')
    expect(await faultsOf(xml)).toEqual([])
    expect(xml.match(/<testsuite /g)).toHaveLength(everyReport.length + 2)
    expect(xml).toContain('<skipped message="switched off in the configuration"/>')
    expect(xml).toContain('<error type="configuration" message="wrong in the configuration">')
  })

  test('the schema finds what is wrong', async () => {
    const xml = runJunit(runOf(sampleReport()), 'error')
    expect(await faultsOf(xml.replace(/ classname="[^"]*"/, ''))).not.toEqual([])
    expect(await faultsOf(xml.replace('</testsuites>', ''))).not.toEqual([])
  })

  test.each(everyReport)('%s fails where the program ends with another code than 0', (_name, report) => {
    for (const failOn of ['error', 'warning'] as const) {
      const [, failures, errors] = countsOf(runJunit(runOf(report), failOn))
      expect(failures === '0' && errors === '0').toBe(exitCodeOfRun(runOf(report), failOn) === 0)
    }
  })

  test('what fails is what the exit code says', () => {
    const report = sampleReport({ findings: [findingOf('error'), findingOf('warning'), findingOf('note')] })
    expect(countsOf(runJunit(runOf(report), 'error'))).toEqual(['6', '1', '0'])
    expect(countsOf(runJunit(runOf(report), 'warning'))).toEqual(['6', '2', '0'])
    expect(countsOf(runJunit(runOf(unreachableReport()), 'error'))).toEqual(['3', '0', '1'])
    expect(runJunit(runOf(lockedReport()), 'error')).toContain(
      '<error type="auth-required" message="wants credentials">',
    )
  })
})
