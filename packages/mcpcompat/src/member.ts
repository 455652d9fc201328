import type { JsonRecord, JsonValue } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'

/** The value of one member; of source text nothing else is parsed. `undefined` when there is none. */
export function memberOf(record: JsonRecord | undefined, key: string): JsonValue | undefined {
  if (record === undefined) return undefined
  return JsonText.is(record) ? record.member(key)?.value : record[key]
}
