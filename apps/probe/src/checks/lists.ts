import { isJsonObject, type JsonObject, type JsonValue, method, rpcCode, toText } from '@atenea/mcpcompat'
import { createPageWalk } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import type { ListName } from '../report.ts'
import { show, showAnswer } from '../show.ts'
import { resultOf } from '../wire/received.ts'
import { codeOf } from './inspect-answer.ts'

/** How each list is asked for. */
export const listKinds: Readonly<Record<ListName, { method: string; member: string; capability: string }>> = {
  tools: { method: method.listTools, member: 'tools', capability: 'tools' },
  prompts: { method: method.listPrompts, member: 'prompts', capability: 'prompts' },
  resources: { method: method.listResources, member: 'resources', capability: 'resources' },
  templates: { method: method.listResourceTemplates, member: 'resourceTemplates', capability: 'resources' },
}

/** More is no list that any client reads to its end. */
const limits = { maxPages: 300, maxItems: 20_000 }
/** A cursor that no server gives. */
const strangeCursor = 'atenea-probe-no-such-cursor'

/** Reads one list to its end, and looks for the traps that lists have. Undefined when it is refused. */
export async function readList(
  to: Conversation,
  name: ListName,
  capabilities: JsonObject,
): Promise<readonly JsonValue[] | undefined> {
  const { method: listMethod, member, capability } = listKinds[name]
  const isAdvertised = isJsonObject(capabilities[capability])
  const walk = createPageWalk(limits)
  const items: JsonValue[] = []
  const pages = new Set<string>()
  const scopes = new Set<string>()
  let cursor: string | undefined
  let first: string | undefined
  for (;;) {
    const params: JsonObject = cursor === undefined ? {} : { cursor }
    const ask = isAdvertised ? to.ask.bind(to) : to.raw.bind(to)
    const answer = await ask(listMethod, params)
    const result = resultOf(answer.response)
    if (result === undefined) {
      const isRefused = isAdvertised && codeOf(answer) === rpcCode.methodNotFound && name !== 'templates'
      if (isRefused)
        to.found('capability-unserved', { subject: name, evidence: `${listMethod} → ${showAnswer(answer)}` })
      break
    }
    if (!isAdvertised) {
      to.found('capability-undeclared', { subject: capability, evidence: `${listMethod} → ${showAnswer(answer)}` })
      return undefined
    }
    const entries = result[member]
    if (!Array.isArray(entries)) {
      to.found('list-malformed', { subject: name, evidence: `${listMethod} → ${member}: ${show(entries)}` })
      break
    }
    scopes.add(show(result['cacheScope']))
    const page = toText(entries)
    first ??= page
    const isRepeated = entries.length > 0 && pages.has(page)
    // no spread: a list can be longer than a call may have arguments
    if (!isRepeated) for (const entry of entries as readonly JsonValue[]) items.push(entry)
    else {
      to.found('page-repeats-items', {
        subject: name,
        evidence: `${listMethod} ${show(params)} → a page that came before`,
      })
    }
    pages.add(page)
    const step = walk.after(result, entries.length)
    if (step.kind === 'next' && entries.length === 0) {
      to.found('page-empty', { subject: name, evidence: `${listMethod} → [], nextCursor ${show(step.cursor)}` })
    }
    if (step.kind !== 'next') {
      if (step.kind === 'stopped') reportTrap(to, name, step.reason, result, pages.size)
      break
    }
    cursor = step.cursor
  }
  if (first === undefined) return undefined
  if (to.era === 'modern' && scopes.size > 1) {
    to.found('cache-scope-pages', { subject: name, evidence: `cacheScope of the pages: ${[...scopes].join(', ')}` })
  }
  await checkAgain(to, name, first)
  if (cursor !== undefined) await checkStrangeCursor(to, name)
  return items
}

function reportTrap(to: Conversation, name: ListName, reason: string, result: JsonObject, pages: number): void {
  const evidence = `${listKinds[name].method}, page ${pages}: nextCursor ${show(result['nextCursor'])}`
  if (reason === 'repeated-cursor') to.found('page-cursor-repeated', { subject: name, evidence })
  else if (reason === 'bad-cursor') to.found('page-cursor-type', { subject: name, evidence })
  else to.found('page-endless', { subject: name, evidence: `${evidence}; stopped there` })
}

/** MC-TOOL-03: the first page, once more. */
async function checkAgain(to: Conversation, name: ListName, first: string): Promise<void> {
  const { method: listMethod, member } = listKinds[name]
  const entries = resultOf((await to.raw(listMethod)).response)?.[member]
  if (!Array.isArray(entries) || toText(entries) === first) return
  const names = (text: string): string => show((JSON.parse(text) as JsonValue[]).map(nameOf), 200)
  const evidence = `first ${names(first)}, then ${names(toText(entries))}`
  to.found('list-unstable', { subject: name, evidence })
}

function nameOf(entry: JsonValue): JsonValue {
  return isJsonObject(entry) ? (entry['name'] ?? entry['uri'] ?? null) : entry
}

/** MC-PAGE-07 */
async function checkStrangeCursor(to: Conversation, name: ListName): Promise<void> {
  const { method: listMethod } = listKinds[name]
  const answer = await to.raw(listMethod, { cursor: strangeCursor })
  if (answer.response === undefined || codeOf(answer) === rpcCode.invalidParams) return
  to.found('page-cursor-unrefused', {
    subject: name,
    evidence: `${listMethod} with cursor ${show(strangeCursor)} → ${showAnswer(answer)}`,
  })
}
