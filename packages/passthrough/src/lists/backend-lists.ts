import {
  type AllowList,
  type CallContext,
  createAllowList,
  type JsonRecord,
  type OnDiagnostic,
  type Principal,
  type ServerView,
  toText,
  type Viewer,
} from '@atenea/mcpcompat'
import { type Clock, nextPage, type PageLimits, within } from '@atenea/mcpcompat/transport'
import type { BackendPolicy } from '../backend-options.ts'
import type { BackendClient, BackendPort } from '../backend-port.ts'
import type { BackendFeed } from '../changes/backend-feed.ts'
import type { OnPassthroughEvent } from '../events.ts'
import { ForwardedContext } from '../forwarded-context.ts'
import type { NameScheme } from '../names/name-scheme.ts'
import { driftOf, isDrift } from '../pins/drift.ts'
import type { BackendPins } from '../pins/lock.ts'
import { Audience } from './audience.ts'
import type { Fetched, Kept, ListCache } from './list-cache.ts'
import { type DroppedItem, readItems } from './list-items.ts'
import { type ListKind, promptList, resourceList, templateList, toolList } from './list-kind.ts'
import { makeOffer, type Offer, type OfferRules } from './offer.ts'
import { readList, type ReadPage, readPage, type WholeList } from './read-list.ts'

/** What is kept of a list: what it offers, and the page itself where it is one. */
export interface Listed {
  readonly offer: Offer
  readonly page: ReadPage | undefined
}

export interface BackendListsOptions {
  readonly port: BackendPort
  readonly allow: BackendPolicy | undefined
  readonly names: { readonly tools: NameScheme; readonly prompts: NameScheme }
  /** Pins of this backend, when tools are to be as they are pinned. */
  readonly pins: { readonly backend: BackendPins | undefined } | undefined
  readonly cache: ListCache<Listed>
  readonly limits: Partial<PageLimits> | undefined
  readonly clock: Clock
  readonly onEvent: OnPassthroughEvent | undefined
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** Audiences of one backend whose changes are followed. */
const maxAudiences = 256
/** How long an audience is kept that reads no lists and listens to no changes, in milliseconds. */
const audienceIdleMs = 300_000
/** How long the first reading of a list waits for its changes to be followed, in milliseconds. */
const followFirstMs = 300
/** An unknown name makes a list be read anew, but not more often than that, in milliseconds. */
const rereadMs = 1_000

const nothing: Offer = {
  items: [],
  isWhole: true,
  byName: new Map(),
  refused: new Map(),
  dropped: [],
  definitions: new Map(),
}

/** The lists of one backend: what it offers to whom, kept and kept up to date. */
export class BackendLists {
  readonly name: string
  readonly port: BackendPort
  readonly #options: BackendListsOptions
  readonly #rules: ReadonlyMap<ListKind, OfferRules>
  readonly #audiences = new Map<string, Audience>()
  readonly #life = new AbortController()
  #sweep: Disposable | undefined

