import { isJsonObject, method } from '@atenea/mcpcompat'
import { metaKey, type ProbeVerdict } from '@atenea/mcpcompat/transport'
import { checkDiscovery } from './checks/check-discovery.ts'
import { inspectAnswer } from './checks/inspect-answer.ts'
import type { Conversation } from './conversation.ts'
import type { EraResult } from './era-result.ts'
import { show, showAnswer } from './show.ts'
import type { Answer } from './wire/answer.ts'
import { errorOf, resultOf } from './wire/received.ts'

/** What the answer to `server/discover` and its verdict say about the modern era. Gives whether to go on with it. */
export function judgeDiscovery(to: Conversation, answer: Answer, verdict: ProbeVerdict, result: EraResult): boolean {
  const discovered = resultOf(answer.response)
  if (answer.response !== undefined) result.hasAnswered = true
  if (discovered !== undefined && showsModern(verdict)) {
    inspectAnswer(to, { method: method.discover, params: {}, options: {}, answer })
    checkDiscovery(to, discovered)
    take(result, discovered)
  }
  // a response that no verdict could be read from is none
  const isUnreadable = verdict.kind === 'wait' || verdict.row === 'H24'
  if (isUnreadable && answer.response !== undefined) {
    inspectAnswer(to, { method: method.discover, params: {}, options: {}, answer })
  }
  switch (verdict.kind) {
    case 'modern':
      result.observed = verdict.revision
      result.verdict = 'works'
      result.reason = `server/discover offers ${verdict.revision}`
      return true
    case 'legacy':
      result.verdict = 'not-spoken'
      result.reason = verdict.selected
        ? `only legacy revisions are offered: ${showAnswer(answer)}`
        : `server/discover → ${showAnswer(answer)}`
      return false
    case 'error':
      reportRefusal(to, answer, verdict)
      result.verdict = 'refuses'
      result.reason = verdict.message
      return false
    case 'auth':
    case 'follow':
    case 'inconclusive':
    case 'modern-retry':
    case 'wait':
      result.verdict = 'refuses'
      result.reason = `server/discover → ${showAnswer(answer)}`
      return false
  }
}

/** Rows of answers that only a modern server gives. */
function showsModern(verdict: ProbeVerdict): boolean {
  return (
    verdict.kind === 'modern' ||
    verdict.row === 'H17' ||
    verdict.row === 'H18' ||
    verdict.row === 'H19' ||
    /^S0[234]$/.test(verdict.row)
  )
}

function take(result: EraResult, { supportedVersions, capabilities, instructions, _meta: meta }: Discovered): void {
  if (Array.isArray(supportedVersions)) {
    result.supportedVersions = supportedVersions.filter((entry) => typeof entry === 'string')
  }
  if (isJsonObject(capabilities)) result.capabilities = capabilities
  if (typeof instructions === 'string') result.instructions = instructions
  const info = isJsonObject(meta) ? meta[metaKey.serverInfo] : undefined
  if (isJsonObject(info)) result.server = info
}

type Discovered = NonNullable<ReturnType<typeof resultOf>>

function reportRefusal(to: Conversation, answer: Answer, verdict: ProbeVerdict): void {
  const evidence = `server/discover → ${showAnswer(answer)}`
  if (verdict.row === 'H12' || verdict.row === 'S07') {
    to.found('version-refusal-data', { evidence: `data: ${show(errorOf(answer.response)?.data)}` })
  } else if (verdict.row === 'H13') {
    to.found('header-refused', { subject: method.discover, evidence })
  }
}
