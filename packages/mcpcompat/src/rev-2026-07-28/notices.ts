import type { Call } from '../contract/call.ts'
import { method, notice as noticeName } from '../contract/methods.ts'
import type { AnswerContext, Decoded } from '../contract/wire.ts'
import { type JsonObject, isJsonObject, toObject } from '../jsonrpc/json.ts'
import type { RpcId, RpcNotification } from '../jsonrpc/message.ts'
import { isLogLevel, levelAdmits } from '../log-levels.ts'
import { metaKey } from '../meta.ts'

/** Filter members of `subscriptions/listen` by the notice that they ask for. */
const filterMember: Readonly<Record<string, string>> = {
  [noticeName.toolsChanged]: 'toolsListChanged',
  [noticeName.promptsChanged]: 'promptsListChanged',
  [noticeName.resourcesChanged]: 'resourcesListChanged',
  [noticeName.resourceUpdated]: 'resourceSubscriptions',
}

/**
 * Progress and log messages go back on the request that asked for them, everything about changes on the subscription that
 * asked for it, and neither on the other (MC-LOG-02, -04, MC-SUB-02, -15). `undefined`: send nothing.
 */
export function encodeNotice(call: Call, notice: Call, context: AnswerContext, id: RpcId): RpcNotification | undefined {
  return call.method === method.listen ? subscriptionNotice(call, notice, id) : requestNotice(notice, context)
}

/** A notice within a request. The same in all revisions. */
export function requestNotice(notice: Call, context: AnswerContext): RpcNotification | undefined {
  if (notice.method === noticeName.progress) {
    if (context.progressToken === undefined) return undefined
    return notification(notice.method, { ...toObject(notice.params), progressToken: context.progressToken })
  }
  if (notice.method === noticeName.message) {
    const { level } = toObject(notice.params)
    if (!isLogLevel(level) || !levelAdmits(context.logLevel, level)) return undefined
    return notification(notice.method, notice.params)
  }
  // Changes belong to subscriptions. Notices of extensions may belong to any request.
  if (notice.method === noticeName.acknowledged || notice.method in filterMember) return undefined
  return notification(notice.method, notice.params)
}

function subscriptionNotice(call: Call, notice: Call, id: RpcId): RpcNotification | undefined {
  const params = toObject(notice.params)
  if (notice.method !== noticeName.acknowledged) {
    const member = filterMember[notice.method]
    if (member === undefined || !wants(call, member)) return undefined
  }
  return notification(notice.method, withSubscription(params, id))
}

/** Whether the filter asks for this type at all. Which uris match is for whoever made the notice to say. */
function wants(call: Call, member: string): boolean {
  const { notifications } = toObject(call.params)
  if (!isJsonObject(notifications)) return false
  const wanted = notifications[member]
  return wanted === true || (Array.isArray(wanted) && wanted.length > 0)
}

/** Marks params as belonging to a subscription (MC-META-09, MC-SUB-07). */
export function withSubscription(params: JsonObject, id: RpcId): JsonObject {
  const { _meta: meta } = params
  return { ...params, _meta: { ...(isJsonObject(meta) && meta), [metaKey.subscriptionId]: id } }
}

function notification(name: string, params: Call['params']): RpcNotification {
  return { kind: 'notification', method: name, params }
}

/** A notice as it arrived, without what routed it here. `_meta` of others stays. */
export function decodeNotice(message: RpcNotification): Decoded<Call> {
  const params = message.params === undefined ? {} : toObject(message.params)
  const fault = noticeFault(message.method, params)
  if (fault !== undefined) return { ok: false, reason: 'invalid-params', message: fault, raw: message.params }
  const { _meta: meta, progressToken: _token, ...rest } = params
  if (!isJsonObject(meta)) return { ok: true, value: { method: message.method, params: rest } }
  const { [metaKey.subscriptionId]: _subscription, ...otherMeta } = meta
  const kept = Object.keys(otherMeta).length > 0 ? { ...rest, _meta: otherMeta } : rest
  return { ok: true, value: { method: message.method, params: kept } }
}

/** What is wrong with the params of a notice that MCP defines, or `undefined`. */
function noticeFault(name: string, params: JsonObject): string | undefined {
  switch (name) {
    case noticeName.progress:
      return typeof params['progress'] === 'number' ? undefined : '"progress" must be a number'
    case noticeName.message:
      return isLogLevel(params['level']) && params['data'] !== undefined ? undefined : '"level" and "data" are required'
    case noticeName.resourceUpdated:
      return typeof params['uri'] === 'string' ? undefined : '"uri" must be a string'
    case noticeName.acknowledged:
      return isJsonObject(params['notifications']) ? undefined : '"notifications" must be an object'
    default:
      return undefined
  }
}
