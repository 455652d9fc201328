import { type CallContext, method, RpcError, rpcCode } from '@atenea/mcpcompat'
import type { BackendLists } from '../lists/backend-lists.ts'
import { resourceList, templateList } from '../lists/list-kind.ts'
import type { Offer } from '../lists/offer.ts'
import type { Patience } from '../lists/patience.ts'
import { resourceNotFound } from './unknown.ts'
import { ownersOfTemplate, ownersOfUri, type UriOffers } from './uri-owners.ts'

/** Finds the backends of a resource by what they list (BR-306). Uris are never rewritten. */
export class UriRoutes {
  readonly #all: readonly BackendLists[]
  readonly #byName: ReadonlyMap<string, BackendLists>
  readonly #patience: Patience

  constructor(all: ReadonlyMap<string, BackendLists>, patience: Patience) {
    this.#all = [...all.values()]
    this.#byName = all
    this.#patience = patience
  }

  /** Those that may serve a uri, the likeliest first; never none. An `RpcError` when nobody can, or when whoever could is not there. */
  async owners(uri: string, context: CallContext): Promise<readonly BackendLists[]> {
    const atHand = this.#all.flatMap((lists) => offersAtHand(lists, context))
    // With some of them alone, whoever was there first would be taken for the owner.
    if (atHand.length === this.#all.length) {
      const owners = this.#allowed(ownersOfUri(uri, atHand), uri)
      if (owners.length > 0) return owners
    }
    return this.#find(uri, context, (offers) => ownersOfUri(uri, offers))
  }

  /** The same for what a completion is about, which may be a template. */
  async ownersOfRef(uri: string, context: CallContext): Promise<readonly BackendLists[]> {
    return this.#find(uri, context, (offers) => {
      const owners = ownersOfTemplate(uri, offers)
      return owners.length > 0 ? owners : ownersOfUri(uri, offers)
    })
  }

  async #find(
    uri: string,
    context: CallContext,
    ownersIn: (offers: readonly UriOffers[]) => readonly string[],
  ): Promise<readonly BackendLists[]> {
    const known = await this.#look(context, 'known')
    const owners = this.#allowed(ownersIn(known.offers), uri)
    if (owners.length > 0) return owners
    // Lists may have changed without a word.
    const again = await this.#look(context, 'again')
    const found = this.#allowed(ownersIn(again.offers), uri)
    if (found.length > 0) return found
    // Servers serve more than they list. Where only one of them has resources there is no doubt whose it would be.
    const [only, ...others] = again.offers
    if (only !== undefined && others.length === 0 && again.missing.length === 0) {
      const alone = this.#allowed([only.backend], uri)
      if (alone.length > 0) return alone
    }
    if (again.missing.length === 0) throw resourceNotFound(uri)
    const names = again.missing.map((name) => JSON.stringify(name)).join(', ')
    throw new RpcError(
      rpcCode.internalError,
      `Nobody lists this resource; it may be one of ${names}, which cannot be asked now`,
    )
  }

  async #look(
    context: CallContext,
    read: 'known' | 'again',
  ): Promise<{ readonly offers: readonly UriOffers[]; readonly missing: readonly string[] }> {
    const offers: UriOffers[] = []
    const missing: string[] = []
    const all = await Promise.all(
      this.#all.map(async (lists) => {
        const wanted = readBoth(lists, context, read)
        return { lists, waited: await this.#patience.wait(lists, method.listResources, context, wanted) }
      }),
    )
    context.signal.throwIfAborted()
    for (const { lists, waited } of all) {
      if (waited.kind !== 'there') missing.push(lists.name)
      else if (waited.value !== undefined) offers.push(waited.value)
    }
    return { offers, missing }
  }

  #allowed(names: readonly string[], uri: string): readonly BackendLists[] {
    return names
      .map((name) => this.#byName.get(name) as BackendLists)
      .filter((lists) => lists.allows(resourceList, uri))
  }
}

/** What is known without asking. */
function offersAtHand(lists: BackendLists, context: CallContext): readonly UriOffers[] {
  const resources = lists.peek(resourceList, context)
  const templates = resources && lists.peek(templateList, context)
  return resources === undefined || templates === undefined ? [] : [{ backend: lists.name, resources, templates }]
}

/** `undefined` when the backend has no resources. */
async function readBoth(
  lists: BackendLists,
  context: CallContext,
  read: 'known' | 'again',
): Promise<UriOffers | undefined> {
  const view = await lists.view(context.principal, context)
  if (!view.has(method.readResource)) return undefined
  const of = (kind: typeof resourceList): Promise<Offer> => lists[read](kind, context)
  const [resources, templates] = await Promise.all([of(resourceList), of(templateList)])
  return { backend: lists.name, resources, templates }
}
