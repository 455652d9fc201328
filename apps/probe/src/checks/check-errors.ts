import { isJsonObject, type JsonObject, method, rpcCode, toText } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import type { EraResult } from '../era-result.ts'
import { legacyMethod, modernMeta } from '../eras.ts'
import { show, showAnswer } from '../show.ts'
import type { Answer } from '../wire/answer.ts'
import { errorOf, resultOf } from '../wire/received.ts'
import { codeOf } from './inspect-answer.ts'
import { isForeignCode } from './inspect-error-code.ts'

/** Names and methods that no server has. They are asked for, and nothing runs. */
export const nobody = {
  method: 'atenea-probe/no-such-method',
  notice: 'notifications/atenea-probe',
  name: 'atenea-probe-no-such-name',
  uri: 'atenea-probe://no-such-resource',
  /** The form of a revision that nobody has published. */
  revision: '2999-12-31',
} as const

/** The cheapest request that every server of the era must answer. */
export function harmless(to: Conversation): string {
  return to.era === 'modern' ? method.discover : legacyMethod.ping
}

/** MC-ERR-12, MH-POST-10 */
export async function checkUnknownMethod(to: Conversation): Promise<void> {
  const answer = await to.ask(nobody.method)
  if (answer.response === undefined) return
  const evidence = `${nobody.method} → ${showAnswer(answer)}`
  // an error without a code was reported as such
  const isMalformed = errorOf(answer.response) !== undefined && codeOf(answer) === undefined
  if (isMalformed) return
  if (codeOf(answer) !== rpcCode.methodNotFound) to.found('unknown-method-code', { evidence })
  else if (to.era === 'modern' && answer.http !== undefined && answer.http.status !== 404) {
    to.found('unknown-method-status', { evidence })
  }
}

/** MC-MSG-04: ids come back as they went, of either type, falsy ones and such outside ASCII too. */
export async function checkIds(to: Conversation, { supportedVersions, capabilities }: EraResult): Promise<void> {
  const isComparable = to.era === 'modern' && supportedVersions !== undefined && capabilities !== undefined
  const first = isComparable ? discovered({ supportedVersions, capabilities }) : undefined
  for (const idText of ['0', '"17"', '"prüfung 🎉"']) {
    const answer = await to.ask(harmless(to), {}, { idText })
    const result = resultOf(answer.response)
    const now = result === undefined ? undefined : discovered(result)
    if (first === undefined || now === undefined || now === first) continue
    to.found('discover-unstable', { evidence: `first ${cutTo(first)}, then ${cutTo(now)}` })
  }
}

/** What discovery says about the server, for comparing. */
function discovered({ supportedVersions = null, capabilities = null }: JsonObject): string {
  return toText({ supportedVersions, capabilities })
}

function cutTo(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text
}

/** an integer that a double cannot hold is echoed exactly, or refused. */
export async function checkBigId(to: Conversation): Promise<void> {
  const idText = '9007199254740993'
  const answer = await to.raw(harmless(to), {}, { idText, mayBeSilent: true, timeoutMs: 800 })
  const got = answer.response?.idText
  // a refusal without an id is right, and an id of another kind answers something else
  if (got === undefined || got === idText || !/^-?\d/.test(got)) return
  to.found('id-rounded', { evidence: `${harmless(to)} with id ${idText} → id ${got}` })
}

/** Over lines silence is right, and this long it must last. */
const answeredWithinMs = 250

/** MC-MSG-08, MH-POST-05 */
export async function checkNotification(to: Conversation, name: string = nobody.notice): Promise<void> {
  for (const early of await to.talk.listen(0)) {
    // what came before the notification cannot be its answer
    if (early.kind === 'response') to.found('response-unasked', { evidence: `before ${name}: ${show(early.value)}` })
  }
  const timeoutMs = to.talk.carrier === 'lines' ? answeredWithinMs : undefined
  const answer = await to.raw(name, {}, { idText: null, mayBeSilent: true, timeoutMs })
  const { http } = answer
  const written = [answer.response, ...answer.others].filter((message) => message?.kind === 'response')
  const [first] = written
  if (http === undefined) {
    if (first !== undefined) to.found('notification-answered', { evidence: `${name} → ${show(first.value)}` })
    return
  }
  // MH-POST-06: what cannot be accepted is refused with a status, and a body without an id may say why
  if (http.status >= 400 && http.status < 500) return
  if (http.status !== 202 || /\S/.test(http.body)) {
    to.found('notification-status', { evidence: `${name} → ${showAnswer(answer)}` })
  }
}

