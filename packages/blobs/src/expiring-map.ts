/** Values that are known for some time only. */
export interface ExpiringMap<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
}

export interface CreateExpiringMapOptions {
  /** Milliseconds from setting a value. Zero keeps nothing. */
  readonly ttlMs: number
  /** Beyond, the value that was set first goes. */
  readonly maxEntries: number
}

/** A map whose values go by themselves. It has no timers: what has expired is dropped when it is asked for, or pushed out. */
export function createExpiringMap<V>({ ttlMs, maxEntries }: CreateExpiringMapOptions): ExpiringMap<V> {
  const entries = new Map<string, { readonly value: V; readonly until: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      if (entry.until > performance.now()) return entry.value
      entries.delete(key)
      return undefined
    },
    set(key, value) {
      entries.delete(key)
      if (ttlMs <= 0) return
      entries.set(key, { value, until: performance.now() + ttlMs })
      for (const first of entries.keys()) {
        if (entries.size <= maxEntries) break
        entries.delete(first)
      }
    },
    delete: (key) => void entries.delete(key),
  }
}
