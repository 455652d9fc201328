import type { JsonValue } from './json.ts'
import { type MemberSpan, scanMembers } from './scan.ts'

const brand = Symbol.for('atenea.JsonText')

/**
 * The source text of one JSON value, kept as it came or as we built it.
 *
 * A payload that is only relayed travels as `JsonText`, so that numbers beyond 2^53, unknown members, member order and
 * white space survive. Parsing and the search for top-level members happen on demand and once. Instances are immutable.
 */
export class JsonText {
  #text: string | undefined
  #members: string | undefined
  #value: JsonValue | undefined
  #spans: ReadonlyMap<string, MemberSpan> | undefined
  #keys: readonly string[] | undefined

  static {
    Object.defineProperty(JsonText.prototype, brand, { value: true })
  }

  /** Whether `value` is JSON source text, also when it was made by another copy of this package. */
  static is(value: unknown): value is JsonText {
    return typeof value === 'object' && value !== null && brand in value
  }

  /** Takes valid JSON text; it is not checked here, `value` throws a `SyntaxError` when it was not valid. */
  constructor(text: string) {
    this.#text = text
  }

  /**
   * An object given by the text between its braces, such as `"a":1,"b":[]`. `keys` names its members when the caller
   * knows them, which saves the search for them. Nothing is copied until the text is asked for.
   */
  static ofMembers(members: string, keys?: readonly string[]): JsonText {
    const json = new JsonText('')
    json.#text = undefined
    json.#members = members
    json.#keys = keys
    return json
  }

  /** The whole source text. */
  get text(): string {
    this.#text ??= `{${this.#members}}`
    return this.#text
  }

  /** The text between the braces of an object. Throws a `TypeError` for any other value. */
  get members(): string {
    if (this.#members === undefined) {
      const text = this.text.trim()
      if (!text.startsWith('{')) throw new TypeError('JSON text is not an object')
      this.#members = text.slice(1, -1)
    }
    return this.#members
  }

  /** The parsed value. Numbers beyond 2^53 lose digits here, which is why relays do not look. */
  get value(): JsonValue {
    if (this.#value === undefined) this.#value = JSON.parse(this.text) as JsonValue
    return this.#value
  }

  /** Where the top-level members of an object are in `text`; the last of equal keys counts. */
  get spans(): ReadonlyMap<string, MemberSpan> {
    this.#spans ??= scanMembers(this.text)
    return this.#spans
  }

  /** Whether an object has this top-level member. */
  has(key: string): boolean {
    return this.#keys === undefined ? this.spans.has(key) : this.#keys.includes(key)
  }

  /** The source text of one top-level member, or `undefined`. */
  member(key: string): JsonText | undefined {
    const span = this.spans.get(key)
    return span === undefined ? undefined : new JsonText(this.text.slice(span.start, span.end))
  }

  toJSON(): JsonValue {
    return this.value
  }
}
