import type { Era, JsonObject } from '@atenea/mcpcompat'
import { checkItems } from './checks/check-items.ts'
import { listKinds, readList } from './checks/lists.ts'
import type { Conversation } from './conversation.ts'
import type { EraReport, EraVerdict, ListCounts, ListName, Lists } from './report.ts'

/** What is known about one era while it is probed. */
export interface EraResult {
  verdict: EraVerdict
  reason: string
  requested?: string | undefined
  observed?: string | undefined
  supportedVersions?: readonly string[] | undefined
  server?: JsonObject | undefined
  instructions?: string | undefined
  capabilities?: JsonObject | undefined
  lists: Lists
  /** Whether anything of MCP was answered at all. */
  hasAnswered: boolean
}

/** An era that was not tried, or of which nothing is known yet. */
export function untried(reason: string): EraResult {
  return { verdict: 'not-tried', reason, lists: {}, hasAnswered: false }
}

/** Whether a client of the era gets in. */
export function getsIn({ verdict }: { readonly verdict: EraVerdict }, era: Era): boolean {
  return verdict === 'works' || verdict === 'works-with-defects' || (era === 'legacy' && verdict === 'silent-downgrade')
}

const listNames: readonly ListName[] = ['tools', 'prompts', 'resources', 'templates']

/** Reads all lists to their ends, as steps, and looks at what stands in them. */
export async function readLists(to: Conversation, result: EraResult): Promise<void> {
  const capabilities = result.capabilities ?? {}
  for (const name of listNames) {
    to.recorder.doing(`${to.era}: ${listKinds[name].method}`)
    const from = performance.now()
    const entries = await readList(to, name, capabilities)
    if (entries === undefined) continue
    to.recorder.step({ name, era: to.era, from, to: performance.now(), ok: true, detail: String(entries.length) })
    result.lists = { ...result.lists, [name]: entries }
  }
  checkItems(to, result.lists)
}

/** As it stands in the report. */
export function eraReport({ hasAnswered: _, lists, ...rest }: EraResult): EraReport {
  const counts = Object.fromEntries(
    Object.entries(lists).map(([name, entries]) => [name, entries.length]),
  ) as ListCounts
  return { ...rest, counts, lists }
}
