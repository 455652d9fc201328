import type { JsonValue } from './json.ts'
import { JsonText } from './json-text.ts'
import { MemberCursor, expectEnd, skipSpace, skipValue } from './scan.ts'

/** The members of a JSON-RPC message: small ones parsed, payloads left as text. Absent ones are `undefined`. */
export interface Envelope {
  jsonrpc: JsonValue | undefined
  id: JsonValue | undefined
  method: JsonValue | undefined
  params: JsonText | undefined
  result: JsonText | undefined
  error: JsonText | undefined
}

/**
 * Splits the text of a message into envelope and payload without parsing the payload. The whole text is checked to be JSON,
 * so that what is relayed is JSON as well. Of equal keys the last one counts, as in `JSON.parse`; whoever relays writes the
 * envelope anew from what is returned here, so that the next hop sees what was judged.
 *
 * Gives `'array'` or `'other'` for JSON that is no object, and throws a `SyntaxError` for text that is no JSON.
 */
export function splitEnvelope(text: string): Envelope | 'array' | 'other' {
  const start = skipSpace(text, 0)
  if (text[start] !== '{') {
    expectEnd(text, skipValue(text, start))
    return text[start] === '[' ? 'array' : 'other'
  }
  const envelope: Envelope = {
    jsonrpc: undefined,
    id: undefined,
    method: undefined,
    params: undefined,
    result: undefined,
    error: undefined,
  }
  const cursor = new MemberCursor(text, start)
  while (cursor.next()) {
    switch (cursor.key) {
      case 'jsonrpc':
      case 'id':
      case 'method':
        envelope[cursor.key] = JSON.parse(text.slice(cursor.start, cursor.end)) as JsonValue
        break
      case 'params':
      case 'result':
      case 'error':
        envelope[cursor.key] = new JsonText(text.slice(cursor.start, cursor.end))
        break
    }
  }
  expectEnd(text, cursor.end)
  return envelope
}
