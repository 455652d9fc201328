import type { Call, JsonObject, ServerView } from '@atenea/mcpcompat'
import { BackendFeed, type BackendFeedOptions } from '../changes/backend-feed.ts'
import type { Definitions } from '../pins/drift.ts'
import { type ListCache, listOwner, type ListOwner } from './list-cache.ts'
import { type ListKind, listKinds } from './list-kind.ts'

/** Faults of one audience that are remembered, so that each is reported once. */
const maxFaults = 1_000

/** Lists of one principal, by their kind. */
type Owners = ReadonlyMap<ListKind, ListOwner>

/** Principals of one connection whose lists are told apart; more begin anew. */
const maxOwners = 10_000

/** Those who share one connection to a backend: what they were offered, and the changes that they hear of. */
export class Audience {
  readonly feed: BackendFeed
  /** What was offered last, to tell what has changed. */
  readonly definitions: Map<ListKind, Definitions> = new Map()
  /** Whether somebody needed it since it was last looked at: a flag, since to read the clock in every call costs more. */
  wasUsed = true
  /** When it was last seen to be used, in milliseconds of the clock. */
  lastUsed = 0
  /** Settles when changes are followed, or when that takes too long to wait for: false. */
  following: Promise<boolean> | undefined
  /** Something was read before changes were followed. */
  hasReadEarly: boolean = false
  readonly #backend: string
  readonly #partition: string
  readonly #owners = new Map<string, Owners>()
  readonly #cache: Pick<ListCache<unknown>, 'invalidate'>
  readonly #faults = new Set<string>()
  /** Those of the connection, which has an object of its own for them. */
  #capabilities: JsonObject | undefined

  constructor(
    backend: string,
    partition: string,
    cache: Pick<ListCache<unknown>, 'invalidate'>,
    feed: BackendFeedOptions,
  ) {
    this.#backend = backend
    this.#partition = partition
    this.#cache = cache
    this.feed = new BackendFeed(feed)
  }

  /** What is private is so to one principal, also where several share a connection (MC-CACHE-14). */
  ownerOf(kind: ListKind, principal: string): ListOwner {
    let owners = this.#owners.get(principal)
    if (owners === undefined) {
      const audience = JSON.stringify([this.#partition, principal])
      owners = new Map(listKinds.map((each) => [each, listOwner(this.#backend, each.method, audience)]))
      if (this.#owners.size >= maxOwners) this.forget()
      this.#owners.set(principal, owners)
    }
    return owners.get(kind) as ListOwner
  }

  /** A backend that was connected to anew may offer something else. */
  sees({ capabilities }: ServerView): void {
    if (this.#capabilities !== undefined && this.#capabilities !== capabilities) this.#invalidate(() => true)
    this.#capabilities = capabilities
  }

  changed(change: Call): void {
    this.#invalidate((kind) => kind.changed === change.method)
  }

  followed(): void {
    if (this.hasReadEarly) this.#invalidate(() => true)
  }

  forget(): void {
    this.#invalidate(() => true)
    this.#owners.clear()
  }

  isNewFault(fault: string): boolean {
    if (this.#faults.has(fault)) return false
    if (this.#faults.size >= maxFaults) this.#faults.clear()
    this.#faults.add(fault)
    return true
  }

  #invalidate(isMeant: (kind: ListKind) => boolean): void {
    for (const owners of this.#owners.values()) {
      for (const [kind, owner] of owners) if (isMeant(kind)) this.#cache.invalidate(owner)
    }
  }
}
