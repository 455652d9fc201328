import type { JsonValue } from './json.ts'
import { JsonText } from './json-text.ts'
import { expectEnd, MemberCursor, type MemberSpan, readTable, skipSpace, skipValue } from './scan.ts'

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
  while (cursor.nextKey()) {
    const isPayload = cursor.key === 'params' || cursor.key === 'result' || cursor.key === 'error'
    if (!isPayload) cursor.end = skipValue(text, cursor.start)
    switch (cursor.key) {
      case 'jsonrpc':
        envelope.jsonrpc = smallValue(text, cursor)
        break
      case 'id':
        envelope.id = smallValue(text, cursor)
        break
      case 'method':
        envelope.method = smallValue(text, cursor)
        break
      case 'params':
        envelope.params = payload(text, cursor)
        break
      case 'result':
        envelope.result = payload(text, cursor)
        break
      case 'error':
        envelope.error = payload(text, cursor)
        break
    }
  }
  expectEnd(text, cursor.end)
  return envelope
}

/** The members of a payload are found on the way over it, so that nobody has to walk over it again. */
function payload(text: string, cursor: MemberCursor): JsonText {
  const { start } = cursor
  if (text.charCodeAt(start) !== 0x7b /* { */) {
    cursor.end = skipValue(text, start)
    return new JsonText(text.slice(start, cursor.end))
  }
  const inner = new MemberCursor(text, start)
  const table = readTable(inner, start)
  cursor.end = inner.end
  return JsonText.scanned(text.slice(start, inner.end), table)
}

/** What `JSON.parse` gives for text that is known to be JSON, without its cost for the plain strings and numbers of an envelope. */
function smallValue(text: string, { start, end }: MemberSpan): JsonValue {
  const first = text.charCodeAt(start)
  if (first === 0x22) {
    const content = text.slice(start + 1, end - 1)
    if (!content.includes('\\')) return content
  }
  const source = text.slice(start, end)
  return first === 0x2d || (first >= 0x30 && first <= 0x39) ? Number(source) : (JSON.parse(source) as JsonValue)
}
