import type { Ask, Call } from './contract/call.ts'
import type { Resume } from './contract/context.ts'
import { askingMethods, inputRequestFault } from './input-requests.ts'
import { isJsonObject, type Json, type JsonObject, type JsonRecord, type JsonValue, toObject } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import type { RpcId } from './jsonrpc/message.ts'
import { memberOf } from './member.ts'

/** What a result is to a client of the modern revision. */
export type ParsedResult =
  | { readonly kind: 'complete' }
  | { readonly kind: 'input_required'; readonly ask: Ask }
  /** A value of an extension that both sides advertise (MC-RT-05). */
  | { readonly kind: 'extension'; readonly resultType: string; readonly raw: Json }
  /** Nothing of it may be used and no retry derived from it (MC-RT-04); `raw` is for local reports. */
  | { readonly kind: 'invalid'; readonly reason: string; readonly resultType?: string; readonly raw: Json }

export interface ParseResultOptions {
  /** Result types of extensions that both sides advertise. */
  readonly extensionResultTypes?: readonly string[]
}

const complete: ParsedResult = Object.freeze({ kind: 'complete' })

/**
 * Reads the `resultType` of a result (MC-RT-02 to -05, A-08) and, when more input is required, keeps the whole ask as untrusted data.
 * Source text of a complete result is searched for that member only.
 */
export function parseResult(methodName: string, result: Json, options: ParseResultOptions = {}): ParsedResult {
  if (JsonText.is(result) ? !result.isObject : !isJsonObject(result))
    return invalid('the result is not an object', result)
  const record = result as JsonRecord
  const type = memberOf(record, 'resultType')
  // MC-RT-03: absent means complete
  if (type === undefined || type === 'complete') return complete
  if (type === 'input_required') return parseAsk(methodName, record)
  if (typeof type !== 'string') return invalid('resultType is not a string', result)
  if (options.extensionResultTypes?.includes(type) === true) return { kind: 'extension', resultType: type, raw: result }
  return {
    kind: 'invalid',
    reason: `resultType ${JSON.stringify(type.slice(0, 80))} is not known`,
    resultType: type,
    raw: result,
  }
}

/** The source text of input requests that came from a peer, by the map that was read from it. */
const requestTexts = new WeakMap<ReadonlyMap<string, Call>, JsonText>()

/** The text of input requests exactly as a peer sent them; `undefined` for those that were made here. */
export function inputRequestsText(requests: ReadonlyMap<string, Call>): JsonText | undefined {
  return requestTexts.get(requests)
}

function parseAsk(methodName: string, result: JsonRecord): ParsedResult {
  //
  if (!askingMethods.has(methodName)) return invalid(`${methodName} cannot ask for input`, result)
  const state = memberOf(result, 'requestState')
  // an empty string is a state, null is not
  if (state !== undefined && typeof state !== 'string') return invalid('requestState is not a string', result)
  const requests = memberOf(result, 'inputRequests')
  if (requests !== undefined && !isJsonObject(requests)) return invalid('inputRequests is not an object', result)
  const text = JsonText.is(result) ? result.member('inputRequests') : undefined
  const inputRequests = new Map<string, Call>()
  for (const key of documentKeys(result, requests)) {
    const request = requests?.[key]
    const fault = inputRequestFault(request)
    if (fault !== undefined) return invalid(`the input request ${JSON.stringify(key.slice(0, 80))} ${fault}`, result)
    inputRequests.set(key, callOf(request as JsonObject, text?.member(key)))
  }
  if (text !== undefined) requestTexts.set(inputRequests, text)
  // MC-MRTR-03, A-39: an empty map counts as none
  if (inputRequests.size === 0 && state === undefined) return invalid('neither input requests nor a state', result)
  return {
    kind: 'input_required',
    ask: {
      ...(inputRequests.size > 0 && { inputRequests }),
      ...(state !== undefined && { requestState: state }),
      raw: result,
    },
  }
}

