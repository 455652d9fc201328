import { HttpFault } from './fault.ts'

/** Fields of a message by their names in lower case. Nothing is inherited, so that no name of a field can find anything else. */
export type FieldMap = Record<string, string>

/** Objects of one class stay fast to read; those made without a prototype do not. */
class NoMembers {
  [name: string]: string

  static {
    Reflect.deleteProperty(NoMembers.prototype, 'constructor')
    Object.setPrototypeOf(NoMembers.prototype, null)
  }
}

/** Fields of which a second one says nothing, as Node has it (RFC 9110, 5.3: others are lists). */
const single: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
])

/** Fields that tell where a body ends: two of them are two ends (RFC 9112, 6.3). */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

/** What may be the name of a field. */
export const token: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** What no head may hold: control characters, and line ends that are not both characters. */
const foreign = /[^\t\r\n\x20-\x7E\x80-\xFF]|\r(?!\n)|(?<!\r)\n/

/** Whether a piece of a head, which may end anywhere, holds what no head may hold. A return at its end may be half of a line end. */
export function hasForeign(text: string): boolean {
  return foreign.test(text.endsWith('\r') ? text.slice(0, -1) : text)
}

/** Names as they have come, in lower case. A server says the same ones again and again. */
const names = new Map<string, string>()
const maxNames = 500

function nameOf(raw: string): string {
  const known = names.get(raw)
  if (known !== undefined) return known
  if (!token.test(raw)) throw new HttpFault('the name of a field holds what none may hold')
  const name = raw.toLowerCase()
  if (raw.length <= 64 && names.size < maxNames) names.set(raw, name)
  return name
}

/** Reads lines of fields, each with its end, from there on. Values lose the blanks around them. Throws an `HttpFault`. */
export function parseFields(text: string, from: number): FieldMap {
  if (foreign.test(text)) throw new HttpFault('the head holds characters that none may hold')
  const fields = new NoMembers()
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\r\n', at)
    const colon = text.indexOf(':', at)
    // A line that begins with a blank would go on with the one before, which is obsolete and read by each in another way.
    if (end === -1 || colon === -1 || colon > end) throw new HttpFault('a line of the head is no field')
    add(fields, nameOf(text.slice(at, colon)), trimmed(text, colon + 1, end))
    at = end + 2
  }
  return fields
}

function add(fields: FieldMap, name: string, value: string): void {
  const before = fields[name]
  if (before === undefined) fields[name] = value
  else if (framing.has(name)) throw new HttpFault(`there is more than one ${name}`)
  else if (!single.has(name)) fields[name] = `${before}, ${value}`
}

function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(character: number): boolean {
  return character === 0x20 || character === 0x09
}
