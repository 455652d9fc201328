import { type ExitCode, exitCode, UsageError } from '@atenea/cli'
import type { Style } from '../output/style.ts'
import type { ProbeTarget, Report } from '../report.ts'
import type { Settings } from '../settings.ts'
import { type ConfiguredTargets, noTarget, targetOfWord } from '../targets.ts'
import { type Diff, diffReports } from './diff.ts'
import { diffText } from './diff-text.ts'
import { readReport } from './saved-report.ts'

/** What a comparison needs of the program. */
export interface DiffHost {
  readonly style: Style
  /** The server of this name in a configuration. */
  readonly configured: (file: string, name: string) => Promise<ConfiguredTargets>
  readonly probe: (target: ProbeTarget) => Promise<Report>
}

/** Compares two servers, or reports of them, and gives what to write and how to end. */
export async function runDiff(
  words: readonly string[],
  settings: Settings,
  host: DiffHost,
): Promise<{ readonly text: string; readonly code: ExitCode }> {
  const [a, b, ...more] = words
  if (a === undefined || b === undefined || more.length > 0) {
    throw new UsageError(
      'diff takes two: each a URL, unix:PATH, a saved JSON report, or the name of a server of --config',
    )
  }
  const { call, format, html } = settings
  if (call !== undefined) throw new UsageError('diff calls no tools; take --call out')
  if (html !== undefined) throw new UsageError('diff writes no page; take --html out')
  if (format !== 'text' && format !== 'json') throw new UsageError(`diff is written as text or json, not as ${format}`)
  // Both are known to be usable before the first is asked, and asked one after the other: they may be one server, by two ways.
  const [sideA, sideB] = [await readSide(a, settings, host), await readSide(b, settings, host)]
  const reportA = 'report' in sideA ? sideA.report : await host.probe(sideA.target)
  const reportB = 'report' in sideB ? sideB.report : await host.probe(sideB.target)
  const diff = diffReports(reportA, reportB)
  const text = format === 'json' ? `${JSON.stringify(diff, undefined, 2)}\n` : diffText(diff, host.style)
  return { text, code: codeOf(diff, [reportA, reportB]) }
}

/** Two servers that are down are not the same. */
function codeOf(diff: Diff, reports: readonly Report[]): ExitCode {
  if (reports.some(({ outcome }) => outcome === 'unreachable')) return exitCode.unreachable
  if (reports.some(({ outcome }) => outcome === 'auth-required')) return exitCode.authRequired
  return diff.same ? exitCode.ok : exitCode.failed
}

type Side = { readonly target: ProbeTarget } | { readonly report: Report }

async function readSide(word: string, { headers, config }: Settings, host: DiffHost): Promise<Side> {
  const named = targetOfWord(word, headers)
  if (named !== undefined) return { target: named }
  const { statSync } = process.getBuiltinModule('node:fs')
  if (statSync(word, { throwIfNoEntry: false })?.isFile() === true) return { report: await readReport(word) }
  if (config !== undefined) {
    const { targets, notProbed } = await host.configured(config, word)
    const [target] = targets
    if (target === undefined) throw new UsageError(`${word}: ${notProbed[0]?.detail ?? 'it cannot be probed'}`)
    return { target }
  }
  if (word.endsWith('.json')) throw new UsageError(`there is no saved report ${word}`)
  throw noTarget([word])
}
