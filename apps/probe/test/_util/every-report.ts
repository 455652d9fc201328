import type { Report } from '../../src/report.ts'
import { findingOf, hostileReport, lockedReport, noEra, sampleReport, unreachableReport } from './sample-reports.ts'

/** Reports of every outcome, with findings of every level, and one of a hostile server. */
export const everyReport: readonly (readonly [name: string, report: Report])[] = [
  ['one without findings', sampleReport()],
  [
    'one with findings',
    sampleReport({
      findings: [
        findingOf('error', { era: 'modern', subject: 'brew' }),
        findingOf('warning', { more: 3 }),
        findingOf('note'),
      ],
      stderr: 'ready',
    }),
  ],
  ['one that downgrades silently', sampleReport({ modern: { ...noEra, verdict: 'silent-downgrade' } })],
  [
    'one that speaks nothing',
    sampleReport({ verdict: { era: 'none', summary: 'speaks no MCP' }, modern: noEra, legacy: noEra }),
  ],
  [
    'one whose tool failed',
    sampleReport({
      outcome: 'tool-failed',
      call: { name: 'brew', era: 'modern', ok: false, durationMs: 3, detail: 'isError', answer: null },
    }),
  ],
  [
    'one whose tool answered',
    sampleReport({ call: { name: 'brew', era: 'modern', ok: true, durationMs: 3, answer: { content: [] } } }),
  ],
  ['one that is down', unreachableReport()],
  ['one that wants a login', lockedReport()],
  ['a hostile one', hostileReport()],
]
