import { describe, expect, test } from 'vitest'
import { everyReport } from '../../test/_util/every-report.ts'
import {
  findingOf,
  goodEra,
  lockedReport,
  noEra,
  sampleReport,
  unreachableReport,
} from '../../test/_util/sample-reports.ts'
import { createStyle } from '../output/style.ts'
import type { EraReport } from '../report.ts'
import { diffReports } from './diff.ts'
import { diffText } from './diff-text.ts'

const base = sampleReport()

/** The report with both eras changed alike. */
function withBoth(change: Partial<EraReport>): typeof base {
  return { ...base, modern: { ...base.modern, ...change }, legacy: { ...base.legacy, ...change } }
}

/** Each difference in one line: kind, area, era, subject, pointer, a, b. */
function told(b: typeof base, a: typeof base = base): readonly string[] {
  return diffReports(a, b).differences.map(({ kind, area, era, subject, pointer, a: before, b: after }) =>
    [kind, area, era, subject, pointer, JSON.stringify(before), JSON.stringify(after)]
      .filter((word) => word !== undefined)
      .join(' '),
  )
}

describe('what B loses or changes against A', () => {
  test.each(everyReport)('%s is the same as itself', (_name, report) => {
    const diff = diffReports(report, structuredClone(report))
    expect(diff.differences).toEqual([])
    expect(diff.same).toBe(true)
  })

  test('servers of another legacy revision are compared too, down to their tools', () => {
    const legacy = { ...goodEra, verdict: 'silent-downgrade' as const }
    const a = sampleReport({ legacy, modern: noEra })
    const b = sampleReport({ legacy: { ...legacy, lists: { ...legacy.lists, prompts: [] } }, modern: noEra })
    expect(told(b, a)).toEqual(['lost prompts legacy toast'])
    expect(told(sampleReport({ legacy: noEra, modern: noEra }), a)).toEqual([
      'worse verdict legacy "silent-downgrade" "not-spoken"',
    ])
  })

  test('durations, and the order of members and of versions, make no difference', () => {
    const [first, second] = goodEra.lists.tools ?? []
    const turned = { ...goodEra, supportedVersions: goodEra.supportedVersions?.toReversed() }
    const reordered = { description: 'Brews tea.', ...Object.fromEntries(Object.entries(first ?? {}).reverse()) }
    const b = sampleReport({
      durationMs: 9,
      modern: { ...turned, lists: { ...goodEra.lists, tools: [second ?? null, reordered] } },
    })
    expect(diffReports(base, b)).toMatchObject({ same: true, differences: [] })
    expect(diffReports(base, b).timings.at(-1)).toEqual({ step: 'all', aMs: 431.5, bMs: 9 })
  })

  test('tools that come and go, and members of a schema by pointer', () => {
    const brew = {
      name: 'brew',
      description: 'Brews tea.',
      inputSchema: { type: 'object', properties: { leaf: { type: 'number' }, 'a/b~c': {} } },
    }
    expect(told(withBoth({ lists: { ...goodEra.lists, tools: [brew, { name: 'sip' }] } }))).toEqual([
      'lost tools both pour',
      'changed tools both brew /inputSchema/properties/leaf/type "string" "number"',
      'changed tools both brew /inputSchema/properties/a~1b~0c {}',
      'added tools both sip',
    ])
  })

  test('what differs in one era alone says so', () => {
    const b = { ...base, legacy: { ...base.legacy, lists: { ...base.legacy.lists, prompts: [] } } }
    expect(told(b)).toEqual(['lost prompts legacy toast'])
  })

  test('capabilities, identity, instructions and revisions', () => {
    expect(
      told(
        withBoth({
          capabilities: { tools: { listChanged: false }, prompts: {}, logging: {} },
          server: { name: 'tea', version: '1.2.4', title: 'Tea house' },
          instructions: undefined,
        }),
      ),
    ).toEqual([
      'changed identity both /version "1.2.3" "1.2.4"',
      'lost instructions both "Ask for tea."',
      'changed capabilities both /tools/listChanged true false',
      'lost capabilities both /resources {}',
      'added capabilities both /logging {}',
    ])
    const [modern = '', legacy = ''] = goodEra.supportedVersions ?? []
    const versions = { ...base, modern: { ...base.modern, observed: 'x', supportedVersions: [modern, 'x'] } }
    expect(told(versions)).toEqual([
      `changed revision modern /observed "${modern}" "x"`,
      `lost revision modern /supportedVersions "${legacy}"`,
      'added revision modern /supportedVersions "x"',
    ])
  })

  test('an era that is no longer spoken is one difference, and one that is spoken now is none to fail for', () => {
    const one = { ...base, modern: noEra }
    expect(told(one)).toEqual(['worse verdict modern "works" "not-spoken"'])
    expect(told(base, one)).toEqual(['better verdict modern "not-spoken" "works"'])
    expect(diffReports(one, base).same).toBe(true)
    expect(told({ ...base, modern: { ...noEra, verdict: 'silent-downgrade' } }, one)).toEqual([
      'changed verdict modern "not-spoken" "silent-downgrade"',
    ])
  })

  test('an era that was not tried is not compared, and that is said', () => {
    const half = { ...base, legacy: { ...noEra, verdict: 'not-tried' as const } }
    expect(diffReports(base, half)).toMatchObject({
      same: true,
      notCompared: ['legacy: it was tried on one side only'],
    })
  })

  test('new errors and warnings are worse, gone ones better, notes nothing', () => {
    const [error, warning, note] = [
      findingOf('error', { subject: 'brew' }),
      findingOf('warning', { era: 'legacy' }),
      findingOf('note'),
    ]
    const b = sampleReport({ findings: [error, note] })
    expect(told(b, sampleReport({ findings: [warning] }))).toEqual([
      `worse finding ${error.id} (brew) ${JSON.stringify(error.title)}`,
      `better finding legacy ${warning.id} ${JSON.stringify(warning.title)}`,
    ])
    expect(diffReports(base, b).same).toBe(false)
    expect(diffReports(b, base).same).toBe(true)
  })

  test('a finding of both eras is the same as that of one, where the other is not spoken', () => {
    const finding = findingOf('error', { subject: 'brew' })
    const one = sampleReport({ modern: noEra, findings: [{ ...finding, era: 'legacy' }] })
    expect(told(sampleReport({ findings: [finding] }), one)).toEqual(['better verdict modern "not-spoken" "works"'])
    expect(told(sampleReport({ findings: [{ ...finding, subject: 'pour' }] }), one)).toHaveLength(3)
  })

  test('a server that is down or wants a login is worse, and nothing else is guessed', () => {
    expect(told(unreachableReport())).toEqual(['worse outcome "fine" "unreachable"'])
    expect(told(lockedReport({ legacy: noEra, modern: noEra }))).toEqual([
      'worse outcome "fine" "auth-required"',
      'worse verdict both "works" "not-spoken"',
    ])
    expect(diffReports(base, unreachableReport()).notCompared).toContain('findings: one side was not reached')
  })

  test('entries without a name, or with one that others have, are compared too', () => {
    const a = withBoth({ lists: { tools: [7, { name: 'x' }, { name: 'x', title: 'second' }] } })
    const b = withBoth({ lists: { tools: [{ name: 'x' }, { name: 'x', title: 'other' }] } })
    expect(told(b, a)).toEqual(['lost tools both 7', 'changed tools both x (2) /title "second" "other"'])
  })
})

describe('as text', () => {
  const text = (a: typeof base, b: typeof base): string => diffText(diffReports(a, b), createStyle(false))

  test('says first whether something is lost, and what', () => {
    const b = withBoth({ lists: { ...goodEra.lists, tools: [goodEra.lists.tools?.[0] ?? null, { name: 'sip' }] } })
    expect(text(base, b).split('\n').slice(0, 8)).toEqual([
      '✗ B is not as A is: 1 lost, 1 added',
      '  A  http://127.0.0.1:3000/mcp',
      '  B  http://127.0.0.1:3000/mcp',
      '',
      'B loses',
      '  - tool pour',
      '',
      'B adds',
    ])
    expect(text(base, base)).toMatch(/^✓ A and B are the same\n/)
    expect(text({ ...base, modern: noEra }, base)).toContain('✓ B loses nothing: 1 better')
  })

  test('can do nothing to a terminal', () => {
    const hostile = everyReport.at(-1)?.[1] ?? base
    for (const shown of [text(base, hostile), text(hostile, base)]) {
      expect(shown.match(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u)).toBeNull()
    }
  })
})
