import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { everyReport } from '../../test/_util/every-report.ts'
import { listOf, runOf, sampleReport } from '../../test/_util/sample-reports.ts'
import { runJson } from '../output/json.ts'
import { readReport } from './saved-report.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-report-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'report.json')

async function refusal(text: string): Promise<string> {
  writeFileSync(file, text)
  const error: unknown = await readReport(file).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('it was accepted')
  return error.message.replaceAll(`${folder}/`, '')
}

describe('saved reports', () => {
  test.each(everyReport)('%s is read as it was written', async (_name, report) => {
    writeFileSync(file, runJson(runOf(report)))
    expect(await readReport(file)).toEqual(JSON.parse(JSON.stringify(report)))
  })

  test('members that a later version adds are no reason to refuse it', async () => {
    writeFileSync(file, JSON.stringify({ ...sampleReport(), later: 1 }))
    expect(await readReport(file)).toMatchObject({ later: 1 })
  })

  test.each([
    ['no JSON', '{', 'report.json is no JSON: '],
    ['something else', '{"a":1}', 'report.json is no report; save one with: atenea-probe --format json --output'],
    ['null', 'null', 'report.json is no report; '],
    ['several servers', runJson(listOf(sampleReport())), 'report.json holds reports of several servers'],
    [
      'a version to come',
      JSON.stringify({ ...sampleReport(), version: 2 }),
      'report.json is a report of version 2, and this program reads version 1',
    ],
    ['damage', JSON.stringify({ ...sampleReport(), modern: { verdict: 'fine' } }), 'report.json is a damaged report: '],
  ])('%s is refused with the reason', async (_name, text, message) => {
    expect(await refusal(text)).toContain(message)
  })

  test('a file that is not there', async () => {
    await expect(readReport(join(folder, 'none.json'))).rejects.toThrow('cannot read the report: ENOENT')
  })
})
