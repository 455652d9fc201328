import { ConversationEnded, type Conversation } from '../conversation.ts'
import { type EraResult, readLists } from '../era-result.ts'
import {
  checkBigId,
  checkIds,
  checkMeta,
  checkNotification,
  checkPing,
  checkRemovedMethod,
  checkUnknownMethod,
  checkUnknownNames,
  checkVersionRefusal,
} from './check-errors.ts'
import { checkListen } from './check-listen.ts'

/** Everything that is checked over every carrier. */
export async function runChecks(to: Conversation, result: EraResult): Promise<void> {
  const capabilities = result.capabilities ?? {}
  await readLists(to, result)
  to.recorder.doing(`${to.era}: errors and ids`)
  if (to.era === 'legacy') await checkPing(to)
  await checkUnknownMethod(to)
  await checkIds(to, result)
  await checkUnknownNames(to, capabilities)
  if (to.era === 'modern') {
    await checkMeta(to)
    await checkVersionRefusal(to, result.supportedVersions ?? [])
    await checkRemovedMethod(to)
    to.recorder.doing('modern: subscriptions/listen')
    await checkListen(to, capabilities)
  }
  await checkNotification(to)
  await checkBigId(to)
}

/** Runs checks until they are done or the conversation ends; what was found stands. */
export async function whileTalking(run: () => Promise<void>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (error instanceof ConversationEnded) return false
    throw error
  }
}
