import {
  type AbortWatcher,
  type Call,
  type CallContext,
  type OnDiagnostic,
  type Outcome,
  RpcError,
  notice,
  rpcCode,
} from '@atenea/mcpcompat'
import { type SubscriptionFilter, acknowledgement, parseListenFilter } from '@atenea/mcpcompat/transport'

export interface SubscriptionLimits {
  /** Subscriptions that may be open at once. */
  readonly total: number
  /** Of them, those of one principal. All clients of an unauthenticated listener are one. */
  readonly perPrincipal: number
  /** Resources that one subscription may name. */
  readonly urisPerSubscription: number
}

export const defaultSubscriptionLimits: SubscriptionLimits = {
  total: 20_000,
  perPrincipal: 10_000,
  urisPerSubscription: 1000,
}

export interface CreateSubscriptionsOptions {
  readonly limits: SubscriptionLimits
  /** The part of a filter that this caller may have (MC-SUB-05). */
  readonly grant: (filter: SubscriptionFilter, context: CallContext) => SubscriptionFilter
  /** Whether the caller may still be told of this resource; asked for each event, since grants may change. */
  readonly mayRead: (uri: string, context: CallContext) => boolean
  /** Whether a changed resource lies below a subscribed one. */
  readonly isPartOf: ((changed: string, subscribed: string) => boolean) | undefined
  readonly report: OnDiagnostic
}

/** Lists whose changes can be subscribed to. */
export type ListKind = 'tools' | 'prompts' | 'resources'

/** Open `subscriptions/listen` calls, and what they are told. */
export interface Subscriptions {
  /** Answers `subscriptions/listen`: the acknowledgement, then notices, and a result when the server ends it. */
  listen(call: Call, context: CallContext): Promise<Outcome>
  /** Tells those who asked for it, once a tick however often it is called. */
  listChanged(kind: ListKind): void
  resourceUpdated(uri: string): void
  /** Ends all with their result and takes no new ones. Resolves when the last notices have been taken. */
  drain(): Promise<void>
  readonly size: number
}

const listNotices: Readonly<Record<ListKind, Call>> = {
  tools: { method: notice.toolsChanged, params: {} },
  prompts: { method: notice.promptsChanged, params: {} },
  resources: { method: notice.resourcesChanged, params: {} },
}

export function createSubscriptions(options: CreateSubscriptionsOptions): Subscriptions {
  const { limits, grant, mayRead, isPartOf, report } = options
  const open = new Set<Subscription>()
  const openOf = new Map<string, number>()
  const byUri = new Map<string, Set<Subscription>>()
  const changed = new Set<ListKind>()
  let draining: Promise<void> | undefined

  const admit = (context: CallContext, uris: readonly string[]): void => {
    const { id } = context.principal
    const limit =
      open.size >= limits.total || (openOf.get(id) ?? 0) >= limits.perPrincipal
        ? 'Too many open subscriptions'
        : uris.length > limits.urisPerSubscription
          ? `A subscription may name at most ${limits.urisPerSubscription} resources`
          : draining !== undefined
            ? 'The server is shutting down'
            : undefined
    if (limit !== undefined) throw new RpcError(rpcCode.internalError, limit)
  }

  const enter = (subscription: Subscription): void => {
    const { id } = subscription.context.principal
    open.add(subscription)
    openOf.set(id, (openOf.get(id) ?? 0) + 1)
    for (const uri of subscription.uris) {
      const listeners = byUri.get(uri)
      if (listeners === undefined) byUri.set(uri, new Set([subscription]))
      else listeners.add(subscription)
    }
  }

  const leave = (subscription: Subscription): void => {
    const { id } = subscription.context.principal
    open.delete(subscription)
    const left = (openOf.get(id) ?? 1) - 1
    if (left > 0) openOf.set(id, left)
    else openOf.delete(id)
    for (const uri of subscription.uris) {
      const listeners = byUri.get(uri)
      listeners?.delete(subscription)
      if (listeners?.size === 0) byUri.delete(uri)
    }
  }

  const flushListChanges = (): void => {
    for (const kind of changed) {
      for (const subscription of open) if (subscription.wants(kind)) subscription.tell(kind, listNotices[kind])
    }
    changed.clear()
  }

  const listenersOf = (uri: string): Iterable<Subscription> => {
    if (isPartOf === undefined) return byUri.get(uri) ?? []
    const listeners = new Set(byUri.get(uri))
    for (const [subscribed, others] of byUri) {
      if (subscribed !== uri && isPartOf(uri, subscribed)) for (const other of others) listeners.add(other)
    }
    return listeners
  }

  return {
    get size() {
      return open.size
    },

    listen(call, context) {
      const filter = parseListenFilter(call.params)
      admit(context, filter.resourceSubscriptions ?? [])
      if (context.isAborted ?? context.signal.aborted) throw context.signal.reason
      const subscription = new Subscription(context, grant(filter, context), report, leave)
      enter(subscription)
      return subscription.open()
    },

    listChanged(kind) {
      if (changed.size === 0) queueMicrotask(flushListChanges)
      changed.add(kind)
    },

    resourceUpdated(uri) {
      const update: Call = { method: notice.resourceUpdated, params: { uri } }
      for (const subscription of listenersOf(uri)) {
        if (mayRead(uri, subscription.context)) subscription.tell(uri, update)
      }
    },

    drain() {
      if (changed.size > 0) flushListChanges()
      draining ??= Promise.allSettled([...open].map((subscription) => subscription.end())).then(() => undefined)
      return draining
    },
  }
}

