import type { CacheHints } from '@atenea/mcpcompat'
import { abortable } from '@atenea/mcpcompat/transport'

/** Something that was read from a backend. */
export interface Fetched<Value> {
  readonly value: Value
  readonly hints: CacheHints
  /** Characters that keeping it costs, roughly. */
  readonly size: number
  /** Something else that came along and is kept as well, under a name of its own. */
  readonly also?: { readonly item: string; readonly value: Value }
}

/** Something that is kept. */
export interface Kept<Value> extends Fetched<Value> {
  /** Milliseconds of the cache's clock. */
  readonly receivedAt: number
}

/** Which list of whom. What is private to one audience is never given to another (MC-CACHE-14). */
export interface ListOwner {
  /** Names the list as this audience sees it. */
  readonly own: string
  /** Names the list as far as all may share it. */
  readonly shared: string
}

/** `audience`: who reads, which is the principal, or the session that it uses with this backend. */
export function listOwner(backend: string, method: string, audience: string): ListOwner {
  return { own: JSON.stringify([backend, method, audience]), shared: JSON.stringify([backend, method]) }
}

export interface CreateListCacheOptions {
  readonly now: () => number
  /** Lists or pages that are kept. Default 4,096. */
  readonly maxEntries?: number | undefined
  /** Characters that are kept. Default 64 Mi. */
  readonly maxSize?: number | undefined
}

/** Reads from a backend for everybody who waits. The signal aborts when nobody waits any more. */
export type Fetch<Value> = (signal: AbortSignal) => Promise<Fetched<Value>>

/**
 * Lists of backends, kept for as long as their servers said (BR-304). Readers that come together share one request; one that leaves
 * takes it from nobody else. What a change has made stale is gone at once, also when it was still on its way (MC-CACHE-16).
 */
export class ListCache<Value> {
  readonly #now: () => number
  readonly #maxEntries: number
  readonly #maxSize: number
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept<Value> & { readonly group: string }>()
  readonly #groups = new Map<string, Group<Value>>()
  /** How often each list was said to have changed: an answer that all may share must not be older than that, whoever asked for it. */
  readonly #changes = new Map<string, number>()
  #size = 0
  /** What was used last, which most calls use again: to move it to where it stands already would only make garbage. */
  #newest: string | undefined

  constructor(options: CreateListCacheOptions) {
    this.#now = options.now
    this.#maxEntries = options.maxEntries ?? 4096
    this.#maxSize = options.maxSize ?? 64 * 1024 * 1024
  }

  /** What is kept, however old; `item` tells apart what an owner has several of. */
  peek(owner: ListOwner, item = ''): Kept<Value> | undefined {
    for (const group of [owner.own, owner.shared]) {
      const key = entryKey(group, item)
      const kept = this.#kept.get(key)
      if (kept === undefined) continue
      if (key !== this.#newest) {
        this.#kept.delete(key)
        this.#kept.set(key, kept)
        this.#newest = key
      }
      return kept
    }
    return undefined
  }

  /** What is kept and still good (MC-CACHE-08). */
  fresh(owner: ListOwner, item = ''): Kept<Value> | undefined {
    const kept = this.peek(owner, item)
    return kept !== undefined && this.#now() < kept.receivedAt + kept.hints.ttlMs ? kept : undefined
  }

  /** Reads anew, together with whoever reads the same already. Rejects with the signal's reason when this reader leaves. */
  read(owner: ListOwner, item: string, fetch: Fetch<Value>, signal: AbortSignal): Promise<Kept<Value>> {
    const name = owner.own
    const group = this.#group(name)
    const known = group.flights.get(item)
    if (known !== undefined) return known.join(signal)
    const { shared } = owner
    const changes = this.#changes.get(shared)
    const flight: Flight<Value> = new Flight(fetch, this.#now, (kept) => {
      if (group.flights.get(item) === flight) group.flights.delete(item)
      const isCurrent = kept?.hints.cacheScope === 'public' ? this.#changes.get(shared) === changes : !group.isStale
      if (kept !== undefined && isCurrent) this.#keep(owner, item, kept)
      if (kept?.also !== undefined && isCurrent) this.#keep(owner, kept.also.item, { ...kept, value: kept.also.value })
      this.#forget(name, group)
    })
    group.flights.set(item, flight)
    return flight.join(signal)
  }

  /** Forgets one list of one audience and what all share of it. What is on its way is given to those who wait for it, and not kept. */
  invalidate(owner: ListOwner): void {
    const { own, shared } = owner
    this.#changes.set(shared, (this.#changes.get(shared) ?? 0) + 1)
    for (const name of [own, shared]) {
      const group = this.#groups.get(name)
      if (group === undefined) continue
      group.isStale = true
      this.#groups.delete(name)
      for (const item of group.items) this.#drop(entryKey(name, item))
    }
  }

  /** Entries and characters that are kept. */
  get load(): { readonly entries: number; readonly size: number } {
    return { entries: this.#kept.size, size: this.#size }
  }

  #keep(owner: ListOwner, item: string, kept: Kept<Value>): void {
    const isPublic = kept.hints.cacheScope === 'public'
    const name = isPublic ? owner.shared : owner.own
    // What was private may have become public, or the other way round: there is one truth.
    for (const other of [owner.own, owner.shared]) this.#drop(entryKey(other, item))
    if (kept.size > this.#maxSize) return
    this.#group(name).items.add(item)
    const key = entryKey(name, item)
    this.#kept.set(key, { ...kept, group: name })
    this.#newest = key
    this.#size += kept.size
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxEntries && this.#size <= this.#maxSize) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    this.#size -= kept.size
    const group = this.#groups.get(kept.group)
    if (group === undefined) return
    group.items.delete(key.slice(kept.group.length))
    this.#forget(kept.group, group)
  }

  #group(name: string): Group<Value> {
    let group = this.#groups.get(name)
    if (group === undefined) {
      group = { isStale: false, items: new Set(), flights: new Map() }
      this.#groups.set(name, group)
    }
    return group
  }

  #forget(name: string, group: Group<Value>): void {
    if (group.items.size === 0 && group.flights.size === 0 && this.#groups.get(name) === group)
      this.#groups.delete(name)
  }
}

/** Everything of one list and one audience, which becomes stale together. */
interface Group<Value> {
  isStale: boolean
  readonly items: Set<string>
  readonly flights: Map<string, Flight<Value>>
}

/** One request for any number of readers. */
class Flight<Value> {
  readonly #stop = new AbortController()
  readonly #result: Promise<Kept<Value>>
  #over: ((kept: Kept<Value> | undefined) => void) | undefined
  #readers = 0

  /** `over` hears once that nobody can join any more, and what has come, if anything. */
  constructor(fetch: Fetch<Value>, now: () => number, over: (kept: Kept<Value> | undefined) => void) {
    this.#over = over
    this.#result = fetch(this.#stop.signal).then((fetched) => ({ ...fetched, receivedAt: now() }))
    this.#result.then(
      (kept) => this.#end(kept),
      () => this.#end(undefined),
    )
  }

  async join(signal: AbortSignal): Promise<Kept<Value>> {
    this.#readers++
    try {
      return await abortable(this.#result, signal)
    } finally {
      if (--this.#readers === 0 && this.#end(undefined)) {
        this.#stop.abort(new DOMException('Nobody waits for this list any more', 'AbortError'))
      }
    }
  }

  #end(kept: Kept<Value> | undefined): boolean {
    const over = this.#over
    this.#over = undefined
    over?.(kept)
    return over !== undefined
  }
}

function entryKey(group: string, item: string): string {
  return group + item
}
