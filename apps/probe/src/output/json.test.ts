import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { everyReport } from '../../test/_util/every-report.ts'
import { listOf, runOf, sampleReport } from '../../test/_util/sample-reports.ts'
import { reportJsonSchema } from '../report-json-schema.ts'
import { runJson } from './json.ts'

const published = JSON.parse(readFileSync(join(import.meta.dirname, '../../report.schema.json'), 'utf8')) as object
const ajv = new Ajv2020({ strict: true, allErrors: true })
addFormats.default(ajv)
const validate = ajv.compile(published)

function faultsOf(text: string): readonly string[] {
  validate(JSON.parse(text))
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe('JSON', () => {
  test.each(everyReport)('%s is valid by the published schema', (_name, report) => {
    const text = runJson(runOf(report))
    expect(faultsOf(text)).toEqual([])
    expect(text.endsWith('}\n')).toBe(true)
  })

  test('servers of a configuration are a list, also when it is one, with those that were not probed', () => {
    const text = runJson(listOf(sampleReport()))
    expect(faultsOf(text)).toEqual([])
    expect(JSON.parse(text)).toMatchObject({
      format: 'atenea-probe-reports',
      version: 1,
      reports: [{ format: 'atenea-probe-report' }],
      notProbed: [
        { name: 'off', reason: 'disabled' },
        { name: 'broken', reason: 'configuration' },
      ],
    })
  })

  test.each([
    ['no verdict', { verdict: undefined }],
    ['an era that is none', { verdict: { era: 'both', summary: '' } }],
    ['another version', { version: 2 }],
    ['findings that are none', { findings: [{ id: 'x' }] }],
    ['a time before the start', { durationMs: -1 }],
    ['an outcome that is none', { outcome: 'good' }],
  ])('the schema refuses a report with %s', (_name, extra) => {
    expect(faultsOf(JSON.stringify({ ...sampleReport(), ...extra }))).not.toEqual([])
  })

  test('the published schema is current: run pnpm --filter @atenea/probe report-schema', () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(reportJsonSchema())))
  })

  test.each(everyReport)('%s has no member that the schema does not describe', (_name, report) => {
    const strict = new Ajv2020({ strict: true }).addFormat('date-time', true).compile(closed(published) as object)
    const text: unknown = JSON.parse(runJson(runOf(report)))
    expect(strict(text)).toBe(true)
    expect(strict({ ...(text as object), surprise: 1 })).toBe(false)
  })
})

/** The schema with every object closed that names its members. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in schema && 'type' in schema ? { ...copy, additionalProperties: false } : copy
}
