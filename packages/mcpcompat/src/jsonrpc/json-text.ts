import type { JsonValue } from './json.ts'
import { toLine } from './line.ts'
import { type MemberSpan, type MemberTable, scanMembers } from './scan.ts'

const brand = Symbol.for('atenea.JsonText')

/**
 * The source text of one JSON value, kept as it came or as we built it.
 *
 * A payload that is only relayed travels as `JsonText`, so that numbers beyond 2^53, unknown members, member order and
 * white space survive. Parsing and the search for top-level members happen on demand and once. Instances are immutable.
 * Text that is not JSON gives a `SyntaxError` when somebody looks into it.
 */
export class JsonText {
  #text: string | undefined
  #members: string | undefined
  #value: JsonValue | undefined
  #table: MemberTable | undefined
  #spans: ReadonlyMap<string, MemberSpan> | undefined
  #keys: readonly string[] | undefined
  /** What this was cut out of: it has the same members, and some more. */
  #whole: JsonText | undefined
  /** Which members were cut out, until somebody needs the others together. */
  #omitted: ((key: string) => boolean) | undefined
  /** Members that somebody looked at: a chain, since there are few. */
  #looked: Looked | undefined
  /** Whether the text is known to be JSON. */
  #isChecked = false
  #isLine = false
  #line: string | undefined

  static {
    Object.defineProperty(JsonText.prototype, brand, { value: true })
  }

  /** Whether `value` is JSON source text, also when it was made by another copy of this package. */
  static is(value: unknown): value is JsonText {
    if (typeof value !== 'object' || value === null) return false
    if (value instanceof JsonText) return true
    // A search for the brand that ends in nothing costs more than all the rest of a call, and plain values have none.
    const prototype: unknown = Object.getPrototypeOf(value)
    return prototype !== Object.prototype && prototype !== Array.prototype && brand in value
  }

  /** Takes valid JSON text; it is not checked here. */
  constructor(text: string) {
    this.#text = text
  }

  /** Text that is known to be JSON. */
  static checked(text: string): JsonText {
    const json = new JsonText(text)
    json.#isChecked = true
    return json
  }

  /** Text of an object whose members were found already. `meta` is its last member `_meta`, where it has one that somebody has looked at. */
  static scanned(text: string, table: MemberTable, meta?: JsonText): JsonText {
    const json = JsonText.checked(text)
    json.#table = table
    if (meta !== undefined) json.#looked = { key: '_meta', member: meta, next: undefined }
    return json
  }

  /** Text that `toText` wrote for a parsed value: one line of well-formed Unicode, which nobody has to look through again. */
  static ofLine(text: string): JsonText {
    const json = new JsonText(text)
    json.#isLine = true
    return json
  }

  /**
   * An object given by the text between its braces, such as `"a":1,"b":[]`. `keys` names all its members when the caller
   * knows them, which saves the search for them; `isLine` says that the text is what `toText` writes for parsed values, one line of
   * well-formed Unicode, which saves another look at it. Nothing is copied until the text is asked for.
   */
  static ofMembers(members: string, keys?: readonly string[], isLine = false): JsonText {
    const json = new JsonText('')
    json.#text = undefined
    json.#members = members
    json.#keys = keys
    json.#isLine = isLine
    return json
  }

  /** The same object without some of its members. Of members that were given twice, the one that counts is kept. */
  without(omitted: (key: string) => boolean): JsonText {
    const keys = this.#names()
    if (!keys.some(omitted) && overtaken(keys) === undefined) return this
    const json = new JsonText('')
    json.#text = undefined
    json.#whole = this
    json.#omitted = omitted
    return json
  }

  /** The whole source text. */
  get text(): string {
    this.#text ??= `{${this.members}}`
    return this.#text
  }

