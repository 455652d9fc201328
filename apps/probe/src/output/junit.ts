import { type FailOn, isFailure } from '../exit-code.ts'
import type { EraReport, Finding, Report } from '../report.ts'
import type { NotProbed, Run } from '../run.ts'
import { escapeMarkup } from './escape.ts'
import { targetName, verdictWords } from './words.ts'

/** One test of the file. */
interface Case {
  readonly name: string
  readonly className: string
  readonly seconds: number
  readonly result?:
    | { readonly kind: 'failure' | 'error'; readonly type: string; readonly message: string; readonly text: string }
    | undefined
  readonly skipped?: string | undefined
  readonly out?: string | undefined
}

/** A run as JUnit XML, which CI systems show as tests: for each server whether it is reached, each era, and each finding. */
export function runJunit({ reports, notProbed }: Run, failOn: FailOn): string {
  const suites = [
    ...reports.map((report) => ({
      name: targetName(report),
      started: report.started,
      seconds: report.durationMs / 1000,
      cases: casesOf(report, failOn),
      stderr: report.stderr,
    })),
    ...notProbed.map((server) => ({
      name: server.name,
      started: new Date(0).toISOString(),
      seconds: 0,
      cases: [caseOfNotProbed(server)],
      stderr: undefined,
    })),
  ]
  const all = suites.flatMap(({ cases }) => cases)
  const seconds = suites.reduce((sum, suite) => sum + suite.seconds, 0)
  const body = suites
    .map(({ name, started, seconds: time, cases, stderr }) => {
      const attributes = `name="${escapeMarkup(name)}" ${countsOf(cases)} time="${time.toFixed(3)}" timestamp="${started.replace(/\.\d+Z$|Z$/, '')}"`
      const err = stderr === undefined ? '' : `    <system-err>${escapeMarkup(stderr)}</system-err>\n`
      return `  <testsuite ${attributes}>\n${cases.map(caseXml).join('')}${err}  </testsuite>\n`
    })
    .join('')
  const counts = `tests="${all.length}" failures="${numberOf(all, 'failure')}" errors="${numberOf(all, 'error')}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="atenea-probe" ${counts} time="${seconds.toFixed(3)}">\n${body}</testsuites>\n`
}

function casesOf(report: Report, failOn: FailOn): Case[] {
  const { findings, call } = report
  return [
    reached(report),
    eraCase('legacy', report.legacy, report),
    eraCase('modern', report.modern, report),
    ...findings.map((finding) => findingCase(finding, failOn)),
    ...(call === undefined
      ? []
      : [
          {
            name: `call of ${call.name}`,
            className: 'call',
            seconds: call.durationMs / 1000,
            result: call.ok
              ? undefined
              : ({
                  kind: 'failure',
                  type: 'tool-failed',
                  message: call.detail ?? 'the tool failed',
                  text: JSON.stringify(call.answer) ?? '',
                } as const),
          },
        ]),
  ]
}

function reached({ outcome, verdict, durationMs, auth }: Report): Case {
  const isBad = outcome === 'unreachable' || outcome === 'auth-required' || verdict.era === 'none'
  const text = [verdict.cause, verdict.repair, auth === undefined ? undefined : JSON.stringify(auth)].filter(
    (line) => line !== undefined,
  )
  return {
    name: 'a client gets in',
    className: 'server',
    seconds: durationMs / 1000,
    result: isBad
      ? {
          kind: outcome === 'fine' ? 'failure' : 'error',
          type: outcome === 'fine' ? 'no-era' : outcome,
          message: verdict.summary,
          text: text.join('\n'),
        }
      : undefined,
    out: isBad ? undefined : verdict.summary,
  }
}

/** Whether an era has to work is for the findings and the whole to say, so that a report fails where the program ends with 1. */
function eraCase(era: 'legacy' | 'modern', report: EraReport, { outcome }: Report): Case {
  const base = { name: `${era} clients`, className: 'server', seconds: 0 }
  const text = `${verdictWords[report.verdict]}: ${report.reason}`
  const isShown = report.verdict.startsWith('works') || report.verdict === 'silent-downgrade'
  const isOpen = outcome === 'unreachable' || outcome === 'auth-required' || !isShown
  return isOpen ? { ...base, skipped: text } : { ...base, out: text }
}

function findingCase(finding: Finding, failOn: FailOn): Case {
  const { id, level, title, era, subject, evidence, repair, requirements, more = 0 } = finding
  const about = [subject, era].filter((word) => word !== undefined)
  const text = [
    title,
    `saw: ${evidence}`,
    ...(more > 0 ? [`and ${more} more like it`] : []),
    `fix: ${repair}`,
    ...(requirements.length > 0 ? [`rule: ${requirements.join(', ')}`] : []),
  ].join('\n')
  const base = {
    name: about.length === 0 ? id : `${id} (${about.join(', ')})`,
    className: `findings.${level}`,
    seconds: 0,
  }
  return isFailure(finding, failOn)
    ? { ...base, result: { kind: 'failure', type: id, message: title, text } }
    : { ...base, out: text }
}

function caseOfNotProbed({ reason, detail }: NotProbed): Case {
  const base = { name: 'a client gets in', className: 'server', seconds: 0 }
  if (reason === 'disabled') return { ...base, skipped: detail }
  return { ...base, result: { kind: 'error', type: reason, message: 'wrong in the configuration', text: detail } }
}

function caseXml({ name, className, seconds, result, skipped, out }: Case): string {
  const inner = [
    ...(skipped === undefined ? [] : [`      <skipped message="${escapeMarkup(skipped)}"/>\n`]),
    ...(result === undefined
      ? []
      : [
          `      <${result.kind} type="${escapeMarkup(result.type)}" message="${escapeMarkup(result.message)}">${escapeMarkup(result.text)}</${result.kind}>\n`,
        ]),
    ...(out === undefined ? [] : [`      <system-out>${escapeMarkup(out)}</system-out>\n`]),
  ].join('')
  const head = `    <testcase name="${escapeMarkup(name)}" classname="${escapeMarkup(className)}" time="${seconds.toFixed(3)}"`
  return inner === '' ? `${head}/>\n` : `${head}>\n${inner}    </testcase>\n`
}

function countsOf(cases: readonly Case[]): string {
  const skipped = cases.filter((one) => one.skipped !== undefined).length
  return `tests="${cases.length}" failures="${numberOf(cases, 'failure')}" errors="${numberOf(cases, 'error')}" skipped="${skipped}"`
}

function numberOf(cases: readonly Case[], kind: 'failure' | 'error'): number {
  return cases.filter(({ result }) => result?.kind === kind).length
}
