import { rpcCode } from '@atenea/mcpcompat'
import { isRecognisedModernError } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import { showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { errorOf } from '../wire/received.ts'

/** Legacy: a URL must be visited first. */
const urlElicitationRequired = -32_042

/** The form of an error, and whether its era has its code. */
export function inspectErrorCode(to: Conversation, method: string, answer: Answer): void {
  const error = errorOf(answer.response)
  if (error === undefined) return
  const seen = { subject: method, evidence: `${method} → ${showAnswer(answer)}` }
  const { code, message } = error
  if (code === undefined || message === undefined) {
    to.found('error-malformed', seen)
    return
  }
  if (to.era === 'legacy') return
  if (code === rpcCode.unsupportedVersion) to.found('discover-version-refused', { ...seen, subject: to.talk.revision })
  else if (code === rpcCode.headerMismatch) to.found('header-refused', seen)
  else if (isLegacyCode(code)) to.found('error-code-legacy', seen)
  else if (isOldCode(code)) to.found('error-code-old-range', seen)
  else if (isUndefinedCode(code)) to.found('error-code-undefined', seen)
}

/** Whether a code is none that a modern answer may have (MC-ERR-02, -04, -08). */
export function isForeignCode(code: number): boolean {
  return isLegacyCode(code) || isOldCode(code) || isUndefinedCode(code)
}

function isLegacyCode(code: number): boolean {
  return code === rpcCode.resourceNotFound || code === urlElicitationRequired
}

function isOldCode(code: number): boolean {
  return code >= -32_019 && code <= -32_000
}

function isUndefinedCode(code: number): boolean {
  return code >= -32_099 && code <= -32_020 && !isRecognisedModernError(code)
}
