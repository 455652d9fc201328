import { expect, test } from 'vitest'
import { coverageOf, idsOfTitle, missingMusts } from '../scripts/requirement-coverage.ts'

test.each([
  ['MC-MSG-01: one object a line', ['MC-MSG-01']],
  ['frames > refuses an array (MC-MSG-13, A-23)', ['MC-MSG-13', 'A-23']],
  ['H08 a common version', ['H08']],
  ['D4: split characters', ['D4']],
  ['D1, D2 and E13: odd lines', ['D1', 'D2', 'E13']],
  ['MC-CANC-01, E8: a late answer', ['MC-CANC-01', 'E8']],
  ['stdio > D10: end of input', ['D10']],
  ['decodes E4 B8 as bytes', []],
  ['SHA-256 and UTF-8', []],
  ['keeps MT-01 and BR-301', ['MT-01', 'BR-301']],
])('reads the ids of the title %j', (title, ids) => {
  expect(idsOfTitle(title).sort()).toEqual(ids.toSorted())
})

test('only a test that passed covers what it names, and an id that does not exist is reported', () => {
  const coverage = coverageOf([
    { file: 'a.test.ts', name: 'MC-MSG-01: good', state: 'passed' },
    { file: 'a.test.ts', name: 'MC-MSG-02: bad', state: 'failed' },
    { file: 'a.test.ts', name: 'MC-MSG-03: later', state: 'skipped' },
    { file: 'b.test.ts', name: 'MC-MSG-99: typing error', state: 'passed' },
    { file: 'b.test.ts', name: 'D3: no such report', state: 'passed' },
  ])
  expect([...coverage.named]).toEqual(['MC-MSG-01'])
  expect(coverage.unknown).toEqual([
    'MC-MSG-99 (b.test.ts: MC-MSG-99: typing error)',
    'D3 (b.test.ts: D3: no such report)',
  ])
})

test('a row is missing for a part that it binds, also for one half of it, and optional rows never are', () => {
  const missing = missingMusts('stdio', new Set(['MC-MSG-02'])).map((row) => row.id)
  expect(missing).toContain('MC-MSG-06')
  expect(missing).not.toContain('MC-MSG-02')
  expect(missing).not.toContain('MC-MSG-04')
  expect(missing).not.toContain('MT-04')
})
