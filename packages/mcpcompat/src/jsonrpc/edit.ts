import { type JsonRecord, toText } from './json.ts'
import { JsonText } from './json-text.ts'

/**
 * The same object with more members in front. `added` is their text, such as `"a":1,"b":[]`, not empty; none of them may be
 * there already. Nothing big is copied.
 */
export function addMembers(record: JsonRecord, added: string): JsonText {
  if (JsonText.is(record)) {
    const { members } = record
    return JsonText.ofMembers(members === '' ? added : `${added},${members}`)
  }
  const text = toText(record)
  return new JsonText(text === '{}' ? `{${added}}` : `{${added},${text.slice(1)}`)
}

/** The same object without some members. Of members that were given twice, the one that counts is kept. */
export function omitMembers(record: JsonText, omitted: (key: string) => boolean): JsonText {
  let members = ''
  const keys: string[] = []
  for (const [key, { start, end }] of record.spans) {
    if (omitted(key)) continue
    keys.push(key)
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${record.text.slice(start, end)}`
  }
  return JsonText.ofMembers(members, keys)
}

/** The same object with the value of one of its members replaced by other JSON text. */
export function replaceMember(record: JsonText, key: string, value: string): JsonText {
  const span = record.spans.get(key)
  if (span === undefined) return addMembers(record, `${JSON.stringify(key)}:${value}`)
  return new JsonText(record.text.slice(0, span.start) + value + record.text.slice(span.end))
}