/** MC-REQ-05 to -07 */
export async function checkMeta(to: Conversation): Promise<void> {
  const full = modernMeta(to.talk.revision)
  const lacking = await to.raw(method.discover, {}, { meta: without(full, metaKey.clientCapabilities) })
  const evidence = `server/discover without ${metaKey.clientCapabilities} → ${showAnswer(lacking)}`
  if (lacking.failure !== undefined) return
  if (codeOf(lacking) !== rpcCode.invalidParams) to.found('meta-unrequired', { evidence })
  else if (lacking.http !== undefined && lacking.http.status !== 400) to.found('meta-refusal-status', { evidence })
  const anonymous = await to.raw(method.discover, {}, { meta: without(full, metaKey.clientInfo) })
  if (anonymous.response !== undefined && resultOf(anonymous.response) === undefined) {
    const seen = `server/discover without ${metaKey.clientInfo} → ${showAnswer(anonymous)}`
    to.found('client-info-required', { evidence: seen })
  }
}

function without(meta: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => name !== key))
}

/** MC-VER-01, MC-ERR-07 */
export async function checkVersionRefusal(to: Conversation, supported: readonly string[]): Promise<void> {
  const answer = await to.raw(
    method.discover,
    {},
    { meta: modernMeta(nobody.revision), headers: { 'mcp-protocol-version': nobody.revision } },
  )
  if (answer.response === undefined && answer.http === undefined) return
  const evidence = `server/discover with revision ${nobody.revision} → ${showAnswer(answer)}`
  if (codeOf(answer) !== rpcCode.unsupportedVersion) {
    to.found('version-unrefused', { evidence })
    return
  }
  const data = errorOf(answer.response)?.data
  const listed = isJsonObject(data) ? data['supported'] : undefined
  const requested = isJsonObject(data) ? data['requested'] : undefined
  const isList = Array.isArray(listed) && listed.length > 0 && listed.every((entry) => typeof entry === 'string')
  if (!isList || requested !== nobody.revision) {
    to.found('version-refusal-data', { evidence: `data: ${show(data)}` })
  } else if (supported.length > 0 && !sameMembers(listed, supported)) {
    to.found('version-refusal-list', {
      evidence: `data.supported ${show(listed)}, supportedVersions ${show(supported)}`,
    })
  }
  if (answer.http !== undefined && answer.http.status !== 400) to.found('version-refusal-status', { evidence })
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.every((entry) => b.includes(entry)) && b.every((entry) => a.includes(entry))
}

/** MC-DEP-02 */
export async function checkRemovedMethod(to: Conversation): Promise<void> {
  const answer = await to.raw(legacyMethod.ping)
  if (resultOf(answer.response) !== undefined) {
    to.found('removed-method-served', { subject: legacyMethod.ping, evidence: `ping → ${showAnswer(answer)}` })
  }
}

/** What asks for something by a name that nobody has, in the way of one capability. */
interface NamedRequest {
  readonly method: string
  readonly params: JsonObject
}

/** The request for a name that nobody has, by what the server offers; undefined when it offers nothing that has names. */
export function namedRequest(capabilities: JsonObject, name: string = nobody.name): NamedRequest | undefined {
  if (isJsonObject(capabilities['tools'])) return { method: method.callTool, params: { name, arguments: {} } }
  if (isJsonObject(capabilities['prompts'])) return { method: method.getPrompt, params: { name } }
  if (isJsonObject(capabilities['resources'])) return { method: method.readResource, params: { uri: name } }
  return undefined
}

/** MC-ERR-13, MC-RES-03. Gives the answer for the first kind of name, with which the header checks compare. */
export async function checkUnknownNames(to: Conversation, capabilities: JsonObject): Promise<void> {
  for (const kind of ['tools', 'prompts'] as const) {
    const request = isJsonObject(capabilities[kind]) ? namedRequest({ [kind]: {} }) : undefined
    if (request === undefined) continue
    const answer = await to.ask(request.method, request.params)
    if (answer.response !== undefined && !isRefusal(to, answer, [rpcCode.invalidParams])) {
      to.found('unknown-name-code', { subject: request.method, evidence: `${request.method} → ${showAnswer(answer)}` })
    }
  }
  if (!isJsonObject(capabilities['resources'])) return
  const read = await to.ask(method.readResource, { uri: nobody.uri })
  const contents = resultOf(read.response)?.['contents']
  if (Array.isArray(contents) && contents.length > 0) {
    to.found('resource-missing-served', { evidence: `${method.readResource} ${nobody.uri} → ${showAnswer(read)}` })
    return
  }
  if (read.response !== undefined && !isRefusal(to, read, [rpcCode.invalidParams])) {
    to.found('resource-missing-code', { evidence: `${method.readResource} ${nobody.uri} → ${showAnswer(read)}` })
  }
}

/** Whether it was refused as its era wants it. A code that is wrong in itself was reported where all errors are looked at. */
function isRefusal(to: Conversation, answer: Answer, codes: readonly number[]): boolean {
  const error = errorOf(answer.response)
  if (error === undefined) return false
  return to.era === 'legacy' || error.code === undefined || codes.includes(error.code) || isForeignCode(error.code)
}

/** LG-PING-01 */
export async function checkPing(to: Conversation): Promise<void> {
  const answer = await to.ask(legacyMethod.ping)
  // a result that is none was reported as such
  if (errorOf(answer.response) !== undefined) {
    to.found('ping-unserved', { evidence: `ping → ${showAnswer(answer)}` })
  }
}
