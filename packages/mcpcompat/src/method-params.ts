import { method } from './contract/methods.ts'
import { isJsonObject, type JsonRecord, type JsonValue } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import { memberOf } from './member.ts'
import { listenFilterFault } from './subscriptions.ts'

type ParamsCheck = (params: JsonRecord) => string | undefined

/**
 * Why the params of a request do not have the structure that its method asks for, or `undefined` when they do (ladder step 24,
 * Arguments are not compared with a tool's own schema here. Of source text only small members are parsed.
 */
export function checkParams(methodName: string, params: JsonRecord | undefined): string | undefined {
  return checks.get(methodName)?.(params ?? {})
}

/** MC-PAGE-01 */
const checkList: ParamsCheck = (params) => {
  const cursor = memberOf(params, 'cursor')
  return cursor === undefined || typeof cursor === 'string' ? undefined : 'cursor must be a string'
}

/** MC-TOOL-20 */
const checkToolCall: ParamsCheck = (params) => {
  if (typeof memberOf(params, 'name') !== 'string') return 'name must be a string'
  if (!isAbsentOrObject(params, 'arguments')) return 'arguments must be an object'
  return resumeFault(params)
}

/** MC-PRM-03 */
const checkPrompt: ParamsCheck = (params) => {
  if (typeof memberOf(params, 'name') !== 'string') return 'name must be a string'
  const args = memberOf(params, 'arguments')
  if (args !== undefined && !isStringMap(args)) return 'arguments must be an object of strings'
  return resumeFault(params)
}

const checkRead: ParamsCheck = (params) => {
  if (typeof memberOf(params, 'uri') !== 'string') return 'uri must be a string'
  return resumeFault(params)
}

/** MC-CMP-02 */
const checkComplete: ParamsCheck = (params) => {
  const ref = memberOf(params, 'ref')
  const argument = memberOf(params, 'argument')
  const context = memberOf(params, 'context')
  if (!isReference(ref)) return 'ref must be {type: "ref/prompt", name} or {type: "ref/resource", uri}'
  if (!isJsonObject(argument) || typeof argument['name'] !== 'string' || typeof argument['value'] !== 'string') {
    return 'argument must have the strings name and value'
  }
  if (context === undefined) return undefined
  if (!isJsonObject(context)) return 'context must be an object'
  const known = context['arguments']
  return known === undefined || isStringMap(known) ? undefined : 'context.arguments must be an object of strings'
}

const checkListen: ParamsCheck = (params) => listenFilterFault(memberOf(params, 'notifications'))

/** The second and later rounds of an ask (MC-MRTR-20, -21, A-38). What each answer must be is known only to whoever asked. */
function resumeFault(params: JsonRecord): string | undefined {
  const state = memberOf(params, 'requestState')
  if (state !== undefined && typeof state !== 'string') return 'requestState must be a string'
  return isAbsentOrObject(params, 'inputResponses') ? undefined : 'inputResponses must be an object'
}

function isAbsentOrObject(params: JsonRecord, key: string): boolean {
  if (!JsonText.is(params)) return params[key] === undefined || isJsonObject(params[key])
  // arguments may be large and are nobody's business here
  return params.member(key)?.isObject ?? true
}

function isStringMap(value: JsonValue): boolean {
  return isJsonObject(value) && Object.values(value).every((entry) => typeof entry === 'string')
}

function isReference(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false
  if (value['type'] === 'ref/prompt') return typeof value['name'] === 'string'
  return value['type'] === 'ref/resource' && typeof value['uri'] === 'string'
}

const checks: ReadonlyMap<string, ParamsCheck> = new Map([
  [method.listTools, checkList],
  [method.listPrompts, checkList],
  [method.listResources, checkList],
  [method.listResourceTemplates, checkList],
  [method.callTool, checkToolCall],
  [method.getPrompt, checkPrompt],
  [method.readResource, checkRead],
  [method.complete, checkComplete],
  [method.listen, checkListen],
])

/**
 * Why source text cannot be passed on, or `undefined`: of members that are given twice the next hop may read the one that was not looked at
 * here (field report E14). Parsed params have no member twice.
 */
export function duplicateFault(params: JsonRecord | undefined): string | undefined {
  if (!JsonText.is(params)) return undefined
  const [first] = params.duplicates
  return first === undefined ? undefined : `params hold ${JSON.stringify(first.slice(0, 80))} more than once`
}
