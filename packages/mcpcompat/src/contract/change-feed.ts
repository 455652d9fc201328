import type { Call } from './call.ts'
import type { Clock } from './clock.ts'
import type { Peer, Principal } from './context.ts'
import type { OnDiagnostic } from './diagnostics.ts'
import type { Dispatcher } from './dispatcher.ts'
import { method, notice } from './methods.ts'
import type { PeerSession } from './peer-session.ts'
import { RpcError, rpcCode } from '../jsonrpc/errors.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { memberOf } from '../member.ts'
import { listenFilterFault, type SubscriptionFilter } from '../subscriptions.ts'
import { FeedListen, type FeedListener } from './feed-listen.ts'

export interface ChangeFeedOptions {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly peer: Peer
  readonly principal: Principal
  /** The session on whose behalf a proxy listens. */
  readonly session?: PeerSession | undefined
  /** Resources that may be subscribed at the same time. */
  readonly maxSubscriptions: number
  /** Takes what the client is told: a list change, or a resource that it subscribed. */
  readonly forward: (notice: Call) => void
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** A listen that is not acknowledged yet, and who waits for that. */
interface Opening {
  readonly listen: FeedListen
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

const reopenDelayMs = 1_000
const maxReopenDelayMs = 30_000

/**
 * Everything that changes and that a session wants to hear of, as one listen on the dispatcher (BR-102, BR-107, BR-108). When
 * the wishes change, a new listen takes over at its acknowledgement and the old one ends in the same turn, so that nothing is
 * lost or told twice. A listen that ends by itself is opened anew, and what may have been missed is announced (BR-131).
 */
export class ChangeFeed implements FeedListener {
  readonly #options: ChangeFeedOptions
  #types: SubscriptionFilter = {}
  /** Made with the first subscription. */
  #uris: Set<string> | undefined
  #current: FeedListen | undefined
  #opening: Opening | undefined
  #applying: Promise<void> | undefined
  #stale = false
  #closed = false
  #reopen: Disposable | undefined

  constructor(options: ChangeFeedOptions) {
    this.#options = options
  }

  get peer(): Peer {
    return this.#options.peer
  }

  get principal(): Principal {
    return this.#options.principal
  }

  get session(): PeerSession | undefined {
    return this.#options.session
  }

  /** Whether a listen is in force. */
  get isOpen(): boolean {
    return this.#current !== undefined
  }

  /** What the listen in force was granted; `{}` when there is none now. */
  get granted(): SubscriptionFilter {
    return this.#current?.granted ?? {}
  }

  /** Starts to forward list changes of these types. */
  async follow(types: SubscriptionFilter): Promise<void> {
    this.#types = types
    await this.#apply()
  }

