import type { JsonText } from './json-text.ts'

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
