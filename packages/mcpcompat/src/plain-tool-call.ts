import { method } from './contract/methods.ts'
import type { JsonObject, JsonRecord } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'

/**
 * The params of a `tools/call` that has a name, arguments and at most `_meta` beside them, without the `_meta`; `undefined` for
 * every other request, which the general checks look at. Nearly all requests are of this kind, and telling so takes a fraction
 * of the time that those checks take.
 */
export function plainToolCall(methodName: string, params: JsonRecord | undefined): JsonObject | undefined {
  if (methodName !== method.callTool || params === undefined || JsonText.is(params)) return undefined
  for (const key in params) {
    if (key !== 'name' && key !== 'arguments' && key !== '_meta') return undefined
  }
  const { name, arguments: args } = params
  if (typeof name !== 'string' || typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
  return { name, arguments: args }
}

/** Whether source text is the params of such a call, none of its members given twice: there is nothing more to be checked of it. */
export function isPlainToolCall(methodName: string, params: JsonRecord | undefined): params is JsonText {
  if (methodName !== method.callTool || params === undefined || !JsonText.is(params) || !params.isObject) return false
  let names = 0
  let bodies = 0
  let metas = 0
  const { keys } = params
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]
    if (key === 'name') names++
    else if (key === 'arguments') bodies++
    else if (key === '_meta') metas++
    else return false
  }
  if (names !== 1 || bodies !== 1 || metas > 1) return false
  return typeof params.member('name')?.value === 'string' && params.member('arguments')?.isObject === true
}