  /** The text between the braces of an object, empty when it has no members. A `SyntaxError` when the text is no object. */
  get members(): string {
    if (this.#omitted !== undefined) this.#cut(this.#omitted)
    if (this.#members === undefined) {
      const text = this.text.trim()
      if (!text.startsWith('{') || !text.endsWith('}')) throw new SyntaxError('JSON text is not an object')
      this.#members = text.slice(1, -1).trim()
    }
    return this.#members
  }

  /** The text as one line of well-formed Unicode, as it goes over the wire. Looked through once, if at all. */
  get line(): string {
    if (this.#isLine) return this.text
    this.#line ??= toLine(this.text)
    return this.#line
  }

  /** The text between the braces of an object where it is at hand and known to be one line: whoever joins it needs no `line` first. */
  get lineMembers(): string | undefined {
    return this.#isLine && this.#text === undefined ? this.#members : undefined
  }

  /** Whether `line` is known to be the text. */
  get isLine(): boolean {
    return this.#isLine
  }

  /** The parsed value, the same one every time. Numbers beyond 2^53 lose digits here, which is why relays do not look. */
  get value(): JsonValue {
    if (this.#value === undefined) {
      this.#value = plainString(this.text, this.#isChecked) ?? (JSON.parse(this.text) as JsonValue)
    }
    return this.#value
  }

  /** Whether the value is an object, judged by its first character. */
  get isObject(): boolean {
    if (this.#members !== undefined || this.#table !== undefined || this.#whole !== undefined) return true
    return this.text.startsWith('{') || /^[ \t\r\n]*\{/.test(this.text)
  }

  /** Where the top-level members of an object are in `text`, by first appearance; the last of equal keys counts. */
  get spans(): ReadonlyMap<string, MemberSpan> {
    if (this.#spans === undefined) {
      const { keys, places } = this.#scan()
      const spans = keys.map((key, index) => {
        return [key, { start: places[index * 3 + 1] as number, end: places[index * 3 + 2] as number }] as const
      })
      this.#spans = new Map(spans)
    }
    return this.#spans
  }

  /**
   * Top-level keys that were given more than once. A relay that decides by the value of a member must refuse such text or
   * write anew what it checked, since the next hop may read another one of them (field report E14).
   */
  get duplicates(): readonly string[] {
    const { keys } = this.#scan()
    const isPast = overtaken(keys)
    return isPast === undefined ? none : [...new Set(keys.filter((_key, index) => isPast[index]))]
  }

  /** The top-level keys of an object, in their order and as often as they are there. */
  get keys(): readonly string[] {
    return this.#names()
  }

  /** Whether an object has this top-level member. */
  has(key: string): boolean {
    return this.#names().includes(key)
  }

  /** Whether an object has one of these top-level members. */
  hasAny(keys: ReadonlySet<string>): boolean {
    const known = this.#names()
    for (let index = 0; index < known.length; index++) if (keys.has(known[index] as string)) return true
    return false
  }

  /** The source text of one top-level member, or `undefined`. */
  member(key: string): JsonText | undefined {
    if (this.#whole !== undefined) return this.#lacks(key) ? undefined : this.#whole.member(key)
    for (let looked = this.#looked; looked !== undefined; looked = looked.next) {
      if (looked.key === key) return looked.member
    }
    const { keys, places } = this.#scan()
    // A loop, since the engine's own search backwards is slow.
    let index = keys.length - 1
    while (index >= 0 && keys[index] !== key) index--
    if (index < 0) return undefined
    const member = JsonText.checked(this.text.slice(places[index * 3 + 1], places[index * 3 + 2]))
    this.#looked = { key, member, next: this.#looked }
    return member
  }

  toJSON(): JsonValue {
    return this.value
  }

  #names(): readonly string[] {
    if (this.#omitted !== undefined) this.#cut(this.#omitted)
    return this.#keys ?? this.#scan().keys
  }

  /** Whether a member that the whole may have was cut out. */
  #lacks(key: string): boolean {
    return this.#omitted === undefined ? this.#keys?.includes(key) !== true : this.#omitted(key)
  }

  #cut(omitted: (key: string) => boolean): void {
    this.#omitted = undefined
    const whole = this.#whole as JsonText
    const { keys, places } = whole.#scan()
    const isPast = overtaken(keys)
    const kept: string[] = []
    let members = ''
    // What stands side by side is cut out in one piece.
    let from = -1
    let to = -1
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      if (omitted(key) || isPast?.[index] === true) {
        if (from >= 0) members = joined(members, whole.text.slice(from, to))
        from = -1
        continue
      }
      kept.push(key)
      if (from < 0) from = places[index * 3] as number
      to = places[index * 3 + 2] as number
    }
    if (from >= 0) members = joined(members, whole.text.slice(from, to))
    this.#members = members
    this.#keys = kept
  }

  #scan(): MemberTable {
    this.#table ??= scanMembers(this.text)
    return this.#table
  }
}

/** A member that somebody looked at. */
interface Looked {
  readonly key: string
  readonly member: JsonText
  readonly next: Looked | undefined
}

/** Looking through a short list is faster than making a set of it. */
const fewKeys = 16

const none: readonly string[] = Object.freeze([])

/** Which members count for nothing since one of the same key follows; `undefined` when none does. */
function overtaken(keys: readonly string[]): readonly boolean[] | undefined {
  if (keys.length <= fewKeys) {
    let index = 1
    while (index < keys.length && keys.indexOf(keys[index] as string) === index) index++
    if (index >= keys.length) return undefined
  } else if (new Set(keys).size === keys.length) {
    return undefined
  }
  const last = new Map(keys.map((key, index) => [key, index]))
  return keys.map((key, index) => last.get(key) !== index)
}

function joined(before: string, piece: string): string {
  return before === '' ? piece : `${before},${piece}`
}

/** What `JSON.parse` gives for the text of a string without escapes, without its cost; `undefined` for everything else. */
function plainString(text: string, isChecked: boolean): string | undefined {
  const last = text.length - 1
  if (last < 1 || text.charCodeAt(0) !== 0x22 || text.charCodeAt(last) !== 0x22) return undefined
  const content = text.slice(1, last)
  return (isChecked ? !content.includes('\\') : isPlain.test(content)) ? content : undefined
}

// oxlint-disable-next-line no-control-regex -- they are what a JSON string must not hold
const isPlain = /^[^"\\\u0000-\u001f]*$/
