import type { RpcId } from '../jsonrpc/message.ts'

interface Entry<V> {
  readonly id: RpcId
  value: V
  /** The next entry of the same bucket. */
  chained: Entry<V> | undefined
  /** Neighbours in the order in which they were entered. */
  before: Entry<V> | undefined
  after: Entry<V> | undefined
}

const firstBuckets = 4

/**
 * What is open, by id, in the order in which it was opened; used as a `Map` is.
 *
 * A `Map` that entries come to and leave all the time is copied again and again, and every copy keeps alive what it held, and the copy
 * after it, until a full collection: with calls in it nothing dies young, and the collector takes a third of the time. Entries here leave
 * nothing behind.
 */
export class IdTable<V> {
  #buckets: (Entry<V> | undefined)[] = emptyBuckets(firstBuckets)
  #first: Entry<V> | undefined
  #last: Entry<V> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** What was entered first of all that is there. */
  get first(): V | undefined {
    return this.#first?.value
  }

  get(id: RpcId): V | undefined {
    return this.#find(id)?.value
  }

  /** Whether there is anything under this id, or exactly this value. */
  has(id: RpcId, value?: V): boolean {
    for (let entry = this.#find(id); entry !== undefined; entry = entry.chained) {
      if (isMeant(entry, id, value)) return true
    }
    return false
  }

  /** In place of what is there under this id, if there is something. */
  set(id: RpcId, value: V): void {
    const known = this.#find(id)
    if (known === undefined) this.add(id, value)
    else known.value = value
  }

  /** Beside what is there under this id, which is found first as long as it is there. */
  add(id: RpcId, value: V): void {
    if (this.#size >= this.#buckets.length * 2) this.#grow()
    const entry: Entry<V> = { id, value, chained: undefined, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = entry
    else this.#last.after = entry
    this.#last = entry
    this.#size++
    this.#chain(entry)
  }

  /** Removes what was entered first under this id, or exactly this value. False when it is not there. */
  delete(id: RpcId, value?: V): boolean {
    const bucket = this.#bucketOf(id)
    let previous: Entry<V> | undefined
    let entry = this.#buckets[bucket]
    while (entry !== undefined && !isMeant(entry, id, value)) {
      previous = entry
      entry = entry.chained
    }
    if (entry === undefined) return false
    if (previous === undefined) this.#buckets[bucket] = entry.chained
    else previous.chained = entry.chained
    const { before, after } = entry
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    // Whoever is old and dead must keep nobody young alive.
    entry.chained = undefined
    entry.before = undefined
    entry.after = undefined
    this.#size--
    return true
  }

  clear(): void {
    while (this.#first !== undefined) this.delete(this.#first.id)
  }

  /** As they are now, whatever happens meanwhile. */
  keys(): IterableIterator<RpcId> {
    return this.#entries.map(({ id }) => id).values()
  }

  values(): IterableIterator<V> {
    return this.#entries.map(({ value }) => value).values()
  }

  get #entries(): readonly Entry<V>[] {
    const entries: Entry<V>[] = []
    for (let entry = this.#first; entry !== undefined; entry = entry.after) entries.push(entry)
    return entries
  }

  #find(id: RpcId): Entry<V> | undefined {
    let entry = this.#buckets[this.#bucketOf(id)]
    while (entry !== undefined && entry.id !== id) entry = entry.chained
    return entry
  }

  #bucketOf(id: RpcId): number {
    return hashOf(id) & (this.#buckets.length - 1)
  }

  #grow(): void {
    this.#buckets = emptyBuckets(this.#buckets.length * 4)
    for (let entry = this.#first; entry !== undefined; entry = entry.after) {
      entry.chained = undefined
      this.#chain(entry)
    }
  }

  /** Behind all others of its bucket, so that the first of an id is found first. */
  #chain(entry: Entry<V>): void {
    const bucket = this.#bucketOf(entry.id)
    let last = this.#buckets[bucket]
    if (last === undefined) {
      this.#buckets[bucket] = entry
      return
    }
    while (last.chained !== undefined) last = last.chained
    last.chained = entry
  }
}

function emptyBuckets<V>(count: number): (Entry<V> | undefined)[] {
  return Array.from({ length: count }, () => undefined)
}

function isMeant<V>(entry: Entry<V>, id: RpcId, value: V | undefined): boolean {
  return entry.id === id && (value === undefined || entry.value === value)
}

/** Ids are counted, or random text. A peer that makes all of its ids alike makes its own requests slower, of which only so many may be open. */
function hashOf(id: RpcId): number {
  if (typeof id === 'number') return id | 0
  const last = id.length - 1
  return (
    id.length +
    31 * charAt(id, last) +
    961 * charAt(id, last - 1) +
    29_791 * charAt(id, last - 2) +
    923_521 * charAt(id, last - 3) +
    charAt(id, 0)
  )
}

function charAt(text: string, index: number): number {
  return index < 0 ? 0 : text.charCodeAt(index) | 0
}
