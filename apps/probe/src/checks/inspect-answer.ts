import { type JsonObject, type JsonValue, method, notice } from '@atenea/mcpcompat'
import { askingMethods, cacheHintDefects, isJsonType, metaKey, parseMetaKey } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import { show, showAnswer } from '../show.ts'
import type { AskOptions } from '../talk.ts'
import type { Answer, HttpPart } from '../wire/answer.ts'
import { errorOf, type Received, resultOf } from '../wire/received.ts'
import { inspectErrorCode } from './inspect-error-code.ts'

/** A good request and what came back. */
export interface Asked {
  readonly method: string
  readonly params: JsonObject
  readonly options: AskOptions
  readonly answer: Answer
}

/** What holds for the answer to every good request, whatever its method. */
export function inspectAnswer(to: Conversation, asked: Asked): void {
  const { answer } = asked
  const { response, http } = answer
  for (const other of answer.others) inspectOther(to, asked, other)
  if (http !== undefined) inspectHttp(to, asked, http)
  if (response === undefined) {
    if (answer.failure === undefined) inspectAbsence(to, asked)
    return
  }
  const fault = responseFault(response)
  if (fault !== undefined) {
    to.found('response-malformed', { subject: asked.method, evidence: `${fault}: ${showAnswer(answer)}` })
    return
  }
  if (!isSameId(answer.idText, response.idText)) {
    const evidence = `${asked.method} with id ${answer.idText ?? 'none'} → id ${response.idText ?? 'none'}`
    to.found('id-changed', { subject: asked.method, evidence })
  } else if (/^-?\d/.test(response.idText ?? '') && answer.idText !== response.idText) {
    to.found('id-respelled', { evidence: `${asked.method} with id ${answer.idText} → id ${response.idText}` })
  }
  const result = resultOf(response)
  if (result === undefined) inspectErrorCode(to, asked.method, answer)
  else inspectResult(to, asked, result)
}

/** Why a response is none, or undefined. */
function responseFault({ value }: Received): string | undefined {
  if (value['jsonrpc'] !== '2.0') return `"jsonrpc" is ${show(value['jsonrpc'])}`
  const hasError = Object.hasOwn(value, 'error')
  if (hasError && Object.hasOwn(value, 'result')) return 'both a result and an error'
  if (hasError && value['error'] === null) return 'the error is null'
  if (hasError) return undefined
  const { result } = value
  return typeof result === 'object' && result !== null && !Array.isArray(result) ? undefined : 'the result is no object'
}

/** Whether two ids are one, of one type, however their text is escaped. */
function isSameId(sent: string | undefined, got: string | undefined): boolean {
  if (sent === got) return true
  if (sent === undefined || got === undefined) return false
  const [a, b] = [JSON.parse(sent) as JsonValue, JSON.parse(got) as JsonValue]
  return a === b && (typeof a === 'string' || Number.isSafeInteger(a))
}

function inspectAbsence(to: Conversation, { method: subject, answer }: Asked): void {
  const id = answer.http?.isEventStream === true ? 'sse-no-response' : 'response-malformed'
  to.found(id, { subject, evidence: `${subject} → ${showAnswer(answer)}` })
}

const cacheable: ReadonlySet<string> = new Set([
  method.discover,
  method.listTools,
  method.listPrompts,
  method.listResources,
  method.listResourceTemplates,
  method.readResource,
])

function inspectResult(to: Conversation, { method: subject }: Asked, result: JsonObject): void {
  for (const key of Object.keys(objectOf(result['_meta']))) {
    if (!parseMetaKey(key, to.era).valid)
      to.found('meta-key', { subject: key, evidence: `_meta of ${subject}: ${show(key)}` })
  }
  if (to.era === 'legacy') {
    const foreign = ['resultType', 'ttlMs', 'cacheScope'].filter((member) => Object.hasOwn(result, member))
    if (foreign.length > 0) to.found('legacy-modern-members', { evidence: `${subject} → ${foreign.join(', ')}` })
    return
  }
  const { resultType } = result
  if (resultType === undefined) {
    to.found('result-type-missing', { subject, evidence: `${subject} → ${show(result)}` })
  } else if (resultType !== 'complete' && !(resultType === 'input_required' && askingMethods.has(subject))) {
    to.found('result-type-unknown', { subject, evidence: `${subject} → resultType ${show(resultType)}` })
  }
  if (resultType === 'input_required' || !cacheable.has(subject)) return
  for (const defect of cacheHintDefects(result)) {
    const id = defect.startsWith('ttlMs') ? 'cache-ttl' : 'cache-scope'
    to.found(id, {
      subject,
      evidence: `${subject}: ${defect}: ttlMs ${show(result['ttlMs'])}, cacheScope ${show(result['cacheScope'])}`,
    })
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** What came beside the response. */
function inspectOther(to: Conversation, { method: asked, options }: Asked, other: Received): void {
  const evidence = `during ${asked}: ${show(other.value)}`
  const name = other.value['method']
  const subject = typeof name === 'string' ? name : ''
  if (to.era === 'modern' && other.kind === 'request') {
    to.found('server-request', { subject, evidence })
    return
  }
  if (other.kind === 'response') to.found('response-unasked', { evidence })
  if (other.kind !== 'notification') return
  const meta = options.meta ?? {}
  if (subject === notice.progress) {
    if (meta[metaKey.progressToken] === undefined) to.found('progress-unasked', { evidence })
  } else if (to.era === 'legacy') {
    // a legacy server may send logs and changes at any time
  } else if (subject === notice.message) {
    if (meta[metaKey.logLevel] === undefined) to.found('log-unasked', { evidence })
  } else if (asked !== method.listen) {
    to.found('notification-unasked', { subject, evidence })
  }
}

function inspectHttp(to: Conversation, { method: subject, answer }: Asked, http: HttpPart): void {
  const type = http.headers['content-type']
  const hasBody = answer.response !== undefined || answer.junk.length > 0
  if (hasBody && http.status < 300 && !http.isEventStream && !isJsonType(type)) {
    to.found('answer-media-type', { evidence: `${subject} → Content-Type: ${type ?? 'none'}` })
  }
  if (!http.isUtf8) to.found('not-utf8', { evidence: `${subject} → ${showAnswer(answer)}` })
  if (to.era === 'modern' && http.headers['mcp-session-id'] !== undefined) {
    to.found('session-in-modern', { evidence: `${subject} → Mcp-Session-Id` })
  }
  if (!http.isEventStream) return
  if (http.otherEvent !== undefined) {
    to.found('sse-event-type', { evidence: `${subject} → event: ${http.otherEvent}` })
  }
  if (to.era === 'modern') {
    if (http.headers['x-accel-buffering'] !== 'no') {
      to.found('sse-buffered', {
        evidence: `${subject} → X-Accel-Buffering: ${http.headers['x-accel-buffering'] ?? 'none'}`,
      })
    }
    if (http.lastEventId !== undefined && http.lastEventId !== '')
      to.found('sse-event-ids', { evidence: `${subject} → id: ${http.lastEventId}` })
  }
  if (http.leftOpen && answer.response !== undefined && subject !== method.listen) {
    to.found('sse-left-open', { evidence: `${subject}: the stream was still open 500 ms after the response` })
  }
}

/** The error of an answer, for checks that read on. */
export function codeOf(answer: Answer): number | undefined {
  return errorOf(answer.response)?.code
}
