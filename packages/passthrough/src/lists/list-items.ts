import { type HeaderPlan, isJsonObject, type JsonRecord, JsonText, type JsonValue, toText } from '@atenea/mcpcompat'
import { planHeaders, scanElements } from '@atenea/mcpcompat/transport'
import { withMember } from '../names/named-params.ts'
import type { ListKind } from './list-kind.ts'

/** One item of a list as it came. */
export interface ListItem {
  /** Its own name: that of the backend. */
  readonly key: string
  readonly text: JsonText
  /** How arguments of a tool are mirrored into headers; `undefined` when none are. */
  readonly headerPlan: HeaderPlan | undefined
}

/** An item that cannot be used, for reports. It is left out alone (field report B7). */
export interface DroppedItem {
  /** Its name as far as it has one, cut to a length that a log can bear. */
  readonly name: string
  readonly reason: string
}

export interface ListItems {
  readonly items: readonly ListItem[]
  readonly dropped: readonly DroppedItem[]
}

/** The items of one page. A page without its list, or with something else in its place, has one fault and no items. */
export function readItems(kind: ListKind, result: JsonRecord): ListItems {
  const list = JsonText.is(result) ? result.member(kind.member) : textOf(result[kind.member])
  if (list === undefined || !list.text.trimStart().startsWith('[')) {
    return { items: [], dropped: [{ name: '', reason: `the answer has no array ${kind.member}` }] }
  }
  const items: ListItem[] = []
  const dropped: DroppedItem[] = []
  for (const { start, end } of scanElements(list.text)) {
    const item = readItem(kind, new JsonText(list.text.slice(start, end)))
    if ('reason' in item) dropped.push(item)
    else items.push(item)
  }
  return { items, dropped }
}

/** The same result with other items; every other member stays as it came. */
export function withItems(kind: ListKind, result: JsonRecord, items: readonly JsonText[]): JsonRecord {
  return withMember(result, kind.member, `[${joined(items)}]`)
}

/** The text of several items, one after the other. */
export function joined(items: readonly JsonText[]): string {
  return items.map(({ text }) => text).join(',')
}

function readItem(kind: ListKind, text: JsonText): ListItem | DroppedItem {
  if (!text.isObject) return { name: '', reason: 'it is not an object' }
  const key = text.member(kind.key)?.value
  if (typeof key !== 'string' || key === '') return { name: '', reason: `it has no ${kind.key}` }
  const name = key.slice(0, 128).toWellFormed()
  if (text.duplicates.includes(kind.key)) return { name, reason: `it has two members ${kind.key}` }
  if (kind.member !== 'tools') return { key, text, headerPlan: undefined }
  const schema = text.member('inputSchema')?.value
  const fault = rootFault(schema)
  if (fault !== undefined) return { name, reason: fault }
  const planned = planHeaders(schema)
  if (!planned.ok) return { name, reason: planned.faults[0] as string }
  return { key, text, headerPlan: planned.plan.declarations.length > 0 ? planned.plan : undefined }
}

/** MC-TOOL-04 */
function rootFault(schema: JsonValue | undefined): string | undefined {
  if (!isJsonObject(schema)) return 'its inputSchema is not an object'
  return schema['type'] === 'object' ? undefined : 'its inputSchema does not have the type "object" at its root'
}

function textOf(value: JsonValue | undefined): JsonText | undefined {
  return value === undefined ? undefined : JsonText.ofLine(toText(value))
}
