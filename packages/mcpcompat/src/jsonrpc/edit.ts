import { type JsonRecord, type JsonValue, toText } from './json.ts'
import { JsonText } from './json-text.ts'
import { toLine } from './line.ts'

/**
 * The same object with more members in front. `added` is their text, such as `"a":1,"b":[]`, not empty and one line of well-formed
 * Unicode; none of them may be there already. Nothing big is copied.
 */
export function addMembers(record: JsonRecord, added: string): JsonText {
  if (JsonText.is(record)) {
    // Looked through before it is joined, since afterwards that would copy it.
    const members = record.isLine ? record.members : toLine(record.members)
    return JsonText.ofMembers(members === '' ? added : `${added},${members}`, undefined, true)
  }
  const text = toText(record)
  return JsonText.ofMembers(text === '{}' ? added : `${added},${text.slice(1, -1)}`, undefined, true)
}

/** The same object without some members. Of members that were given twice, the one that counts is kept. */
export function omitMembers(record: JsonText, omitted: (key: string) => boolean): JsonText {
  return record.without(omitted)
}

/** The same object with one member set; source text stays what it is otherwise. */
export function withMember(record: JsonRecord, key: string, value: JsonValue): JsonRecord {
  if (!JsonText.is(record)) return { ...record, [key]: value }
  const text = toText(value)
  return record.has(key) ? replaceMember(record, key, text) : addMembers(record, `${JSON.stringify(key)}:${text}`)
}

/** The same object with the value of one of its members replaced by other JSON text. */
export function replaceMember(record: JsonText, key: string, value: string): JsonText {
  const span = record.spans.get(key)
  if (span === undefined) {
    const { members } = record
    const added = `${JSON.stringify(key)}:${value}`
    return JsonText.ofMembers(members === '' ? added : `${added},${members}`)
  }
  return new JsonText(record.text.slice(0, span.start) + value + record.text.slice(span.end))
}
