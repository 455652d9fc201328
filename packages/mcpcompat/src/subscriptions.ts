import type { Call } from './contract/call.ts'
import { notice } from './contract/methods.ts'
import { RpcError, rpcCode } from './jsonrpc/errors.ts'
import { isJsonObject, type JsonObject, type JsonRecord, type JsonValue } from './jsonrpc/json.ts'
import { memberOf } from './member.ts'

/** What a `subscriptions/listen` asks for (MC-SUB-01). What is absent or false is not wanted (MC-SUB-02). */
export interface SubscriptionFilter extends JsonObject {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  readonly resourceSubscriptions?: readonly string[]
}

/** List changes by the member of the filter that asks for them: who advertises them, and what is sent. */
const listChanges = [
  { member: 'toolsListChanged', capability: 'tools', notice: notice.toolsChanged },
  { member: 'promptsListChanged', capability: 'prompts', notice: notice.promptsChanged },
  { member: 'resourcesListChanged', capability: 'resources', notice: notice.resourcesChanged },
] as const

/** Why the value of `params.notifications` is no filter, or `undefined`. */
export function listenFilterFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return 'notifications must be an object'
  for (const { member } of listChanges) {
    const wanted = value[member]
    if (wanted !== undefined && typeof wanted !== 'boolean') return `notifications.${member} must be a boolean`
  }
  const uris = value['resourceSubscriptions']
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === 'string'))) {
    return 'notifications.resourceSubscriptions must be an array of strings'
  }
  return undefined
}

/** The filter of a listen request. Throws an `RpcError` -32602 when it is missing or malformed. */
export function parseListenFilter(params: JsonRecord | undefined): SubscriptionFilter {
  const value = memberOf(params, 'notifications')
  const fault = listenFilterFault(value)
  if (fault !== undefined) throw new RpcError(rpcCode.invalidParams, fault)
  return value as SubscriptionFilter
}

/**
 * The part of a filter that a server with these capabilities can honour (MC-SUB-05, MC-RES-14). `{}` when that is nothing; the
 * stream stays open all the same.
 */
export function grantFilter(filter: SubscriptionFilter, capabilities: JsonObject): SubscriptionFilter {
  const lists = ofLists(
    ({ member, capability }) => filter[member] === true && advertises(capabilities, capability, 'listChanged'),
  )
  const uris = filter.resourceSubscriptions
  return uris !== undefined && uris.length > 0 && advertises(capabilities, 'resources', 'subscribe')
    ? { ...lists, resourceSubscriptions: uris }
    : lists
}

function advertises(capabilities: JsonObject, name: string, member: string): boolean {
  const capability = capabilities[name]
  return isJsonObject(capability) && capability[member] === true
}

/** The filter for every list change that these capabilities advertise. */
export function advertisedListChanges(capabilities: JsonObject): SubscriptionFilter {
  return ofLists(({ capability }) => advertises(capabilities, capability, 'listChanged'))
}

/** The filters that name lists only, by the bits of `listChanges`: servers keep thousands of subscriptions, and all have one of these. */
const filtersOfLists: readonly SubscriptionFilter[] = Array.from({ length: 1 << listChanges.length }, (_, bits) =>
  Object.freeze<SubscriptionFilter>(
    Object.fromEntries(listChanges.flatMap(({ member }, index) => ((bits >> index) & 1 ? [[member, true]] : []))),
  ),
)

function ofLists(wants: (change: (typeof listChanges)[number]) => boolean): SubscriptionFilter {
  let bits = 0
  for (let index = 0; index < listChanges.length; index++) {
    if (wants(listChanges[index] as (typeof listChanges)[number])) bits |= 1 << index
  }
  return filtersOfLists[bits] as SubscriptionFilter
}

/** The first notice of a subscription (MC-SUB-03). The codec adds the subscription id. */
export function acknowledgement(granted: SubscriptionFilter): Call {
  return { method: notice.acknowledged, params: { notifications: granted } }
}

/**
 * Whether a notice is one that the filter asks for (MC-SUB-02, MC-SUB-15). A changed resource matches by its own uri; `parents` are the
 * subscribed uris under which the sender knows it to lie.
 */
export function filterAdmits(filter: SubscriptionFilter, candidate: Call, parents: readonly string[] = []): boolean {
  const change = listChanges.find((entry) => entry.notice === candidate.method)
  if (change !== undefined) return filter[change.member] === true
  if (candidate.method !== notice.resourceUpdated) return false
  const uri = memberOf(candidate.params, 'uri')
  const uris = filter.resourceSubscriptions ?? []
  return typeof uri === 'string' && (uris.includes(uri) || parents.some((parent) => uris.includes(parent)))
}
