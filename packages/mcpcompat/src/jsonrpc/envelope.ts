import type { JsonValue } from './json.ts'
import { JsonText } from './json-text.ts'
import { KnownMeta } from './known-meta.ts'
import { expectEnd, MemberCursor, skipSpace, skipValue, standsAt } from './scan.ts'

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
  readHead(text, cursor, envelope)
  while (cursor.nextKey()) {
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
        envelope.params = payload(text, cursor, paramsMeta)
        break
      case 'result':
        envelope.result = payload(text, cursor, resultMeta)
        break
      case 'error':
        envelope.error = payload(text, cursor, undefined)
        break
      default:
        cursor.end = skipValue(text, cursor.start)
    }
  }
  expectEnd(text, cursor.end)
  return envelope
}

const usualHead = '{"jsonrpc":"2.0","id":'

/** Reads the version and the id where they stand as nearly every program writes them; whatever else is left to the cursor. */
function readHead(text: string, cursor: MemberCursor, envelope: Envelope): void {
  if (!standsAt(text, usualHead, 0)) return
  let at = usualHead.length
  // So many digits are an exact number, and no number begins with a nought.
  const most = at + (text.charCodeAt(at) === 0x30 ? 1 : 15)
  let id = 0
  for (; at < most; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (!(digit >= 0 && digit <= 9)) break
    id = id * 10 + digit
  }
  if (at === usualHead.length || text.charCodeAt(at) !== 0x2c /* , */) return
  envelope.jsonrpc = '2.0'
  envelope.id = id
  cursor.startAfter(at)
}

/** Requests and answers are read in turns, and peers say of themselves what is not said of others. */
const paramsMeta = new KnownMeta()
const resultMeta = new KnownMeta()

/** The members of a payload are found on the way over it, so that nobody has to walk over it again. */
function payload(text: string, cursor: MemberCursor, known: KnownMeta | undefined): JsonText {
  const { start } = cursor
  if (text.charCodeAt(start) !== 0x7b /* { */) {
    cursor.end = skipValue(text, start)
    return JsonText.checked(text.slice(start, cursor.end))
  }
  const inner = new MemberCursor(text, start)
  const keys: string[] = []
  const places: number[] = []
  let meta: JsonText | undefined
  while (inner.nextKey()) {
    const isMeta = known !== undefined && inner.key === '_meta'
    const same = isMeta ? known.find(text, inner.start) : undefined
    inner.end = same === undefined ? skipValue(text, inner.start) : inner.start + same.text.length
    // Of several the last one counts.
    if (isMeta) meta = same ?? known.keep(text, inner.start, inner.end)
    keys.push(inner.key)
    places.push(inner.keyStart - start, inner.start - start, inner.end - start)
  }
  cursor.end = inner.end
  return JsonText.scanned(text.slice(start, inner.end), { keys, places }, meta)
}

/** Goes over a value and gives what `JSON.parse` would, without its cost for the plain strings and numbers of an envelope. */
function smallValue(text: string, cursor: MemberCursor): JsonValue {
  const { start } = cursor
  const end = skipValue(text, start)
  cursor.end = end
  const first = text.charCodeAt(start)
  if (first === 0x22) {
    const content = text.slice(start + 1, end - 1)
    if (!content.includes('\\')) return content
  }
  const source = text.slice(start, end)
  return first === 0x2d || (first >= 0x30 && first <= 0x39) ? Number(source) : (JSON.parse(source) as JsonValue)
}
