import {
  type Call,
  type CallContext,
  type OnDiagnostic,
  type Outcome,
  RpcError,
  method,
  notice,
  rpcCode,
} from '@atenea/mcpcompat'
import { type Clock, parseListenFilter, type SubscriptionFilter } from '@atenea/mcpcompat/transport'
import type { BackendLists } from '../lists/backend-lists.ts'
import { type Patience, whileWanted } from '../lists/patience.ts'
import type { UriRoutes } from '../routing/uri-routes.ts'
import type { FeedListener } from './backend-feed.ts'
import { ClientListen } from './client-listen.ts'

export interface ListensOptions {
  readonly all: readonly BackendLists[]
  readonly uris: UriRoutes
  readonly patience: Patience
  readonly clock: Clock
  readonly onDiagnostic: OnDiagnostic | undefined
}

const maxOpen = 20_000
const maxUris = 1_000
/** Pauses between tries to listen to a backend that is not there. */
const rejoinMs = { first: 1_000, max: 30_000 }

/** Subscriptions of clients to what several backends change (BR-305): one acknowledgement after theirs, and each notice to those who asked. */
export class Listens {
  readonly #options: ListensOptions
  readonly #open = new Set<ClientListen>()
  #draining: Promise<void> | undefined

  constructor(options: ListensOptions) {
    this.#options = options
  }

  async listen(call: Call, context: CallContext): Promise<Outcome> {
    const filter = parseListenFilter(call.params)
    this.#admit(filter)
    const listen = new ClientListen(context, this.#options.clock, this.#options.onDiagnostic)
    const parts: Part[] = []
    this.#open.add(listen)
    try {
      const wishes = await this.#wishes(filter, context)
      for (const [lists, wish] of wishes) parts.push(new Part(lists, wish, listen))
      const granted = await whileWanted(Promise.all(parts.map((part) => this.#join(part, context))), context)
      listen.acknowledge(unionOf(granted))
      return await listen.run()
    } finally {
      this.#open.delete(listen)
      for (const part of parts) part.leave()
    }
  }

  /** Ends all with their result and takes no new ones. */
  drain(): Promise<void> {
    this.#draining ??= Promise.all([...this.#open].map((listen) => listen.end())).then(() => undefined)
    return this.#draining
  }

  #admit(filter: SubscriptionFilter): void {
    const fault =
      this.#draining !== undefined
        ? 'The proxy is shutting down'
        : this.#open.size >= maxOpen
          ? 'Too many open subscriptions'
          : (filter.resourceSubscriptions?.length ?? 0) > maxUris
            ? `A subscription may name at most ${maxUris} resources`
            : undefined
    if (fault !== undefined) throw new RpcError(rpcCode.internalError, fault)
  }

  /** What is asked of each backend: all list changes, and those resources that it may serve. */
  async #wishes(
    filter: SubscriptionFilter,
    context: CallContext,
  ): Promise<ReadonlyMap<BackendLists, SubscriptionFilter>> {
    const { resourceSubscriptions: uris = [], ...types } = filter
    const of = new Map<BackendLists, string[]>(this.#options.all.map((lists) => [lists, []]))
    await Promise.all(
      [...new Set(uris)].map(async (uri) => {
        for (const owner of await this.#ownersOf(uri, context)) of.get(owner)?.push(uri)
      }),
    )
    context.signal.throwIfAborted()
    return new Map(
      [...of].map(([lists, own]) => [lists, own.length > 0 ? { ...types, resourceSubscriptions: own } : types]),
    )
  }

  /** A resource that nobody serves is left out of the acknowledgement. */
  async #ownersOf(uri: string, context: CallContext): Promise<readonly BackendLists[]> {
    try {
      return await this.#options.uris.owners(uri, context)
    } catch (error) {
      if (RpcError.is(error)) return []
      throw error
    }
  }

  async #join(part: Part, context: CallContext): Promise<SubscriptionFilter> {
    const joining = part.join(context)
    const waited = await this.#options.patience.wait(part.lists, method.listen, context, joining)
    if (waited.kind === 'there') {
      part.isAcknowledged = true
      return waited.value
    }
    void this.#joinLater(part, joining, context)
    return {}
  }

  /** A backend that was not there in time: its lists are told to have changed once it is. */
  async #joinLater(part: Part, first: Promise<unknown>, context: CallContext): Promise<void> {
    let delayMs = rejoinMs.first
    for (let joining = first; ; joining = part.join(context)) {
      try {
        await joining
        part.announce()
        return
      } catch {
        // Its link reports what is wrong with it.
        await part.pause(delayMs, this.#options.clock)
        if (part.hasLeft) return
        delayMs = Math.min(delayMs * 2, rejoinMs.max)
      }
    }
  }
}

const listChanges = [notice.toolsChanged, notice.promptsChanged, notice.resourcesChanged]

/** The share of one backend in a subscription. */
class Part implements FeedListener {
  readonly lists: BackendLists
  readonly filter: SubscriptionFilter
  granted: SubscriptionFilter = {}
  /** It was granted in time, so that the client knows which resources it hears of. */
  isAcknowledged = false
  hasLeft = false
  readonly #listen: ClientListen
  #leave: (() => void) | undefined
  #wake: (() => void) | undefined

  constructor(lists: BackendLists, filter: SubscriptionFilter, listen: ClientListen) {
    this.lists = lists
    this.filter = filter
    this.#listen = listen
  }

  async join(context: CallContext): Promise<SubscriptionFilter> {
    const { feed, view } = await this.lists.feed(context)
    if (this.hasLeft) return {}
    this.#leave = () => feed.leave(this)
    return feed.join(this, view.capabilities)
  }

  leave(): void {
    this.hasLeft = true
    this.#leave?.()
    this.#wake?.()
  }

  /** Waits, but no longer than until the client leaves. */
  async pause(delayMs: number, clock: Clock): Promise<void> {
    if (this.hasLeft) return
    let timer: Disposable | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      timer = clock.after(delayMs, resolve)
    })
    timer?.[Symbol.dispose]()
  }

  /** Says of all lists that they have changed; the client hears of those that it was granted. */
  announce(): void {
    for (const change of listChanges) this.#listen.tell({ method: change, params: {} })
  }

  tell(change: Call): void {
    if (change.method !== notice.resourceUpdated || this.isAcknowledged || this.#isHeld) this.#listen.tell(change)
  }

  /** Before the acknowledgement everything waits for it. */
  get #isHeld(): boolean {
    return !this.#listen.isAcknowledged
  }
}

function unionOf(granted: readonly SubscriptionFilter[]): SubscriptionFilter {
  const uris = new Set(granted.flatMap(({ resourceSubscriptions }) => resourceSubscriptions ?? []))
  const types = Object.assign(
    {},
    ...granted.map(({ resourceSubscriptions: _uris, ...rest }) => rest),
  ) as SubscriptionFilter
  return uris.size > 0 ? { ...types, resourceSubscriptions: [...uris] } : types
}