  constructor(options: BackendListsOptions) {
    const { port, allow, names, pins } = options
    this.name = port.name
    this.port = port
    this.#options = options
    const resources = allowListOf(allow?.resources)
    const rules = (kind: ListKind, allowed: AllowList | undefined, scheme: NameScheme | undefined): OfferRules => ({
      kind,
      allowed,
      nameOf: scheme === undefined ? (own) => own : (own) => scheme.publicName(port.name, own),
      pins: kind === toolList ? pins : undefined,
    })
    this.#rules = new Map([
      [toolList, rules(toolList, allowListOf(allow?.tools), names.tools)],
      [promptList, rules(promptList, allowListOf(allow?.prompts), names.prompts)],
      [resourceList, rules(resourceList, resources, undefined)],
      [templateList, rules(templateList, resources, undefined)],
    ])
  }

  /**
   * Whether the configuration lets anybody use what has this name at the backend. Of resources that is all that can be said, since servers
   * serve more than they list.
   */
  allows(kind: ListKind, own: string): boolean {
    return this.#rulesOf(kind).allowed?.allows(own) !== false
  }

  /** Whether the configuration says anything about a list, so that a name cannot just be handed on. */
  restricts(kind: ListKind): boolean {
    const { allowed, pins } = this.#rulesOf(kind)
    return allowed !== undefined || pins !== undefined
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    return this.port.view(principal, viewer)
  }

  /** What is known to be offered to this caller, however old; `undefined` when nothing is. Never waits and never connects. */
  peek(kind: ListKind, client: BackendClient): Offer | undefined {
    const view = this.port.view(client.principal, client)
    if (view instanceof Promise) {
      // Whether it can be had is for those to hear who wait for it.
      view.catch(() => undefined)
      return undefined
    }
    if (!view.has(kind.method)) return nothing
    const audience = this.#audienceOf(client)
    audience.sees(view)
    return this.#options.cache.peek(audience.ownerOf(kind, client.principal.id))?.value.offer
  }

  /** What is offered to this caller, as it was read last, or read now: once for each connection, and again when it has changed (BR-211). */
  async known(kind: ListKind, context: CallContext): Promise<Offer> {
    const audience = await this.#audience(kind, context)
    if (audience === undefined) return nothing
    const kept = this.#options.cache.peek(audience.ownerOf(kind, context.principal.id))
    return kept === undefined ? (await this.#read(kind, audience, context)).value.offer : kept.value.offer
  }

  /** What is offered to this caller now, as fresh as the backend said that it must be; `undefined` when it has no such list. */
  async current(kind: ListKind, context: CallContext): Promise<Kept<Listed> | undefined> {
    const audience = await this.#audience(kind, context)
    if (audience === undefined) return undefined
    return (
      this.#options.cache.fresh(audience.ownerOf(kind, context.principal.id)) ??
      (await this.#read(kind, audience, context))
    )
  }

  /** What is offered to this caller, read anew unless that was just done: for a name that was not in the list. */
  async again(kind: ListKind, context: CallContext): Promise<Offer> {
    const audience = await this.#audience(kind, context)
    if (audience === undefined) return nothing
    const kept = this.#options.cache.peek(audience.ownerOf(kind, context.principal.id))
    const isNew = kept !== undefined && this.#options.clock.now() < kept.receivedAt + rereadMs
    return isNew ? kept.value.offer : (await this.#read(kind, audience, context)).value.offer
  }

  /** One page as the backend cuts it, fresh or read now; `wasKept` tells which. Whatever else is asked for is asked of the backend. */
  async page(
    kind: ListKind,
    params: JsonRecord,
    context: CallContext,
  ): Promise<{ readonly kept: Kept<Listed>; readonly wasKept: boolean }> {
    const view = await this.port.view(context.principal, context)
    const audience = this.#audienceOf(context)
    audience.sees(view)
    const owner = audience.ownerOf(kind, context.principal.id)
    const item = `page ${toText(params)}`
    const fresh = this.#options.cache.fresh(owner, item)
    if (fresh !== undefined) return { kept: fresh, wasKept: true }
    const fetch = (signal: AbortSignal): Promise<Fetched<Listed>> =>
      this.#fetchPage(kind, params, audience, new ForwardedContext(context, { signal }))
    const kept = await this.#options.cache.read(owner, item, fetch, context.signal)
    // Changes concern nobody as long as nothing is good for longer than this answer.
    if (kept.hints.ttlMs > 0) void this.#followFirst(audience, view)
    return { kept, wasKept: false }
  }

  /** The changes of this backend as this caller hears of them. */
  async feed(context: CallContext): Promise<{ readonly feed: BackendFeed; readonly view: ServerView }> {
    const view = await this.port.view(context.principal, context)
    const audience = this.#audienceOf(context)
    audience.sees(view)
    return { feed: audience.feed, view }
  }

  /** Lets those who hear of changes know that a list is there that was missing when they asked. */
  announce(kind: ListKind, context: CallContext): void {
    this.#audiences.get(this.port.partitionOf(context))?.feed.announce({ method: kind.changed, params: {} })
  }

  /** Hears of no changes any more; calls that are open go on. */
  unfollow(): void {
    for (const audience of this.#audiences.values()) audience.feed.close()
  }

  close(): void {
    this.#life.abort(new DOMException('The proxy is shutting down', 'AbortError'))
    this.#sweep?.[Symbol.dispose]()
    for (const [partition, audience] of this.#audiences) this.#closeAudience(partition, audience)
  }

  #rulesOf(kind: ListKind): OfferRules {
    return this.#rules.get(kind) as OfferRules
  }

  async #audience(kind: ListKind, context: CallContext): Promise<Audience | undefined> {
    const view = await this.port.view(context.principal, context)
    if (!view.has(kind.method)) return undefined
    const audience = this.#audienceOf(context)
    audience.sees(view)
    await this.#followFirst(audience, view)
    return audience
  }

  #audienceOf(client: BackendClient): Audience {
    const partition = this.port.partitionOf(client)
    let audience = this.#audiences.get(partition)
    if (audience === undefined) {
      audience = this.#openAudience(partition, client)
      this.#audiences.set(partition, audience)
      this.#makeRoom()
      this.#sweepLater()
    }
    audience.wasUsed = true
    return audience
  }

  #openAudience(partition: string, client: BackendClient): Audience {
    const { clock, cache, onDiagnostic } = this.#options
    const { principal, peer = { capabilities: {} }, session } = client
    // What everybody shares is followed in nobody's name.
    const isShared = this.port.partitionOf({ principal }) === partition
    const audience: Audience = new Audience(this.name, partition, cache, {
      dispatcher: this.port,
      clock,
      principal,
      peer: isShared ? { capabilities: {} } : peer,
      session: isShared ? undefined : session,
      onChange: (change) => audience.changed(change),
      onDiagnostic,
    })
    if (!isShared) {
      session?.scope.defer(() => this.#closeAudience(partition, audience))
    }
    return audience
  }

  #makeRoom(): void {
    if (this.#audiences.size <= maxAudiences) return
    for (const [partition, audience] of this.#audiences) {
      if (audience.feed.isUsed) continue
      this.#closeAudience(partition, audience)
      return
    }
  }

  /** Following changes keeps a connection busy; nobody's connection should be kept for a list that nobody reads. */
  #sweepLater(): void {
    const { clock } = this.#options
    this.#sweep ??= clock.after(audienceIdleMs / 2, () => {
      this.#sweep = undefined
      const now = clock.now()
      for (const [partition, audience] of this.#audiences) {
        if (audience.wasUsed) audience.lastUsed = now
        audience.wasUsed = false
        if (!audience.feed.isUsed && audience.lastUsed < now - audienceIdleMs) this.#closeAudience(partition, audience)
      }
      if (this.#audiences.size > 0) this.#sweepLater()
    })
  }

  #closeAudience(partition: string, audience: Audience): void {
    if (this.#audiences.get(partition) === audience) this.#audiences.delete(partition)
    audience.feed.close()
    audience.forget()
  }

  /** A list that is read while nobody hears of its changes may be old when it is there. */
  async #followFirst(audience: Audience, view: ServerView): Promise<void> {
    if (audience.following === undefined) {
      const following = audience.feed.follow(view.capabilities).then(
        () => audience.followed(),
        () => {
          audience.following = undefined
        },
      )
      audience.following = within(following, followFirstMs, this.#options.clock)
    }
    // What is read from now on may be older than the first change that is heard of.
    audience.hasReadEarly = true
    if (await audience.following) audience.hasReadEarly = false
  }

  #read(kind: ListKind, audience: Audience, context: CallContext): Promise<Kept<Listed>> {
    const { cache, limits } = this.#options
    const fetch = async (signal: AbortSignal): Promise<Fetched<Listed>> => {
      const list = await readList(this.port, kind, new ForwardedContext(context, { signal }), limits)
      const offer = makeOffer(list, this.#rulesOf(kind))
      this.#reportOffer(kind, audience, offer)
      if (list.stopped !== undefined) this.#reportStopped(kind, list.stopped)
      return { value: { offer, page: undefined }, hints: list.hints, size: sizeOf(offer) }
    }
    // One who leaves must not take the list from the others, nor from those who ask next.
    return cache.read(audience.ownerOf(kind, context.principal.id), '', fetch, this.#life.signal)
  }

  async #fetchPage(
    kind: ListKind,
    params: JsonRecord,
    audience: Audience,
    context: CallContext,
  ): Promise<Fetched<Listed>> {
    const page = await readPage(this.port, kind, params, context)
    const offer = makeOffer(readItems(kind, page.result), this.#rulesOf(kind))
    const isWhole = toText(params) === '{}' && !nextPage(page.result).more
    if (isWhole) this.#reportOffer(kind, audience, offer)
    else this.#reportDropped(kind, audience, offer.dropped)
    const fetched = { value: { offer, page }, hints: page.hints, size: sizeOf(offer) }
    return isWhole ? { ...fetched, also: { item: '', value: { offer, page: undefined } } } : fetched
  }

  #reportOffer(kind: ListKind, audience: Audience, offer: Offer): void {
    this.#reportDropped(kind, audience, offer.dropped)
    const before = audience.definitions.get(kind)
    audience.definitions.set(kind, offer.definitions)
    if (before === undefined) return
    const drift = driftOf(before, offer.definitions)
    if (!isDrift(drift)) return
    for (const change of ['appeared', 'vanished', 'changed'] as const) {
      const names = drift[change]
      if (names.length === 0) continue
      this.#options.onEvent?.({
        kind: 'list',
        level: change === 'changed' ? 'warning' : 'info',
        code: `${kind.member}-${change}`,
        backend: this.name,
        message: `${names.length} ${names.length === 1 ? kind.noun : `${kind.noun}s`} of ${JSON.stringify(this.name)} ${change}`,
        names: names.slice(0, maxNames).map((name) => name.slice(0, 128)),
      })
    }
  }

  /** Each fault once, for as long as it is there. */
  #reportDropped(kind: ListKind, audience: Audience, dropped: readonly DroppedItem[]): void {
    for (const { name, reason } of dropped) {
      if (!audience.isNewFault(`${kind.member} ${name} ${reason}`)) continue
      this.#options.onEvent?.({
        kind: 'list',
        level: 'warning',
        code: `${kind.noun.replaceAll(' ', '-')}-dropped`,
        backend: this.name,
        message: `The ${kind.noun} ${JSON.stringify(name)} of ${JSON.stringify(this.name)} is left out: ${reason}`,
        names: [name],
      })
    }
  }

  #reportStopped(kind: ListKind, reason: NonNullable<WholeList['stopped']>): void {
    this.#options.onEvent?.({
      kind: 'list',
      level: 'warning',
      code: 'list-cut-short',
      backend: this.name,
      message: `The ${kind.noun}s of ${JSON.stringify(this.name)} are a list without an end (${reason}); what was read of it is used`,
      names: [],
    })
  }
}

/** Names in one report. */
const maxNames = 100
function allowListOf(options: BackendPolicy['tools']): AllowList | undefined {
  return options === undefined || (options.allow === undefined && (options.deny ?? []).length === 0)
    ? undefined
    : createAllowList(options)
}

function sizeOf({ items, definitions }: Offer): number {
  let size = 0
  for (const definition of definitions.values()) size += definition.text.length
  return size + 100 * items.length
}
