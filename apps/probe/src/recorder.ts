import type { Era } from '@atenea/mcpcompat'
import { type FindingId, kindOf } from './findings/catalog.ts'
import type { ProgressEvent } from './probe-options.ts'
import type { Finding, Step } from './report.ts'

/** More findings of one id and era are counted, not listed. */
const keptPerKind = 8

/** What a finding is about, beside its kind. */
export interface Seen {
  readonly era?: Era | undefined
  readonly subject?: string | undefined
  /** What was sent and what came back. Redacted and cut here. */
  readonly evidence: string
}

/** Collects what a probe meets, in the order in which it was met. */
export class Recorder {
  readonly started: number = performance.now()
  readonly #redact: (text: string) => string
  readonly #onProgress: (event: ProgressEvent) => void
  readonly #steps: Step[] = []
  readonly #findings = new Map<string, Finding[]>()

  constructor(redact: (text: string) => string, onProgress: (event: ProgressEvent) => void) {
    this.#redact = redact
    this.#onProgress = onProgress
  }

  get steps(): readonly Step[] {
    return [...this.#steps].sort((a, b) => a.startMs - b.startMs)
  }

  get findings(): readonly Finding[] {
    return [...this.#findings.values()].flat()
  }

  /** Takes secrets out of a text and bounds it. */
  clean(text: string, maxLength = 600): string {
    const clean = this.#redact(text)
    return clean.length > maxLength ? `${clean.slice(0, maxLength).toWellFormed()}…` : clean
  }

  doing(text: string): void {
    this.#onProgress({ kind: 'doing', text })
  }

  /** `from` and `to` are of `performance.now()`. */
  step(step: Omit<Step, 'startMs' | 'durationMs'> & { readonly from: number; readonly to: number }): void {
    const { from, to, detail, ...rest } = step
    const taken: Step = {
      ...rest,
      startMs: rounded(from - this.started),
      durationMs: rounded(to - from),
      ...(detail !== undefined && { detail: this.clean(detail, 300) }),
    }
    this.#steps.push(taken)
    this.#onProgress({ kind: 'step', step: taken })
  }

  found(id: FindingId, seen: Seen): void {
    const group = this.#findings.get(id) ?? []
    this.#findings.set(id, group)
    const known = group.findIndex(({ subject }) => subject === seen.subject)
    if (known >= 0) {
      // seen in both eras, so it belongs to neither alone
      const { era, ...rest } = group[known] as Finding
      if (era !== seen.era) group[known] = rest
      return
    }
    const last = group.at(-1)
    if (last !== undefined && group.length >= keptPerKind) {
      group[group.length - 1] = { ...last, more: (last.more ?? 0) + 1 }
      return
    }
    const { level, requirements, title, repair } = kindOf(id)
    const finding: Finding = {
      id,
      level,
      requirements,
      title,
      ...(seen.era !== undefined && { era: seen.era }),
      ...(seen.subject !== undefined && { subject: this.clean(seen.subject, 200) }),
      evidence: this.clean(seen.evidence),
      repair,
    }
    group.push(finding)
    this.#onProgress({ kind: 'finding', finding })
  }

  /** Whether there is an error that belongs to this era. */
  hasError(era: Era): boolean {
    return this.findings.some(
      (finding) => finding.level === 'error' && (finding.era === era || finding.era === undefined),
    )
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}
