import type { RevisionPolicy } from '@atenea/mcpcompat'
import type { Finding, ProbeTarget, Report, Step } from './report.ts'

export interface ProbeOptions {
  /** Eras to try. */
  readonly protocol: 'both' | 'modern' | 'legacy'
  /** Revisions to ask for and to accept. */
  readonly policy: RevisionPolicy
  /** How long one answer may take, in milliseconds. */
  readonly timeoutMs: number
  /** Ends the probe; its reason is thrown once everything that was opened is closed. */
  readonly signal: AbortSignal
  /** Takes secrets out of whatever goes into the report. */
  readonly redact: (text: string) => string
  /** The one tool to call, if any. */
  readonly call?: { readonly name: string; readonly args: Readonly<Record<string, unknown>> } | undefined
}

/** Told while the probe runs, for a display. */
export type ProgressEvent =
  | { readonly kind: 'doing'; readonly text: string }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'finding'; readonly finding: Finding }

/**
 * Finds out what a server speaks and what is wrong with it. Whatever the server does ends up in the report; it throws for an
 * aborted signal alone. Processes and connections that it opened are gone when it returns.
 */
export async function probe(
  _target: ProbeTarget,
  options: ProbeOptions,
  _onProgress: (event: ProgressEvent) => void,
): Promise<Report> {
  options.signal.throwIfAborted()
  return await Promise.reject(new Error('not there yet'))
}
