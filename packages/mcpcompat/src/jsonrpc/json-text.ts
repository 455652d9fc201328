import type { JsonValue } from './json.ts'
import { toLine } from './line.ts'
import { type MemberSpan, type Members, scanMembers } from './scan.ts'

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
  #scanned: Members | undefined
  #keys: readonly string[] | undefined
  #isLine = false
  #line: string | undefined

  static {
    Object.defineProperty(JsonText.prototype, brand, { value: true })
  }

  /** Whether `value` is JSON source text, also when it was made by another copy of this package. */
  static is(value: unknown): value is JsonText {
    if (typeof value !== 'object' || value === null) return false
    // A search for the brand that ends in nothing costs more than all the rest of a call, and plain values have none.
    const prototype: unknown = Object.getPrototypeOf(value)
    return prototype !== Object.prototype && prototype !== Array.prototype && brand in value
  }

  /** Takes valid JSON text; it is not checked here. */
  constructor(text: string) {
    this.#text = text
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

  /** The whole source text. */
  get text(): string {
    this.#text ??= `{${this.#members}}`
    return this.#text
  }

  /** The text between the braces of an object, empty when it has no members. A `SyntaxError` when the text is no object. */
  get members(): string {
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
    if (this.#value === undefined) this.#value = JSON.parse(this.text) as JsonValue
    return this.#value
  }

  /** Whether the value is an object, judged by its first character. */
  get isObject(): boolean {
    return this.#members !== undefined || /^[ \t\r\n]*\{/.test(this.text)
  }

  /** Where the top-level members of an object are in `text`; the last of equal keys counts. */
  get spans(): ReadonlyMap<string, MemberSpan> {
    return this.#scan().spans
  }

  /**
   * Top-level keys that were given more than once. A relay that decides by the value of a member must refuse such text or
   * write anew what it checked, since the next hop may read another one of them (field report E14).
   */
  get duplicates(): readonly string[] {
    return this.#scan().duplicates
  }

  /** Whether an object has this top-level member. */
  has(key: string): boolean {
    return this.#keys === undefined ? this.spans.has(key) : this.#keys.includes(key)
  }

  /** Whether an object has one of these top-level members. */
  hasAny(keys: ReadonlySet<string>): boolean {
    const known = this.#keys ?? [...this.spans.keys()]
    for (let index = 0; index < known.length; index++) if (keys.has(known[index] as string)) return true
    return false
  }

  /** The source text of one top-level member, or `undefined`. */
  member(key: string): JsonText | undefined {
    const span = this.spans.get(key)
    return span === undefined ? undefined : new JsonText(this.text.slice(span.start, span.end))
  }

  toJSON(): JsonValue {
    return this.value
  }

  #scan(): Members {
    this.#scanned ??= scanMembers(this.text)
    return this.#scanned
  }
}
