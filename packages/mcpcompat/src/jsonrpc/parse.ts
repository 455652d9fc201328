import { answeredIdOf } from './damaged.ts'
import { splitEnvelope } from './envelope.ts'
import { rpcCode } from './errors.ts'
import type { Json, JsonObject, JsonRecord, JsonValue } from './json.ts'
import { JsonText } from './json-text.ts'
import type { RpcErrorObject, RpcId, RpcMessage, RpcReject } from './message.ts'
import { expectEnd, skipSpace, skipValue } from './scan.ts'

/**
 * Reads one JSON-RPC message from its text (MC-MSG-01 to -07, -12, -13, -15, MC-ID-01, -02). Never throws.
 *
 * `payload` says how `params`, `result` and `error.data` come: `'parsed'` for those who look into them, `'text'` for those
 * who relay them. The verdict is the same for both. Unknown members of the envelope are ignored, and of equal keys the last
 * one counts.
 */
export function parseMessage(text: string, payload: 'parsed' | 'text'): RpcMessage | RpcReject {
  return payload === 'parsed' ? parseWhole(text) : parseEnvelope(text)
}

function parseWhole(text: string): RpcMessage | RpcReject {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    return notJson(text)
  }
  if (typeof value !== 'object' || value === null) return notAnObject
  if (Array.isArray(value)) return batch(text)
  // JSON.parse makes own members only, `__proto__` included, so these reads cannot be answered by a prototype that came in.
  const { jsonrpc, id, method, params, result, error } = value as JsonObject
  if (jsonrpc === '2.0' && typeof method === 'string' && result === undefined && error === undefined) {
    // A request as nearly all are, which needs none of the questions below.
    if (typeof params === 'object' && params !== null && !Array.isArray(params)) {
      if (typeof id === 'string') return { kind: 'request', id, method, params: params as JsonObject }
      if (Number.isSafeInteger(id))
        return { kind: 'request', id: (id as number) + 0, method, params: params as JsonObject }
    }
  }
  return judge(jsonrpc, id, method, params, result, error)
}

function parseEnvelope(text: string): RpcMessage | RpcReject {
  let envelope: ReturnType<typeof splitEnvelope>
  try {
    envelope = splitEnvelope(text)
  } catch {
    return notJson(text)
  }
  if (envelope === 'array') return batch(text)
  if (envelope === 'other') return notAnObject
  const { jsonrpc, id, method, params, result, error } = envelope
  return judge(jsonrpc, id, method, params, result, error)
}

/** The one place that decides what a message is. Absent members are `undefined`. */
function judge(
  jsonrpc: JsonValue | undefined,
  rawId: JsonValue | undefined,
  method: JsonValue | undefined,
  params: Json | undefined,
  result: Json | undefined,
  error: Json | undefined,
): RpcMessage | RpcReject {
  const id = readId(rawId)
  const isResponse = result !== undefined || error !== undefined
  if (method === undefined && !isResponse) return invalid('neither a method nor a result nor an error', id)
  const like = isResponse ? 'response' : rawId === undefined ? 'notification' : 'request'
  if (jsonrpc !== '2.0') return invalid('"jsonrpc" is not the string "2.0"', id, like)
  if (isResponse) {
    if (method !== undefined) return invalid('both a method and a result or error', id, like)
    if (result !== undefined && error !== undefined) return invalid('both a result and an error', id, like)
    if (id === undefined && rawId !== undefined && (result !== undefined || rawId !== null))
      return invalid(badId, id, like)
    if (error !== undefined) {
      const object = readError(error)
      return object === undefined
        ? invalid('"error" is not an object with an integer code and a string message', id, like)
        : { kind: 'error', id, error: object }
    }
    if (id === undefined) return invalid('a result without an id', id, like)
    return isRecord(result) ? { kind: 'result', id, result } : invalid('"result" is not an object', id, like)
  }
  if (typeof method !== 'string') return invalid('"method" is not a string', id, like)
  if (params !== undefined && !isRecord(params)) return invalid('"params" is not an object', id, like)
  if (rawId === undefined) return { kind: 'notification', method, params }
  return id === undefined ? invalid(badId, id, like) : { kind: 'request', id, method, params }
}

const badId = '"id" is not a string or an integer between -(2^53-1) and 2^53-1'

/** Integers that JavaScript cannot hold exactly could not be echoed exactly, so they count as unreadable. */
function readId(raw: JsonValue | undefined): RpcId | undefined {
  if (typeof raw === 'string') return raw
  return Number.isSafeInteger(raw) ? (raw as number) + 0 : undefined // -0 + 0 is 0
}

function isRecord(json: Json | undefined): json is JsonRecord {
  if (typeof json !== 'object' || json === null) return false
  return JsonText.is(json) ? json.isObject : !Array.isArray(json)
}

function readError(raw: Json): RpcErrorObject | undefined {
  if (!isRecord(raw)) return undefined
  let code: JsonValue | undefined
  let message: JsonValue | undefined
  let data: Json | undefined
  if (JsonText.is(raw)) {
    code = raw.member('code')?.value
    message = raw.member('message')?.value
    data = raw.member('data')
  } else {
    ;({ code, message, data } = raw)
  }
  if (!Number.isSafeInteger(code) || typeof message !== 'string') return undefined
  return data === undefined ? { code: code as number, message } : { code: code as number, message, data }
}

const notAnObject: RpcReject = invalid('not a JSON object', undefined)

function batch(text: string): RpcReject {
  return { ...invalid('an array; messages are sent one at a time', undefined), batch: true, text }
}

function invalid(reason: string, id: RpcId | undefined, like?: RpcReject['like']): RpcReject {
  return like === undefined
    ? { kind: 'reject', code: rpcCode.invalidRequest, reason, id }
    : { kind: 'reject', code: rpcCode.invalidRequest, reason, id, like }
}

/** The engine's own message quotes the text, which may hold secrets; ours tells where it goes wrong. */
function notJson(text: string): RpcReject {
  let reason = 'not JSON'
  try {
    expectEnd(text, skipValue(text, skipSpace(text, 0)))
  } catch (error) {
    if (error instanceof SyntaxError) reason = error.message
  }
  const id = answeredIdOf(text)
  const like = id === undefined ? {} : { like: 'response' as const }
  return { kind: 'reject', code: rpcCode.parseError, reason, id, ...like }
}
