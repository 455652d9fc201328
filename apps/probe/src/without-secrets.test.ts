import { expect, test } from 'vitest'
import { sampleReport } from '../test/_util/sample-reports.ts'
import { withoutSecrets } from './without-secrets.ts'

const clean = (text: string): string => text.replaceAll('secret', '[redacted]')

/** Arrays in arrays, so many. */
function nested(levels: number): unknown[] {
  let value: unknown[] = ['secret']
  for (let level = 1; level < levels; level += 1) value = [value]
  return value
}

test('secrets are gone from values and from names of members, and all else is as it was', () => {
  const report = sampleReport({
    call: { name: 'x', era: 'legacy', ok: true, durationMs: 1, answer: { asecret: ['b secret', 1, null] } },
  })
  expect(withoutSecrets(report, clean)).toEqual({
    ...report,
    call: { ...report.call, answer: { 'a[redacted]': ['b [redacted]', 1, null] } },
  })
})

test('what is nested without end is cut off, so that it can be written', () => {
  const answer = nested(100_000) as string[]
  const report = sampleReport({ call: { name: 'x', era: 'legacy', ok: true, durationMs: 1, answer } })
  const text = JSON.stringify(withoutSecrets(report, clean))
  expect(text).toContain('[nested deeper than 200 levels]')
  expect(text).not.toContain('secret')
  expect(JSON.stringify(withoutSecrets({ ...report, call: undefined }, clean))).not.toContain('nested deeper')
})
