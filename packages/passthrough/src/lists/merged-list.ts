import { type CacheHints, JsonText, type Outcome, RpcError, rpcCode } from '@atenea/mcpcompat'
import { sha256 } from '../sha256.ts'
import { decodeCursor, encodeCursor } from './list-cursor.ts'
import { joined } from './list-items.ts'
import type { ListKind } from './list-kind.ts'
import type { Offer, Offered } from './offer.ts'

export interface MergedListLimits {
  /** Items of a page. */
  readonly maxItems: number
  /** Characters of a page; a longer item has a page of its own. */
  readonly maxCharacters: number
}

export const defaultMergedLimits: MergedListLimits = { maxItems: 1_000, maxCharacters: 4 * 1024 * 1024 }

/** A name that more than one backend has. Nobody gets it, since whoever calls it could mean any of them. */
export interface Collision {
  readonly name: string
  readonly backends: readonly string[]
}

/** The lists of several backends as one: in the order of the configuration, each in its backend's own order. */
export interface MergedList {
  readonly collisions: readonly Collision[]
  /** The first page, or the one that a cursor of ours names. An `RpcError` -32602 for any other cursor, and when the list has changed since. */
  page(cursor: string | undefined, hints: CacheHints): Outcome
}

/** Puts the offers of backends together. Names of tools and prompts must be unique; a resource that several have is listed once. */
export function mergeOffers(
  kind: ListKind,
  offers: readonly { readonly backend: string; readonly offer: Offer }[],
  limits: MergedListLimits = defaultMergedLimits,
): MergedList {
  const owners = ownersOf(offers)
  const shared = new Set([...owners].filter(([, backends]) => backends.length > 1).map(([name]) => name))
  const listed = kind.key === 'name' ? withoutShared(offers, shared) : withOneOfShared(offers, shared)
  const pages = cut(listed, limits)
  const state = (): string => stateOf(listed)
  return {
    collisions: [...shared].map((name) => ({ name, backends: owners.get(name) as readonly string[] })),
    page(cursor, hints) {
      const page = cursor === undefined ? pages[0] : pages.find(({ start }) => start === positionOf(cursor, state()))
      if (page === undefined) throw badCursor()
      page.value ??= writePage(kind, page, pages.length > 1 ? state() : '')
      return { kind: 'result', value: page.value, hints }
    },
  }
}

function ownersOf(
  offers: readonly { readonly backend: string; readonly offer: Offer }[],
): ReadonlyMap<string, string[]> {
  const owners = new Map<string, string[]>()
  for (const { backend, offer } of offers) {
    for (const name of offer.byName.keys()) {
      const backends = owners.get(name)
      if (backends === undefined) owners.set(name, [backend])
      else backends.push(backend)
    }
  }
  return owners
}

function withoutShared(offers: readonly { readonly offer: Offer }[], shared: ReadonlySet<string>): readonly Offered[] {
  return offers.flatMap(({ offer }) =>
    shared.size === 0 ? offer.items : offer.items.filter(({ name }) => !shared.has(name)),
  )
}

function withOneOfShared(
  offers: readonly { readonly offer: Offer }[],
  shared: ReadonlySet<string>,
): readonly Offered[] {
  const seen = new Set<string>()
  return offers.flatMap(({ offer }) =>
    offer.items.filter(({ name }) => {
      if (!shared.has(name)) return true
      if (seen.has(name)) return false
      seen.add(name)
      return true
    }),
  )
}

interface Page {
  readonly start: number
  readonly items: readonly Offered[]
  /** Where the next one starts; `undefined` for the last. */
  readonly next: number | undefined
  /** Written on first use, and the same instance ever after, which spares encoding it again. */
  value: JsonText | undefined
}

function cut(items: readonly Offered[], { maxItems, maxCharacters }: MergedListLimits): Page[] {
  const starts = [0]
  let characters = 0
  for (const [index, { text }] of items.entries()) {
    const start = starts.at(-1) as number
    const length = text.text.length
    if (index > start && (index - start >= maxItems || characters + length > maxCharacters)) {
      starts.push(index)
      characters = 0
    }
    characters += length
  }
  return starts.map((start, index) => {
    const next = starts[index + 1]
    return { start, items: items.slice(start, next), next, value: undefined }
  })
}

function writePage(kind: ListKind, { items, next }: Page, state: string): JsonText {
  const list = `"${kind.member}":[${joined(items.map(({ text }) => text))}]`
  if (next === undefined) return JsonText.ofMembers(list, [kind.member])
  const cursor = encodeCursor({ start: next, state })
  return JsonText.ofMembers(`${list},"nextCursor":${JSON.stringify(cursor)}`, [kind.member, 'nextCursor'])
}

function stateOf(items: readonly Offered[]): string {
  return sha256(joined(items.map(({ text }) => text))).slice(0, 16)
}

function positionOf(cursor: string, state: string): number {
  const position = decodeCursor(cursor)
  if (position === undefined) throw badCursor()
  if (position.state === state) return position.start
  throw new RpcError(rpcCode.invalidParams, 'The list has changed since this cursor was given; start again without one')
}

function badCursor(): RpcError {
  return new RpcError(rpcCode.invalidParams, 'Not a cursor of this list')
}
