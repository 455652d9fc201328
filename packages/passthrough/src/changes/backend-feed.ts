import type { Call, Dispatcher, JsonObject, OnDiagnostic, Peer, Principal } from '@atenea/mcpcompat'
import { notice } from '@atenea/mcpcompat'
import {
  advertisedListChanges,
  ChangeFeed,
  type Clock,
  filterAdmits,
  grantFilter,
  memberOf,
  type PeerSession,
  type SubscriptionFilter,
} from '@atenea/mcpcompat/transport'

export interface BackendFeedOptions {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly peer: Peer
  readonly principal: Principal
  readonly session: PeerSession | undefined
  /** Hears of every change before anybody else. */
  readonly onChange: (notice: Call) => void
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** Somebody who wants to hear of some of the changes. */
export interface FeedListener {
  readonly filter: SubscriptionFilter
  /** What somebody upstream agreed to tell; complete once `join` has resolved. */
  granted: SubscriptionFilter
  tell(notice: Call): void
}

const maxSubscriptions = 20_000

/**
 * The changes of one backend as one of its connections tells them: one listen for everybody who wants to hear of some (BR-305). It is opened
 * with the first wish and follows all lists, since what is kept of them must hear of changes whether a client listens or not (BR-231).
 */
export class BackendFeed {
  readonly #options: BackendFeedOptions
  readonly #feed: ChangeFeed
  readonly #listeners = new Set<FeedListener>()
  readonly #watched = new Map<string, Watched>()
  #capabilities: JsonObject = {}
  #following: Promise<void> | undefined
  #isClosed = false

  constructor(options: BackendFeedOptions) {
    this.#options = options
    this.#feed = new ChangeFeed({
      dispatcher: options.dispatcher,
      clock: options.clock,
      peer: options.peer,
      principal: options.principal,
      session: options.session,
      maxSubscriptions,
      onDiagnostic: options.onDiagnostic,
      forward: (change) => this.#forward(change),
    })
  }

  get isUsed(): boolean {
    return this.#listeners.size > 0
  }

  /** Follows what the backend advertises. Resolves when that is in force; rejects when it cannot be now. */
  follow(capabilities: JsonObject): Promise<void> {
    this.#capabilities = capabilities
    this.#following ??= this.#follow()
    return this.#following
  }

  /** Lets somebody hear of changes from now on. Resolves with what was granted; rejects when the backend cannot be listened to now. */
  async join(listener: FeedListener, capabilities: JsonObject): Promise<SubscriptionFilter> {
    this.#listeners.add(listener)
    try {
      await this.follow(capabilities)
    } catch (error) {
      this.#listeners.delete(listener)
      throw error
    }
    const { resourceSubscriptions: uris = [], ...types } = grantFilter(listener.filter, capabilities)
    const agreed = this.#feed.granted
    const granted = Object.fromEntries(Object.entries(types).filter(([type]) => agreed[type] === true))
    const watched = await Promise.all([...new Set(uris)].map(async (uri) => ((await this.#watch(uri)) ? [uri] : [])))
    const kept = watched.flat()
    if (!this.#listeners.has(listener)) for (const uri of kept.splice(0)) this.#unwatch(uri)
    listener.granted = kept.length > 0 ? { ...granted, resourceSubscriptions: kept } : granted
    return listener.granted
  }

  leave(listener: FeedListener): void {
    if (!this.#listeners.delete(listener)) return
    for (const uri of listener.granted.resourceSubscriptions ?? []) this.#unwatch(uri)
  }

  /** Tells those who want to hear of it about a change that was found out here. */
  announce(change: Call): void {
    for (const listener of this.#listeners) if (filterAdmits(listener.filter, change)) listener.tell(change)
  }

  close(): void {
    this.#isClosed = true
    this.#feed.close(new DOMException('Nobody listens any more', 'AbortError'))
  }

  async #follow(): Promise<void> {
    try {
      await this.#feed.follow(advertisedListChanges(this.#capabilities))
    } catch (error) {
      this.#following = undefined
      throw error
    }
  }

  #forward(change: Call): void {
    this.#options.onChange(change)
    if (change.method !== notice.resourceUpdated) {
      this.announce(change)
      return
    }
    const wanting = this.#wanting(memberOf(change.params, 'uri'))
    for (const listener of wanting) listener.tell(change)
  }

  /** Who subscribed to a resource, or, when nobody did, to one that it lies below. */
  #wanting(uri: unknown): readonly FeedListener[] {
    if (typeof uri !== 'string') return []
    const all = [...this.#listeners]
    const those = (holds: (subscribed: string) => boolean): FeedListener[] =>
      all.filter(({ granted }) => granted.resourceSubscriptions?.some(holds) === true)
    if (this.#watched.has(uri)) return those((subscribed) => subscribed === uri)
    return those((subscribed) => uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`))
  }

  async #watch(uri: string): Promise<boolean> {
    let watched = this.#watched.get(uri)
    if (watched === undefined) {
      const agreed = this.#feed.subscribe(uri).then(
        () => true,
        () => false,
      )
      watched = { listeners: 0, agreed }
      this.#watched.set(uri, watched)
    }
    watched.listeners++
    if (await watched.agreed) return true
    this.#unwatch(uri)
    return false
  }

  #unwatch(uri: string): void {
    const watched = this.#watched.get(uri)
    if (watched === undefined || --watched.listeners > 0) return
    this.#watched.delete(uri)
    if (!this.#isClosed) this.#feed.unsubscribe(uri)
  }
}

interface Watched {
  listeners: number
  readonly agreed: Promise<boolean>
}