  /**
   * Subscribes to a resource. Resolves when it is in force; an `RpcError` when the dispatcher does not grant it. Asking twice
   * is asking once.
   */
  async subscribe(uri: string): Promise<void> {
    const uris = (this.#uris ??= new Set())
    if (!uris.has(uri) && uris.size >= this.#options.maxSubscriptions) {
      throw new RpcError(rpcCode.internalError, `At most ${this.#options.maxSubscriptions} resources can be subscribed`)
    }
    uris.add(uri)
    try {
      if (this.#current?.granted.resourceSubscriptions?.includes(uri) !== true) await this.#apply()
    } catch (error) {
      uris.delete(uri)
      throw error
    }
    if (this.#current?.granted.resourceSubscriptions?.includes(uri) === true) return
    uris.delete(uri)
    throw new RpcError(rpcCode.invalidParams, 'This resource cannot be subscribed', { data: { uri } })
  }

  /** Ends a subscription: nothing about this resource is forwarded any more. */
  unsubscribe(uri: string): void {
    if (this.#uris?.delete(uri) !== true || this.#closed) return
    this.#apply().catch((error: unknown) => this.#report(error))
  }

  /** Ends everything. */
  close(reason: unknown): void {
    this.#closed = true
    this.#reopen?.[Symbol.dispose]()
    for (const listen of [this.#current, this.#opening?.listen]) {
      listen?.stop(reason)
    }
    this.#current = undefined
  }

  /** Brings the listen in line with the wishes. Wishes that change meanwhile are one more round, not one more listen each. */
  #apply(): Promise<void> {
    this.#stale = true
    this.#applying ??= this.#applyWhileStale()
    return this.#applying
  }

  async #applyWhileStale(): Promise<void> {
    try {
      await this.#applyAll()
    } finally {
      this.#applying = undefined
      // A wish that came after the last round, and before this.
      if (this.#stale && !this.#closed) await this.#apply()
    }
  }

  async #applyAll(): Promise<void> {
    while (this.#stale && !this.#closed) {
      this.#stale = false
      const filter: SubscriptionFilter =
        this.#uris !== undefined && this.#uris.size > 0
          ? { ...this.#types, resourceSubscriptions: [...this.#uris] }
          : this.#types
      if (Object.keys(filter).length > 0) {
        await this.#open(filter)
      } else if (this.#current !== undefined) {
        this.#current.stop(nobodyListens())
        this.#current = undefined
      }
    }
  }

  /** Resolves with the acknowledgement; rejects when the listen ends without one. */
  #open(filter: SubscriptionFilter): Promise<void> {
    const listen = new FeedListen(filter, this)
    const acknowledged = new Promise<void>((resolve, reject) => {
      this.#opening = { listen, resolve, reject }
    })
    this.#call(listen)
    return acknowledged
  }

  // By itself: what its closures hold lives as long as the listen, of which servers keep thousands.
  #call(listen: FeedListen): void {
    try {
      const params = { notifications: listen.filter }
      const outcome = this.#options.dispatcher.call({ method: method.listen, params }, listen)
      const over = (ended: unknown): void => this.#over(listen, ended)
      Promise.resolve(outcome).then(over, over)
    } catch (error) {
      this.#over(listen, error)
    }
  }

  /** A listen has ended, with its outcome or an error. */
  #over(listen: FeedListen, ended: unknown): void {
    if (listen.current) {
      this.#lost(listen)
      return
    }
    const opening = this.#opening
    if (opening?.listen !== listen) return // one that another has taken the place of
    this.#opening = undefined
    opening.reject(
      ended instanceof Error ? ended : new RpcError(rpcCode.internalError, 'The subscription ended at once'),
    )
  }

  /** A notice of one of the listens. */
  arrived(listen: FeedListen, notified: Call): void {
    const opening = this.#opening
    if (notified.method !== notice.acknowledged) this.#forward(listen, notified)
    else if (opening?.listen === listen) {
      this.#takeOver(listen, notified)
      this.#opening = undefined
      opening.resolve()
    }
  }

  #takeOver(listen: FeedListen, acknowledgement: Call): void {
    const granted = memberOf(acknowledgement.params, 'notifications')
    listen.granted = listenFilterFault(granted) === undefined ? (granted as SubscriptionFilter) : {}
    if (this.#closed) return
    const previous = this.#current
    this.#current = listen
    listen.current = true
    previous?.stop(nobodyListens())
  }

  #forward(listen: FeedListen, arrived: Call): void {
    if (!listen.current) return
    if (arrived.method === notice.resourceUpdated) {
      const uri = memberOf(arrived.params, 'uri')
      // Unsubscribed, though the listen does not know it yet. A uri that was never subscribed lies under one that is.
      if (
        typeof uri === 'string' &&
        this.#uris?.has(uri) !== true &&
        listen.filter.resourceSubscriptions?.includes(uri) === true
      )
        return
    }
    this.#options.forward(arrived)
  }

  /** The dispatcher ended a listen that nobody asked it to end. */
  #lost(listen: FeedListen): void {
    listen.current = false
    if (this.#current !== listen || this.#closed) return
    this.#current = undefined
    this.#reopenLater(listen, reopenDelayMs)
  }

  #reopenLater(listen: FeedListen, delayMs: number): void {
    this.#reopen = this.#options.clock.after(delayMs, () => {
      const applied = this.#current === undefined ? this.#apply() : Promise.resolve()
      applied.then(
        () => this.#announce(listen.granted),
        (error: unknown) => {
          this.#report(error)
          if (!this.#closed && this.#current === undefined)
            this.#reopenLater(listen, Math.min(delayMs * 2, maxReopenDelayMs))
        },
      )
    })
  }

  /** What may have changed while nobody listened. */
  #announce(missed: SubscriptionFilter): void {
    if (this.#closed) return
    const told = (name: string, params: JsonObject = {}): void => this.#options.forward({ method: name, params })
    if (missed.toolsListChanged === true) told(notice.toolsChanged)
    if (missed.promptsListChanged === true) told(notice.promptsChanged)
    if (missed.resourcesListChanged === true) told(notice.resourcesChanged)
    for (const uri of missed.resourceSubscriptions ?? []) {
      if (this.#uris?.has(uri) === true) told(notice.resourceUpdated, { uri })
    }
  }

  #report(cause: unknown): void {
    this.#options.onDiagnostic?.({
      level: 'warning',
      code: 'listen-failed',
      message: 'Changes cannot be followed now; it is tried again while the session lives.',
      cause,
    })
  }
}

function nobodyListens(): unknown {
  return new DOMException('Nobody listens any more', 'AbortError')
}
