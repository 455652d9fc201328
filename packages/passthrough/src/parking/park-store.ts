/** A call of a backend that waits until its client comes back with answers. Nothing in here is a secret or content of a call. */
export interface Park {
  /** Names it, and nobody can guess it. */
  readonly id: string
  /** The process in which the call is open, and where alone it can go on. */
  readonly instance: string
  readonly backend: string
  /** What waiting for it costs: characters of the call and of its questions. */
  readonly size: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * Where parked calls are noted. It decides that a state serves once, and how many calls may wait: in memory for one process, or shared by
 * several, which then have to share the keys of the seal as well (BR-226).
 */
export interface ParkStore {
  /** Notes a call. False when no more may wait. */
  put(park: Park): boolean | Promise<boolean>
  /** Takes a call of this process out. Of several who try, one gets it (MC-MRTR-11). Calls of others are left where they are. */
  take(id: string, instance: string): Park | undefined | Promise<Park | undefined>
}

export interface CreateMemoryParkStoreOptions {
  /** Calls that may wait at the same time. Default 1,024. */
  readonly maxParks?: number | undefined
  /** Characters of all that wait. Default 64 Mi. */
  readonly maxSize?: number | undefined
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** Notes parked calls in this process. What has expired makes room for others. */
export function createMemoryParkStore(options: CreateMemoryParkStoreOptions = {}): ParkStore {
  const { maxParks = 1_024, maxSize = 64 * 1_048_576, now = Date.now } = options
  const parks = new Map<string, Park>()
  let size = 0
  const remove = (park: Park): void => {
    parks.delete(park.id)
    size -= park.size
  }
  const makeRoom = (): void => {
    const time = now()
    for (const park of parks.values()) if (park.expiresAt <= time) remove(park)
  }
  const isFull = (added: number): boolean => parks.size >= maxParks || size + added > maxSize
  return {
    put(park) {
      if (isFull(park.size)) makeRoom()
      if (isFull(park.size)) return false
      parks.set(park.id, park)
      size += park.size
      return true
    },
    take(id, instance) {
      const park = parks.get(id)
      if (park?.instance !== instance) return undefined
      remove(park)
      return park
    },
  }
}
