import { createRevisionPolicy, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { join } from 'node:path'
import { probe, type ProbeOptions } from '../../src/probe.ts'
import type { ProbeTarget, Report } from '../../src/report.ts'
import type { Setup } from '../flawed/core.ts'

/** One run of the engine with the usual options. */
export async function probed(target: ProbeTarget, options: Partial<ProbeOptions> = {}): Promise<Report> {
  return await probe(target, {
    protocol: 'both',
    policy: createRevisionPolicy(),
    timeoutMs: 4_000,
    signal: new AbortController().signal,
    redact: (text) => text,
    ...options,
  })
}

export function setupOf(flaw: string): Setup {
  return { flaw, modern: modernRevision, legacy: legacyRevision }
}

/** The fixture as a command. */
export function flawedCommand(flaw: string): ProbeTarget {
  const file = join(import.meta.dirname, '../flawed/stdio.ts')
  return {
    kind: 'command',
    command: process.execPath,
    args: ['--no-warnings', file, flaw, modernRevision, legacyRevision],
  }
}
