import { type CacheHints, JsonText, type Outcome, RpcError, rpcCode, toText } from '@atenea/mcpcompat'
import { decodeCursor, encodeCursor } from './pagination.ts'
import type { Finder, Registered, Registry } from './registry.ts'

export interface CreateListingOptions<T extends Registered> {
  readonly registry: Registry<T>
  /** The member of the result that holds the list. */
  readonly member: string
  /** Which items this listing shows; all when undefined. */
  readonly allows: ((item: T) => boolean) | undefined
  readonly pageSize: number | undefined
  readonly hints: CacheHints
}

/**
 * What somebody may see of a registry: for listing and for finding alike, so that what is not shown cannot be called either.
 * Outcomes are made once and handed out again, the same objects, until the registry changes.
 */
export class Listing<T extends Registered> implements Finder<T> {
  readonly #options: CreateListingOptions<T>
  #version = -1
  #visible: ReadonlyMap<string, T> = new Map()
  readonly #pages = new Map<string | undefined, Outcome>()

  constructor(options: CreateListingOptions<T>) {
    this.#options = options
  }

  find(key: string): T | undefined {
    return this.items.get(key)
  }

  get items(): ReadonlyMap<string, T> {
    if (this.#version !== this.#options.registry.version) this.#refresh()
    return this.#visible
  }

  /** The list, or one page of it. An `RpcError` -32602 for a cursor that leads nowhere (MC-PAGE-07). */
  page(cursor: string | undefined): Outcome {
    const { items } = this
    return this.#pages.get(cursor) ?? this.#makePage([...items.values()], cursor)
  }

  #refresh(): void {
    const { registry, allows } = this.#options
    this.#visible =
      allows === undefined ? registry.items : new Map([...registry.items].filter(([, item]) => allows(item)))
    this.#pages.clear()
    this.#version = registry.version
  }

  #makePage(items: readonly T[], cursor: string | undefined): Outcome {
    const { member, pageSize = Infinity, hints } = this.#options
    const start = cursor === undefined ? 0 : this.#after(items, cursor)
    const shown = items.slice(start, start + pageSize)
    const last = shown.at(-1)
    const list = `${toText(member)}:[${shown.map((item) => item.json).join(',')}]`
    const value =
      last === undefined || start + shown.length >= items.length
        ? JsonText.ofMembers(list, [member], true)
        : JsonText.ofMembers(`${list},"nextCursor":${toText(encodeCursor(last.key))}`, [member, 'nextCursor'], true)
    const page: Outcome = { kind: 'result', value, hints }
    // Only the pages of a walk from the start: a client that makes up cursors from keys must not fill the memory.
    if (start === 0 || start % pageSize === 0) this.#pages.set(cursor, page)
    return page
  }

  /** Where the page after a cursor starts: behind the item that it names, wherever that stands by now (MC-PAGE-06). */
  #after(items: readonly T[], cursor: string): number {
    const key = this.#options.pageSize === undefined ? undefined : decodeCursor(cursor)
    const index = key === undefined ? -1 : items.findIndex((item) => item.key === key)
    if (index < 0) throw new RpcError(rpcCode.invalidParams, 'cursor is not valid; list again from the start')
    return index + 1
  }
}
