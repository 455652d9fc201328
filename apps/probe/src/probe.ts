import type { ToolCall } from './call-tool.ts'
import type { CarrierResult, Probing } from './carrier.ts'
import { crossCheck } from './checks/cross-check.ts'
import { eraReport, getsIn, untried } from './era-result.ts'
import { clientInfo } from './eras.ts'
import { probeHttp } from './http/probe-http.ts'
import { probeLines } from './lines/probe-lines.ts'
import type { ProbeOptions, ProgressEvent } from './probe-options.ts'
import { Recorder } from './recorder.ts'
import {
  type ProbeTarget,
  type Report,
  type ReportTarget,
  reportVersion,
  type ToolCallReport,
  type UrlTarget,
} from './report.ts'
import { outcomeOf, settleVerdicts, verdictOf } from './verdict.ts'

export type { ProbeOptions, ProgressEvent } from './probe-options.ts'

/**
 * Finds out what a server speaks and what is wrong with it. Whatever the server does ends up in the report; it throws for an
 * aborted signal alone. Processes and connections that it opened are gone when it returns or throws.
 */
export async function probe(
  target: ProbeTarget,
  options: ProbeOptions,
  onProgress: (event: ProgressEvent) => void = () => undefined,
): Promise<Report> {
  options.signal.throwIfAborted()
  const started = new Date().toISOString()
  const recorder = new Recorder(options.redact, onProgress)
  const left = `left out by --protocol ${options.protocol}`
  const result: CarrierResult = {
    modern: untried(options.protocol === 'legacy' ? left : 'the server could not be reached'),
    legacy: untried(options.protocol === 'modern' ? left : 'the server could not be reached'),
  }
  const probing = { options, recorder, result }
  if (target.kind === 'url') await probeUrl(target, probing)
  else await probeLines(target, probing)
  options.signal.throwIfAborted()
  crossCheck(probing)
  if (options.call !== undefined) result.call ??= notCalled(options.call, result)
  settleVerdicts(result, recorder)
  const { cause, repair, ...verdict } = verdictOf(result)
  const { modern, legacy } = result
  return {
    format: 'atenea-probe-report',
    version: reportVersion,
    probe: clientInfo,
    target: reportTarget(target, options.redact),
    started,
    durationMs: Math.round(performance.now() - recorder.started),
    outcome: outcomeOf(result),
    verdict: {
      ...verdict,
      ...(cause !== undefined && { cause: recorder.clean(cause) }),
      ...(repair !== undefined && { repair: recorder.clean(repair) }),
    },
    steps: recorder.steps,
    modern: eraReport({ ...modern, reason: recorder.clean(modern.reason) }),
    legacy: eraReport({ ...legacy, reason: recorder.clean(legacy.reason) }),
    findings: recorder.findings,
    ...(result.auth !== undefined && { auth: result.auth }),
    ...(result.call !== undefined && { call: result.call }),
    ...(result.stderr !== undefined && { stderr: result.stderr }),
  }
}

/** A tool that nobody came to call is a call that failed, where somebody got in. */
function notCalled({ name }: ToolCall, { modern, legacy }: CarrierResult): ToolCallReport | undefined {
  const era = getsIn(modern, 'modern') ? 'modern' : getsIn(legacy, 'legacy') ? 'legacy' : undefined
  if (era === undefined) return undefined
  const detail = 'the tool was not called, since the conversation ended before; see the findings'
  return { name, era, ok: false, durationMs: 0, detail }
}

/** Probes, and once more behind the wall that a server has put up, where somebody signs in. */
async function probeUrl(target: UrlTarget, probing: Probing): Promise<void> {
  const { result } = probing
  await probeHttp(target, probing)
  if (result.auth === undefined) return
  const { beginAnew, pastTheWall } = await import('./auth/past-the-wall.ts')
  const signedIn = await pastTheWall(target, probing)
  if (signedIn === undefined) return
  const { auth } = result
  beginAnew(probing)
  await probeHttp(signedIn, probing)
  // Refused all the same, or not: what is known of the way is kept.
  result.auth = { ...auth, ...result.auth, signedIn: result.auth === undefined }
}

function reportTarget(target: ProbeTarget, redact: (text: string) => string): ReportTarget {
  const text =
    target.kind === 'url'
      ? target.url
      : target.kind === 'socket'
        ? `unix:${target.path}`
        : [target.command, ...target.args].join(' ')
  return { kind: target.kind, text: redact(text), ...(target.name !== undefined && { name: target.name }) }
}
