import { isJsonObject, type JsonObject, type JsonValue, method, notice } from '@atenea/mcpcompat'
import { advertisedListChanges, metaKey } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import { show, showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { errorOf, type Received } from '../wire/received.ts'

const id = 'atenea-probe-listen'
/** How long a subscription is watched after its acknowledgement. */
const watchMs = 300

/** Opens one subscription for every change that is advertised, and ends it (MC-SUB-03, -05, -07, A-31). */
export async function checkListen(to: Conversation, capabilities: JsonObject): Promise<void> {
  const changes = advertisedListChanges(capabilities)
  const resources = capabilities['resources']
  const canSubscribe = isJsonObject(resources) && resources['subscribe'] === true
  if (Object.keys(changes).length === 0 && !canSubscribe) return
  const filter: JsonObject = { ...changes, ...(canSubscribe && { resourceSubscriptions: [] }) }
  const answer = await to.raw(
    method.listen,
    { notifications: filter },
    {
      idText: JSON.stringify(id),
      mayBeSilent: true,
      timeoutMs: 3_000,
      ...(to.talk.carrier === 'http' ? { quietMs: watchMs } : { stopAt: belongs }),
    },
  )
  if (answer.failure?.kind === 'unusable') return
  const messages = answer.others.filter(belongs)
  const [first] = messages
  if (errorOf(answer.response) !== undefined && first === undefined) {
    to.found('listen-unserved', { evidence: `${method.listen} ${show(filter)} → ${showAnswer(answer)}` })
    return
  }
  if (answer.http !== undefined && !answer.http.isEventStream) {
    to.found('listen-not-stream', { evidence: `${method.listen} → ${showAnswer(answer)}` })
    return
  }
  if (first === undefined) {
    to.found('listen-no-acknowledgement', { evidence: `${method.listen} ${show(filter)} → ${showAnswer(answer)}` })
  } else {
    checkAcknowledgement(to, filter, messages, first)
    checkStillOpen(to, answer)
  }
  if (to.talk.carrier === 'lines') await checkCancel(to)
}

/** Whether a message is one of the subscription, also when it does not say so rightly. */
function belongs({ kind, value }: Received): boolean {
  return kind === 'notification' && (value['method'] === notice.acknowledged || subscriptionIdOf(value) === id)
}

function subscriptionIdOf(value: JsonObject): JsonValue | undefined {
  const params = value['params']
  const meta = isJsonObject(params) ? params['_meta'] : undefined
  return isJsonObject(meta) ? meta[metaKey.subscriptionId] : undefined
}

function checkAcknowledgement(
  to: Conversation,
  filter: JsonObject,
  messages: readonly Received[],
  first: Received,
): void {
  const evidence = show(first.value, 300)
  if (first.value['method'] !== notice.acknowledged) to.found('listen-order', { evidence })
  const acknowledged = messages.find(({ value }) => value['method'] === notice.acknowledged)
  if (acknowledged === undefined) return
  if (subscriptionIdOf(acknowledged.value) !== id) {
    const got = show(subscriptionIdOf(acknowledged.value))
    to.found('listen-id', { evidence: `id ${show(id)} → ${metaKey.subscriptionId} ${got}` })
  }
  const params = acknowledged.value['params']
  const granted = isJsonObject(params) ? params['notifications'] : undefined
  if (!isJsonObject(granted) || Object.entries(granted).some(([member, value]) => isMore(value, filter[member]))) {
    to.found('listen-filter', { evidence: `asked for ${show(filter)}, granted ${show(granted)}` })
  }
}

/** Whether more was granted than asked for. */
function isMore(granted: JsonValue | undefined, asked: JsonValue | undefined): boolean {
  if (granted === undefined || granted === false) return false
  if (Array.isArray(granted)) {
    return granted.some(
      (entry: JsonValue) => !(Array.isArray(asked) && (asked as readonly JsonValue[]).includes(entry)),
    )
  }
  return granted !== asked
}

/** MH-SSE-04 */
function checkStillOpen(to: Conversation, answer: Answer): void {
  const hasEnded = answer.http === undefined ? answer.response !== undefined : !answer.http.leftOpen
  if (hasEnded) {
    to.found('listen-ended', { evidence: `ended within ${watchMs} ms; ${show(answer.response?.value)}` })
  }
}

/** Lines: MC-CANC-07 */
async function checkCancel(to: Conversation): Promise<void> {
  const before = await to.talk.listen(watchMs)
  if (before.some(({ kind, value }) => kind === 'response' && value['id'] === id)) {
    to.found('listen-ended', { evidence: show(before.find(({ kind }) => kind === 'response')?.value) })
    return
  }
  const cancelled = await to.raw(
    notice.cancelled,
    { requestId: id },
    { idText: null, mayBeSilent: true, timeoutMs: watchMs },
  )
  const after = [...cancelled.others, ...(await to.talk.listen(0))].filter(
    (message) => belongs(message) || (message.kind === 'response' && message.value['id'] === id),
  )
  const [late] = after
  if (late !== undefined) to.found('listen-after-cancel', { evidence: show(late.value) })
}
