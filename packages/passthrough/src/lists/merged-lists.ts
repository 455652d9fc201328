import {
  type CacheHints,
  type Call,
  type CallContext,
  mergeHints,
  noCache,
  type Outcome,
  RpcError,
  rpcCode,
} from '@atenea/mcpcompat'
import type { Clock } from '@atenea/mcpcompat/transport'
import type { OnPassthroughEvent } from '../events.ts'
import type { BackendLists, Listed } from './backend-lists.ts'
import type { Kept } from './list-cache.ts'
import type { ListKind } from './list-kind.ts'
import { type MergedList, type MergedListLimits, mergeOffers } from './merged-list.ts'
import type { Offer } from './offer.ts'
import { type Patience, type Waited, whileWanted } from './patience.ts'
import { cursorOf } from './read-list.ts'

export interface MergedListsOptions {
  readonly all: readonly BackendLists[]
  readonly patience: Patience
  readonly limits: MergedListLimits | undefined
  readonly clock: Clock
  readonly onEvent: OnPassthroughEvent | undefined
}

/** What one backend adds to a list. */
interface Part {
  readonly lists: BackendLists
  readonly offer: Offer
  readonly hints: CacheHints
}

interface Merged {
  readonly kind: ListKind
  readonly offers: readonly Offer[]
  readonly list: MergedList
}

/** An empty list would be taken for the truth. */
function nothingToList(kind: ListKind, isMissing: boolean, failure: { readonly error: unknown } | undefined): unknown {
  if (failure !== undefined) return failure.error
  return isMissing
    ? new RpcError(rpcCode.internalError, `No backend answered ${kind.method} in time`)
    : new RpcError(rpcCode.methodNotFound, `Method not found: ${kind.method}`)
}

/** Merged lists that are kept, so that the next caller and the next page get the same text. */
const maxMerged = 16

/** Answers the list methods for several backends. One that is slow or down is left out and reported; it never keeps the others back. */
export class MergedLists {
  readonly #options: MergedListsOptions
  readonly #merged: Merged[] = []
  readonly #reported = new Set<string>()

  constructor(options: MergedListsOptions) {
    this.#options = options
  }

  async list(kind: ListKind, call: Call, context: CallContext): Promise<Outcome> {
    const cursor = cursorOf(call.params)
    const waits = await whileWanted(
      Promise.all(this.#options.all.map((lists) => this.#wait(kind, lists, cursor !== undefined, context))),
      context,
    )
    const parts: Part[] = []
    let missing = 0
    let failure: { readonly error: unknown } | undefined
    for (const [index, waited] of waits.entries()) {
      const lists = this.#options.all[index] as BackendLists
      if (waited.kind === 'there') {
        if (waited.value !== undefined)
          parts.push({ lists, offer: waited.value.value.offer, hints: this.#left(waited.value) })
        continue
      }
      missing++
      const old = lists.peek(kind, context)
      if (old !== undefined) parts.push({ lists, offer: old, hints: noCache })
      else if (waited.kind === 'failed') failure ??= waited
    }
    if (parts.length === 0) throw nothingToList(kind, missing > 0, failure)
    const hints = missing > 0 ? noCache : mergeHints(parts.map((part) => part.hints))
    return this.#merge(kind, parts).page(cursor, hints)
  }

  #wait(
    kind: ListKind,
    lists: BackendLists,
    goesOn: boolean,
    context: CallContext,
  ): Promise<Waited<Kept<Listed> | undefined>> {
    // Further pages are of the list that the first one was of, if that is still known.
    const offer = goesOn ? lists.peek(kind, context) : undefined
    const wanted: Promise<Kept<Listed> | undefined> =
      offer === undefined
        ? lists.current(kind, context)
        : Promise.resolve({ value: { offer, page: undefined }, hints: noCache, size: 0, receivedAt: 0 })
    return this.#options.patience.wait(lists, kind.method, context, wanted, () => lists.announce(kind, context))
  }

  /** What is left of the time for which a list is good. */
  #left({ hints, receivedAt }: Kept<unknown>): CacheHints {
    const leftMs = Math.floor(receivedAt + hints.ttlMs - this.#options.clock.now())
    return { ...hints, ttlMs: Math.max(0, leftMs) }
  }

  #merge(kind: ListKind, parts: readonly Part[]): MergedList {
    const offers = parts.map(({ offer }) => offer)
    const index = this.#merged.findIndex(
      (merged) =>
        merged.kind === kind &&
        merged.offers.length === offers.length &&
        merged.offers.every((offer, at) => offer === offers[at]),
    )
    const known = index < 0 ? undefined : this.#merged.splice(index, 1)[0]
    const merged = known ?? {
      kind,
      offers,
      list: mergeOffers(
        kind,
        parts.map(({ lists, offer }) => ({ backend: lists.name, offer })),
        this.#options.limits,
      ),
    }
    if (known === undefined) this.#report(kind, merged.list)
    this.#merged.push(merged)
    if (this.#merged.length > maxMerged) this.#merged.shift()
    return merged.list
  }

  /** Each collision once. */
  #report(kind: ListKind, { collisions }: MergedList): void {
    for (const { name, backends } of collisions) {
      const key = `${kind.member} ${name}`
      if (this.#reported.has(key) || this.#reported.size >= 1_000) continue
      this.#reported.add(key)
      const owners = backends.map((backend) => JSON.stringify(backend)).join(' and ')
      const outcome =
        kind.key === 'name'
          ? 'nobody gets it until one has another name'
          : `it is listed once and asked of ${JSON.stringify(backends[0])} first`
      this.#options.onEvent?.({
        kind: 'list',
        level: 'warning',
        code: `${kind.noun.replaceAll(' ', '-')}-collision`,
        backend: undefined,
        message: `The ${kind.noun} ${JSON.stringify(name)} is offered by ${owners}: ${outcome}`,
        names: [name],
      })
    }
  }
}
