import { method } from '@atenea/mcpcompat'
import type { Conversation } from '../conversation.ts'
import type { EraResult } from '../era-result.ts'
import { showAnswer } from '../show.ts'
import { resultOf } from '../wire/received.ts'

/**
 * A server without discovery gets one more request of the modern era: does it run it as if it were legacy (A10)? Or does it speak the
 * era and lacks discovery alone (MC-DISC-01)?
 */
export async function checkDowngrade(to: Conversation, result: EraResult): Promise<void> {
  const answer = await to.raw(method.listTools, {}, { mayBeSilent: true, timeoutMs: 2_000 })
  const list = resultOf(answer.response)
  if (list === undefined) return
  const evidence = `${method.listTools} with a modern protocol version → ${showAnswer(answer)}`
  if (list['resultType'] === undefined) {
    to.found('modern-ran-unmarked', { evidence })
    result.verdict = 'silent-downgrade'
    result.reason = 'modern requests are run and answered in the legacy form; there is no discovery'
  } else {
    to.found('discover-unserved', { evidence: `${result.reason}; ${evidence}` })
    result.verdict = 'refuses'
    result.reason = 'modern requests are served, but discovery is not, so that clients take the server for a legacy one'
  }
}
