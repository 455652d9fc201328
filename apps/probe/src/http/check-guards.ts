import { legacyRevision, rpcCode } from '@atenea/mcpcompat'
import { loopbackHosts } from '@atenea/mcpcompat/transport'
import { harmless } from '../checks/check-errors.ts'
import { codeOf } from '../checks/inspect-answer.ts'
import type { Conversation } from '../conversation.ts'
import { modernMeta } from '../eras.ts'
import { showAnswer } from '../show.ts'
import { messageText } from '../talk.ts'
import type { Answer } from '../wire/answer.ts'
import { resultOf } from '../wire/received.ts'
import type { HttpTalk } from './http-talk.ts'

/** A name that nobody can own. */
const stranger = 'atenea-probe.invalid'

/** What stands before the protocol: Origin and Host, media types, methods, and bodies that are no message. */
export async function checkGuards(to: Conversation, talk: HttpTalk, speaksLegacy: boolean): Promise<void> {
  await checkSources(to, talk)
  await checkMediaTypes(to)
  await checkBodies(to)
  await checkMethods(to, speaksLegacy)
}

const isServed = (answer: Answer): boolean => resultOf(answer.response) !== undefined

async function checkSources(to: Conversation, talk: HttpTalk): Promise<void> {
  const isLocal = loopbackHosts.includes(talk.url.hostname)
  const origin = `https://${stranger}`
  const foreign = await to.raw(harmless(to), {}, { headers: { origin } })
  const evidence = `${harmless(to)} with Origin: ${origin} → ${showAnswer(foreign)}`
  if (isServed(foreign)) to.found(isLocal ? 'origin-unchecked' : 'origin-open', { evidence })
  else if (foreign.http !== undefined && foreign.http.status !== 403) to.found('origin-refusal-status', { evidence })
  if (!isLocal) return
  const rebound = await to.raw(harmless(to), {}, { headers: { host: stranger } })
  if (isServed(rebound)) {
    to.found('host-unchecked', { evidence: `${harmless(to)} with Host: ${stranger} → ${showAnswer(rebound)}` })
  }
}

async function checkMediaTypes(to: Conversation): Promise<void> {
  const ask = async (headers: Readonly<Record<string, string>>): Promise<{ isServed?: boolean; evidence: string }> => {
    const answer = await to.raw(harmless(to), {}, { headers })
    const [[name, value] = []] = Object.entries(headers)
    const served = answer.failure === undefined ? { isServed: isServed(answer) } : {}
    return { ...served, evidence: `${harmless(to)} with ${name}: ${value} → ${showAnswer(answer)}` }
  }
  const any = await ask({ accept: '*/*' })
  if (any.isServed === false) to.found('accept-strict', { evidence: any.evidence })
  const neither = await ask({ accept: 'text/html' })
  if (neither.isServed === true) to.found('accept-ignored', { evidence: neither.evidence })
  const charset = await ask({ 'content-type': 'application/json; charset=utf-8' })
  if (charset.isServed === false) to.found('content-type-strict', { evidence: charset.evidence })
  const plain = await ask({ 'content-type': 'text/plain' })
  if (plain.isServed === true) to.found('content-type-ignored', { evidence: plain.evidence })
}

async function checkBodies(to: Conversation): Promise<void> {
  const name = harmless(to)
  const broken = await to.raw(name, {}, { text: '{"jsonrpc":"2.0","id":1,"method":', mayBeSilent: true })
  const isRefused = codeOf(broken) === rpcCode.parseError && broken.http?.status === 400
  if (broken.http !== undefined && !isRefused) {
    to.found('bad-json-answer', { evidence: `half a message → ${showAnswer(broken)}` })
  }
  if (to.era === 'modern' && broken.response?.idText === 'null') {
    to.found('id-null', { evidence: `half a message → ${showAnswer(broken)}` })
  }
  const meta = to.era === 'modern' ? modernMeta(to.talk.revision) : undefined
  const message = messageText({ method: name, params: {}, meta, idText: '"batch"' })
  // one legacy revision had batches
  if (to.era === 'modern' || to.talk.revision >= legacyRevision) {
    const batch = await to.raw(name, {}, { text: `[${message}]`, mayBeSilent: true })
    if (isServed(batch) || batch.junk.some(({ reason }) => reason === 'an array')) {
      to.found('batch-served', { evidence: `[${name}] → ${showAnswer(batch)}` })
    }
  }
  const other = await to.raw(
    name,
    {},
    { text: message.replace('"jsonrpc":"2.0"', '"jsonrpc":"1.0"'), mayBeSilent: true },
  )
  if (isServed(other))
    to.found('jsonrpc-unchecked', { evidence: `${name} with "jsonrpc": "1.0" → ${showAnswer(other)}` })
}

async function checkMethods(to: Conversation, speaksLegacy: boolean): Promise<void> {
  const get = await to.raw(
    'GET',
    {},
    {
      httpMethod: 'GET',
      headers: { accept: 'text/event-stream', 'mcp-method': undefined },
      headOnly: true,
      mayBeSilent: true,
    },
  )
  if (get.http !== undefined) {
    const { status, isEventStream } = get.http
    const evidence = `GET → ${status}, Content-Type: ${get.http.headers['content-type'] ?? 'none'}`
    const isLegacyAnswer = (status === 200 && isEventStream) || [400, 404, 405, 409].includes(status)
    if (speaksLegacy && !isLegacyAnswer) to.found('get-answer', { evidence })
    else if (!speaksLegacy && status !== 405) to.found('get-refusal', { evidence })
  }
  const put = await to.raw('PUT', {}, { httpMethod: 'PUT', headOnly: true, mayBeSilent: true })
  // 404 and the like refuse it well enough; what is served, or breaks, does not
  const isRefused =
    put.http === undefined || (put.http.status >= 400 && put.http.status < 500) || put.http.status === 501
  if (put.http !== undefined && !isRefused) {
    to.found('http-method-status', { evidence: `PUT → ${put.http.status}` })
  }
}
