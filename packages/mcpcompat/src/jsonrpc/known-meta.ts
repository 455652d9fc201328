import { JsonText } from './json-text.ts'
import { standsAt } from './scan.ts'

/** Characters of a message out of which a `_meta` is kept: a part of a text keeps all of it alive. */
const maxMessageLength = 4_096

/**
 * The `_meta` that was read last: nearly every peer says the same in every message, and most are read after one of the same peer. A value that
 * begins with the text of a whole object is that object, so that one comparison tells its end, and what was found out about it stands for it.
 */
export class KnownMeta {
  #last: JsonText | undefined

  /** What stands at `at` in `text`, where that is known. */
  find(text: string, at: number): JsonText | undefined {
    const last = this.#last
    return last !== undefined && standsAt(text, last.text, at) ? last : undefined
  }

  /** The text of a value that was checked to be JSON and stands in `message`. */
  keep(message: string, start: number, end: number): JsonText {
    const meta = JsonText.checked(message.slice(start, end))
    if (meta.isObject && message.length <= maxMessageLength) this.#last = meta
    return meta
  }
}