/** Keys as they stand in source text; parsed objects put keys that look like numbers first. */
function documentKeys(result: JsonRecord, requests: JsonObject | undefined): Iterable<string> {
  if (requests === undefined) return []
  return JsonText.is(result) ? (result.member('inputRequests')?.spans.keys() ?? []) : Object.keys(requests)
}

/** `text` is the request as it came, where that is at hand. */
function callOf(request: JsonObject, text: JsonText | undefined): Call {
  const params = text?.member('params') ?? request['params']
  return { method: request['method'] as string, params: (params ?? {}) as JsonRecord }
}

function invalid(reason: string, raw: Json): ParsedResult {
  return { kind: 'invalid', reason, raw }
}

/** How often and how fast an ask is answered. */
export const roundLimits = {
  /** Rounds of one call before it fails. */
  maxRounds: 10,
  /** Pause before a retry that nobody was asked for, in milliseconds. */
  statePauseMs: 250,
} as const

/** Whether and when the next round of a call may start. */
export type NextRound =
  | { readonly kind: 'go'; readonly pauseMs: number }
  | { readonly kind: 'too-many-rounds'; readonly maxRounds: number }

/** Judges the ask that came in round `round` (the first call is round 1), so that no server keeps a call going for ever (field report B10). */
export function nextRound(
  round: number,
  ask: Ask,
  limits: { readonly maxRounds: number; readonly statePauseMs: number } = roundLimits,
): NextRound {
  if (round >= limits.maxRounds) return { kind: 'too-many-rounds', maxRounds: limits.maxRounds }
  return { kind: 'go', pauseMs: ask.inputRequests === undefined ? limits.statePauseMs : 0 }
}

/** Why a retry must not be sent. */
export type RetryRefusal =
  /** MC-MRTR-14: an answer is missing, or is no bare result object. */
  | { readonly error: 'missing-response'; readonly key: string }
  /** MC-MRTR-18 */
  | { readonly error: 'id-reused' }

/**
 * What goes with the retry of a call: one answer for each key asked and the state byte for byte, or none when none came
 * (MC-MRTR-16, -17, -20). Answers that nobody asked for are left out.
 */
export function resumeOf(ask: Ask, responses: JsonObject): Resume | RetryRefusal {
  const answers: (readonly [string, JsonValue])[] = []
  for (const key of ask.inputRequests?.keys() ?? []) {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined
    if (!isJsonObject(response)) return { error: 'missing-response', key }
    answers.push([key, response])
  }
  return {
    ...(ask.requestState !== undefined && { requestState: ask.requestState }),
    // fromEntries defines members, so a key named __proto__ stays data
    inputResponses: Object.fromEntries(answers),
  }
}

const roundMembers: ReadonlySet<string> = new Set(['_meta', 'inputResponses', 'requestState'])

/** The params of a retry, without `_meta`: those of the first call, with what this round brings and nothing of earlier ones. */
export function retryParams(params: JsonRecord, resume: Resume): JsonObject {
  const original = Object.entries(toObject(params)).filter(([key]) => !roundMembers.has(key))
  return Object.fromEntries([
    ...original,
    ...(Object.keys(resume.inputResponses).length > 0 ? [['inputResponses', resume.inputResponses] as const] : []),
    ...(resume.requestState !== undefined ? [['requestState', resume.requestState] as const] : []),
  ])
}

export interface BuildRetryOptions {
  readonly params: JsonRecord
  readonly ask: Ask
  readonly responses: JsonObject
  /** Ids of the call that was answered with the ask and of the retry. */
  readonly firstId: RpcId
  readonly retryId: RpcId
}

/** The params of a retry, or why it must not be sent. Nothing is sent and nothing is invented here. */
export function buildRetry(options: BuildRetryOptions): { readonly params: JsonObject } | RetryRefusal {
  if (options.firstId === options.retryId) return { error: 'id-reused' }
  const resume = resumeOf(options.ask, options.responses)
  return 'error' in resume ? resume : { params: retryParams(options.params, resume) }
}
