import { type CallContext, RpcError } from '@atenea/mcpcompat'
import type { BackendClient } from '../backend-port.ts'
import type { BackendLists } from '../lists/backend-lists.ts'
import type { ListKind } from '../lists/list-kind.ts'
import type { Offer, Offered } from '../lists/offer.ts'
import { whileWanted } from '../lists/patience.ts'
import type { NameScheme } from '../names/name-scheme.ts'
import { ambiguousName, refusedByPins, unknownName } from './unknown.ts'

/** Whom a name belongs to. */
export interface Route {
  readonly lists: BackendLists
  /** What the backend calls it. */
  readonly own: string
  /** As it was offered; `undefined` when the backend cannot list and is asked all the same. */
  readonly offered: Offered | undefined
}

/** A place where a name may belong. */
interface Place {
  readonly lists: BackendLists
  readonly own: string | undefined
}

/** Finds the backend of a tool or a prompt by the name that clients use, and by the lists of those that it can belong to. */
export class NamedRoutes {
  readonly #kind: ListKind
  readonly #names: NameScheme
  readonly #lists: ReadonlyMap<string, BackendLists>

  constructor(kind: ListKind, names: NameScheme, lists: ReadonlyMap<string, BackendLists>) {
    this.#kind = kind
    this.#names = names
    this.#lists = lists
  }

  /** The route as far as it is known; `undefined` when lists have to be read first. */
  peek(name: string, client: BackendClient): Route | undefined {
    const [place, ...others] = this.#places(name)
    if (place === undefined || others.length > 0) return undefined
    const offered = place.lists.peek(this.#kind, client)?.byName.get(name)
    return offered === undefined ? undefined : { lists: place.lists, own: offered.own, offered }
  }

  /** An `RpcError` for a name that belongs to nobody, to several, or to something that pins refuse. */
  async find(name: string, context: CallContext): Promise<Route> {
    const places = this.#places(name)
    const known = await this.#look(places, context, (lists) => lists.known(this.#kind, context))
    const first = this.#routeIn(known, name)
    if (first !== undefined) return first
    // Lists may have changed without a word; what is not allowed is not worth asking for.
    const again = await this.#look(places, context, (lists) => lists.again(this.#kind, context))
    const second = this.#routeIn(again, name)
    if (second !== undefined) return second
    for (const { offer } of again) {
      const reason = offer?.refused.get(name)
      if (reason !== undefined) throw refusedByPins(this.#kind, name, reason)
    }
    const failed = again.find(({ error }) => error !== undefined)
    if (failed === undefined) throw unknownName(this.#kind, name)
    const { lists, own, error } = failed
    // A backend that cannot list may still do what it is asked.
    if (own !== undefined && RpcError.is(error) && !lists.restricts(this.#kind))
      return { lists, own, offered: undefined }
    throw error as Error
  }

  #places(name: string): readonly Place[] {
    return this.#names.candidates(name).flatMap(({ backend, own }) => {
      const lists = this.#lists.get(backend)
      if (lists === undefined || (own !== undefined && !lists.allows(this.#kind, own))) return []
      return [{ lists, own }]
    })
  }

  #look(
    places: readonly Place[],
    context: CallContext,
    read: (lists: BackendLists) => Promise<Offer>,
  ): Promise<readonly Seen[]> {
    return Promise.all(
      places.map(async (place): Promise<Seen> => {
        try {
          return { ...place, offer: await whileWanted(read(place.lists), context), error: undefined }
        } catch (error) {
          if (context.signal.aborted) throw error
          return { ...place, offer: undefined, error }
        }
      }),
    )
  }

  #routeIn(seen: readonly Seen[], name: string): Route | undefined {
    const routes = seen.flatMap(({ lists, offer }): Route[] => {
      const offered = offer?.byName.get(name)
      return offered === undefined ? [] : [{ lists, own: offered.own, offered }]
    })
    if (routes.length > 1) {
      throw ambiguousName(
        this.#kind,
        name,
        routes.map(({ lists }) => lists.name),
      )
    }
    return routes[0]
  }
}

interface Seen extends Place {
  readonly offer: Offer | undefined
  readonly error: unknown
}
