import { isJsonObject, type JsonObject, type JsonValue, parseRevision, type RevisionPolicy } from '@atenea/mcpcompat'
import { isRecognisedModernError } from '@atenea/mcpcompat/transport'
import { checkHandshake } from './checks/check-discovery.ts'
import { inspectAnswer } from './checks/inspect-answer.ts'
import type { Conversation } from './conversation.ts'
import { type EraResult, getsIn } from './era-result.ts'
import { handshakeParams, legacyMethod } from './eras.ts'
import { show, showAnswer } from './show.ts'
import type { Answer } from './wire/answer.ts'
import { isBusy } from './wire/patience.ts'
import { errorOf, resultOf } from './wire/received.ts'

/** What the answer to `initialize` says about the legacy era; gives the revision that the talk goes on with, if it does. */
export function judgeHandshake(
  to: Conversation,
  answer: Answer,
  result: EraResult,
  context: { readonly policy: RevisionPolicy; readonly modern: EraResult },
): string | undefined {
  const initialized = resultOf(answer.response)
  if (initialized === undefined) {
    judgeRefusal(to, answer, result, context.modern)
    return undefined
  }
  result.hasAnswered = true
  const { requested = '' } = result
  inspectAnswer(to, { method: legacyMethod.initialize, params: handshakeParams(requested), options: {}, answer })
  checkHandshake(to, initialized)
  takeIdentity(result, initialized)
  const { protocolVersion } = initialized
  result.observed = typeof protocolVersion === 'string' ? protocolVersion : undefined
  const parsed = parseRevision(protocolVersion)
  const evidence = `initialize asked for ${requested}, answered ${show(protocolVersion)}`
  if (parsed === undefined) {
    result.verdict = 'refuses'
    result.reason = 'initialize is answered without a protocolVersion'
    return undefined
  }
  if (parsed.era !== 'legacy') {
    to.found('legacy-version-unusable', { evidence })
    result.verdict = 'refuses'
    result.reason = `${evidence}, which no handshake can agree on`
    return undefined
  }
  if (parsed.revision === requested || context.policy.legacy.includes(parsed.revision)) {
    result.verdict = 'works'
    result.reason = `initialize agreed on ${parsed.revision}`
  } else {
    to.found('legacy-version-other', { evidence })
    result.verdict = 'silent-downgrade'
    result.reason = evidence
  }
  return parsed.revision
}

function takeIdentity(result: EraResult, { serverInfo, instructions, capabilities }: JsonObject): void {
  if (isJsonObject(serverInfo)) result.server = serverInfo
  if (typeof instructions === 'string') result.instructions = instructions
  if (isJsonObject(capabilities)) result.capabilities = capabilities
}

function judgeRefusal(to: Conversation, answer: Answer, result: EraResult, modern: EraResult): void {
  const error = errorOf(answer.response)
  const shown = `initialize → ${showAnswer(answer)}`
  result.reason = shown
  if (isBusy(answer)) {
    result.verdict = 'not-tried'
    return
  }
  if (error === undefined) {
    const status = answer.http?.status ?? 0
    result.verdict = status >= 500 || status === 403 ? 'refuses' : 'not-spoken'
    return
  }
  result.hasAnswered = true
  const listed = revisionsIn(error.data)
  const namesLegacy = listed.some((revision) => parseRevision(revision)?.era === 'legacy')
  const isForeign =
    error.code !== undefined &&
    (isRecognisedModernError(error.code) || [-32_601, -32_602, -32_600].includes(error.code))
  result.verdict = namesLegacy || !isForeign ? 'refuses' : 'not-spoken'
  if (!getsIn(modern, 'modern')) return
  const text = `${error.message ?? ''} ${show(error.data)}`
  const served = modern.supportedVersions ?? []
  if (!served.some((revision) => text.includes(revision))) to.found('legacy-refusal-unnamed', { evidence: shown })
}

function revisionsIn(data: JsonValue | undefined): readonly string[] {
  const supported = isJsonObject(data) ? data['supported'] : undefined
  return Array.isArray(supported) ? supported.filter((entry) => typeof entry === 'string') : []
}
