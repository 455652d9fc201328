import { isJsonObject, type JsonRecord, JsonText, type JsonValue, RpcError, rpcCode, toText } from '@atenea/mcpcompat'
import { memberOf, replaceMember } from '@atenea/mcpcompat/transport'

/**
 * The text under a key that decides where a call goes. Refused with an `RpcError` -32602 when it is no text, or when it is there twice:
 * the next hop may read the other one, and what was checked must be what is sent (field report E14).
 */
export function decidingText(params: JsonRecord, key: string): string {
  const value = decidingMember(params, key)
  if (typeof value !== 'string') throw new RpcError(rpcCode.invalidParams, `${key} must be a string`)
  return value
}

/** The same for a value of any kind. */
function decidingMember(params: JsonRecord, key: string): JsonValue | undefined {
  if (JsonText.is(params) && params.duplicates.includes(key)) {
    throw new RpcError(rpcCode.invalidParams, `${key} must not be given twice`)
  }
  return memberOf(params, key)
}

/** The same params with another text under a key; of source text no other byte changes. */
export function withText(params: JsonRecord, key: string, text: string): JsonRecord {
  return withMember(params, key, JSON.stringify(text))
}

/** What a `completion/complete` is about: a prompt by its name, or a resource by its uri or template. */
export type CompletionRef =
  | { readonly kind: 'prompt'; readonly name: string }
  | { readonly kind: 'resource'; readonly uri: string }

/** The reference of a completion. Refused with an `RpcError` -32602 when it is none, or when a part of it is there twice. */
export function completionRef(params: JsonRecord): CompletionRef {
  const ref = decidingMember(params, 'ref')
  if (!isJsonObject(ref)) throw new RpcError(rpcCode.invalidParams, 'ref must be an object')
  const record = JsonText.is(params) ? (params.member('ref') as JsonText) : ref
  const type = decidingMember(record, 'type')
  if (type === 'ref/prompt') return { kind: 'prompt', name: decidingText(record, 'name') }
  if (type === 'ref/resource') return { kind: 'resource', uri: decidingText(record, 'uri') }
  throw new RpcError(rpcCode.invalidParams, 'ref.type must be ref/prompt or ref/resource')
}

/** The same params with another prompt in their reference. */
export function withPromptRef(params: JsonRecord, name: string): JsonRecord {
  if (!JsonText.is(params)) return { ...params, ref: { ...(params['ref'] as object), name } }
  const ref = replaceMember(params.member('ref') as JsonText, 'name', JSON.stringify(name))
  return replaceMember(params, 'ref', ref.text)
}

/** The same params with another value under a key, given as JSON text; of source text no other byte changes. */
export function withMember(params: JsonRecord, key: string, value: string): JsonRecord {
  const text = JsonText.is(params) ? params : JsonText.ofLine(toText(params))
  return replaceMember(text, key, value)
}
