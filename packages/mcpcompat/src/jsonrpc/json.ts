import { JsonText } from './json-text.ts'
import { stringify } from './stringify.ts'

/** Any value that JSON text can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject

/** A parsed JSON object. A member may be absent, so every read may give `undefined`. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined
}

/** A JSON value: parsed, or as source text that nobody had a reason to parse. */
export type Json = JsonValue | JsonText

/** A JSON object: parsed, or as source text. */
export type JsonRecord = JsonObject | JsonText

/** Whether a parsed value is an object: not null, not an array, and not source text. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JsonText.is(value)
}

/** The parsed value. Source text is parsed once and gives the same value every time; a `SyntaxError` when it is no JSON. */
export function toValue(json: Json): JsonValue {
  return JsonText.is(json) ? json.value : json
}

/** The parsed object. A `TypeError` when the source text holds another kind of value, a `SyntaxError` when it is no JSON. */
export function toObject(record: JsonRecord): JsonObject {
  if (!JsonText.is(record)) return record
  const value = record.value
  if (!isJsonObject(value)) throw new TypeError('JSON text is not an object')
  return value
}

/**
 * JSON text for a value: source text as it is, anything else as `JSON.stringify` writes it, save that values of any depth
 * work and that a lone surrogate becomes U+FFFD, since strict peers refuse its escape (field report D19). A `TypeError` for
 * what JSON cannot hold: a cycle, a bigint, or nothing.
 */
export function toText(json: Json): string {
  return JsonText.is(json) ? json.text : stringify(json)
}
