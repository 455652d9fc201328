import { describe, expect, test } from 'vitest'
import { everyReport } from '../../test/_util/every-report.ts'
import {
  findingOf,
  hostileReport,
  listOf,
  lockedReport,
  noEra,
  runOf,
  sampleReport,
  unreachableReport,
} from '../../test/_util/sample-reports.ts'
import type { Run } from '../run.ts'
import { createStyle } from './style.ts'
import { runText } from './text.ts'

const plain = (run: Run): string => runText(run, createStyle(false))

describe('text', () => {
  test('why nobody gets in and what to do stand in the first three lines', () => {
    expect(plain(runOf(unreachableReport())).split('\n').slice(0, 4)).toEqual([
      '✗ cannot be reached',
      '  Cause:  Nothing listens at 127.0.0.1:9 (ECONNREFUSED).',
      '  Repair: Start the server, or mend host and port of the URL.',
      '  http://127.0.0.1:3000/mcp',
    ])
  })

  test('what was asked for and what was shown are kept apart', () => {
    const legacy = { ...noEra, verdict: 'silent-downgrade' as const, requested: 'r1', observed: undefined }
    const text = plain(runOf(sampleReport({ legacy, modern: { ...legacy, observed: 'r2' } })))
    expect(text).toMatch(/legacy +✗ silent downgrade +asked for r1, none shown\n/)
    expect(text).toMatch(/modern +✗ silent downgrade +asked for r1, shown r2\n/)
  })

  test('findings stand by level, each with what was seen, the repair and the rule', () => {
    const [note, error] = [
      findingOf('note', { subject: 'n' }),
      findingOf('error', { era: 'modern', subject: 'brew', more: 2 }),
    ]
    const text = plain(runOf(sampleReport({ findings: [note, error] })))
    expect(text).toContain('Findings: 3 errors, 1 note\n')
    expect(text.indexOf(`✗ error ${error.id}`)).toBeLessThan(text.indexOf(`· note ${note.id}`))
    for (const part of [
      '— brew (modern)',
      'saw: HTTP 200',
      'and 2 more like it',
      'fix: ',
      `rule: ${error.requirements.join(', ')}`,
    ]) {
      expect(text).toContain(part)
    }
  })

  test('findings of one kind stand together, with title and repair once', () => {
    const findings = [
      findingOf('error', { era: 'modern', subject: 'brew', evidence: 'a' }),
      findingOf('error', { era: 'modern', subject: 'pour', evidence: 'pour is b' }),
    ]
    const text = plain(runOf(sampleReport({ findings })))
    expect(text).toMatch(/✗ error .* \(modern\)\n {6}saw: brew: a\n {6}saw: pour is b\n {6}fix: /)
    expect(text.match(/fix: /g)).toHaveLength(1)
    const ofBoth = plain(runOf(sampleReport({ findings: [...findings, findingOf('error', { evidence: 'c' })] })))
    expect(ofBoth).toMatch(/saw: brew, modern: a\n {6}saw: modern: pour is b\n {6}saw: c\n/)
  })

  test('a challenge is shown with where its metadata lies, and what stands on the way to a token', () => {
    const text = plain(runOf(lockedReport()))
    for (const part of [
      /status: +401\n/,
      /scheme: +Bearer\n/,
      /error: +invalid_token\n/,
      /metadata: +https:\/\/tea\.example\//,
      /issuer: +https:\/\/login\.example\/\S+: absent\n/,
      /sign-in by: +browser, device\n/,
      /signed in: +no\n/,
    ]) {
      expect(text).toMatch(part)
    }
  })

  test('several servers end with one table, in which each has its line', () => {
    const named = sampleReport({
      target: { kind: 'url', text: 'http://x', name: 'tea' },
      findings: [findingOf('warning')],
    })
    const text = plain(listOf(named, unreachableReport(), lockedReport()))
    const rows = text.trimEnd().split('\n').slice(-6)
    expect(rows[0]).toMatch(/^ {2}server +legacy +modern +findings +time$/)
    expect(rows[1]).toMatch(/^! tea +works +works +1 warning +432 ms$/)
    expect(rows[2]).toMatch(/^✗ http:\/\/127.0.0.1:3000\/mcp +unreachable +none +432 ms$/)
    expect(rows[3]).toMatch(/wants a login/)
    expect(rows[4]).toBe('· off                        disabled')
    expect(rows[5]).toMatch(/^✗ broken +wrong in the configuration$/)
  })

  test.each(everyReport)(
    '%s can do nothing to a terminal, and has no colours unless they are wanted',
    (_name, report) => {
      for (const text of [plain(runOf(report)), plain(listOf(report))]) {
        expect(text.match(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u)).toBeNull()
        expect(text.endsWith('\n')).toBe(true)
      }
    },
  )

  test('with colours only ours get through', () => {
    const marked = runText(runOf(hostileReport()), createStyle(true)).split('\u001b').slice(1)
    expect(marked.length).toBeGreaterThan(10)
    expect(marked.filter((part) => !/^\[\d+m/.test(part))).toEqual([])
  })

  test('lines are broken at the width of a terminal', () => {
    const cause = 'word '.repeat(40).trim()
    const report = unreachableReport({ verdict: { era: 'none', summary: 'down', cause } })
    const widest = (columns: number | undefined): number =>
      Math.max(
        ...runText(runOf(report), createStyle(false, columns))
          .split('\n')
          .filter((line) => line.includes('word'))
          .map(({ length }) => length),
      )
    expect(widest(60)).toBeGreaterThan(50)
    expect(widest(60)).toBeLessThanOrEqual(60)
    expect(widest(300)).toBeLessThanOrEqual(100)
    expect(widest(undefined)).toBe(widest(300))
    expect(widest(1)).toBeLessThanOrEqual(40)
  })

  test('what a server wrote to stderr is shown when it does not get up, its end at most', () => {
    const stderr = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n')
    const text = plain(runOf(unreachableReport({ stderr })))
    expect(text).toContain('The last 12 lines of its stderr\n  | line 28\n')
    expect(text).toContain('  | line 39\n')
    expect(plain(runOf(sampleReport({ stderr })))).not.toContain('line 39')
  })
})