const noUris: readonly string[] = []

/**
 * One open subscription. When its client reads too slowly, notices wait, each kind and each resource once: what they say is that
 * something changed, so two are no more than one. Servers keep thousands of these that say nothing for hours, so what only some of
 * them need is made for those.
 */
class Subscription implements AbortWatcher {
  readonly context: CallContext
  readonly uris: readonly string[]
  readonly #granted: SubscriptionFilter
  readonly #report: OnDiagnostic
  readonly #onOver: (subscription: Subscription) => void
  readonly #outcome: Promise<Outcome>
  #resolve!: (outcome: Outcome) => void
  #reject!: (reason: unknown) => void
  #waiting: Map<string, Call> | undefined
  #sending: Promise<void> | undefined
  #isOver = false

  constructor(
    context: CallContext,
    granted: SubscriptionFilter,
    report: OnDiagnostic,
    onOver: (subscription: Subscription) => void,
  ) {
    this.context = context
    this.uris = granted.resourceSubscriptions === undefined ? noUris : [...new Set(granted.resourceSubscriptions)]
    this.#granted = granted
    this.#report = report
    this.#onOver = onOver
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  wants(kind: ListKind): boolean {
    return this.#granted[`${kind}ListChanged`] === true
  }

  /** Acknowledges (MC-SUB-03), then stays until the server ends it or the caller leaves. */
  open(): Promise<Outcome> {
    if (this.context.watch === undefined) this.context.signal.addEventListener('abort', this, { once: true })
    else this.context.watch(this)
    this.tell('', acknowledgement(this.#granted))
    return this.#outcome
  }

  /** The caller has left. */
  aborted(reason: unknown): void {
    this.#leave()
    this.#reject(reason)
  }

  /** The same, as a signal tells it. */
  handleEvent(): void {
    this.aborted(this.context.signal.reason)
  }

  /** Sends a notice, now or when the client has room. `key` tells notices apart that say the same. */
  tell(key: string, about: Call): void {
    if (this.#isOver) return
    if (this.#sending !== undefined) {
      this.#waiting ??= new Map()
      this.#waiting.set(key, about)
      return
    }
    const sent = this.#emit(about)
    if (sent !== undefined) this.#sending = this.#sendWaiting(sent)
  }

  /** Ends with the result once everything that waits has been taken, unless the caller leaves before. */
  async end(): Promise<void> {
    const left = this.#outcome.catch(() => undefined)
    await Promise.race([this.#sending, left])
    this.#leave()
    this.#resolve({ kind: 'result', value: {} })
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.context.watch === undefined) this.context.signal.removeEventListener('abort', this)
    else this.context.unwatch?.(this)
    this.#onOver(this)
  }

  async #sendWaiting(first: Promise<void>): Promise<void> {
    await first
    const waiting = (this.#waiting ??= new Map<string, Call>())
    for (let [next] = waiting; next !== undefined && !this.#isOver; [next] = waiting) {
      const [key, about] = next
      waiting.delete(key)
      await this.#emit(about)
    }
    this.#waiting = undefined
    this.#sending = undefined
  }

  /** A carrier that cannot take a notice ends the call by its signal; here it is only reported. */
  #emit(about: Call): Promise<void> | undefined {
    const refused = (cause: unknown): void => {
      if (this.#isOver) return
      this.#report({ level: 'debug', code: 'notice-not-sent', message: `A ${about.method} could not be sent.`, cause })
    }
    try {
      return this.context.emit(about)?.catch(refused)
    } catch (error) {
      refused(error)
      return undefined
    }
  }
}
