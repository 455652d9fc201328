import {
  type Call,
  type CallContext,
  type HeaderPlan,
  type Implementation,
  type JsonObject,
  method,
  type Outcome,
  type Principal,
  RpcError,
  rpcCode,
  type ServerView,
  type Viewer,
} from '@atenea/mcpcompat'
import { isOutcome } from '@atenea/mcpcompat/transport'
import type { BackendClient } from './backend-port.ts'
import { Listens } from './changes/listens.ts'
import type { BackendLists } from './lists/backend-lists.ts'
import { listOf, promptList, toolList } from './lists/list-kind.ts'
import type { MergedListLimits } from './lists/merged-list.ts'
import { MergedLists } from './lists/merged-lists.ts'
import { Patience } from './lists/patience.ts'
import { isBusy } from './failures.ts'
import { mergedView } from './merged-view.ts'
import { completionRef, decidingText, withPromptRef, withText } from './names/named-params.ts'
import { checkMirroredHeaders } from './routing/mirrored-headers.ts'
import { carriesState, forward } from './routing/forwarding.ts'
import { NamedRoutes, type Route } from './routing/named-routes.ts'
import { isMissingResource } from './routing/not-found.ts'
import { UriRoutes } from './routing/uri-routes.ts'
import { invalidState, type SealedAsks } from './sealed-asks.ts'
import type { WholeServer, WholeServerOptions } from './whole-server.ts'

export interface ManyBackendsOptions extends WholeServerOptions {
  readonly info: Implementation
  readonly asks: SealedAsks
  readonly waitMs: number
  readonly pageLimits: MergedListLimits
}

/** Several backends as one server. */
export class ManyBackends implements WholeServer {
  readonly #options: ManyBackendsOptions
  readonly #all: readonly BackendLists[]
  readonly #patience: Patience
  readonly #lists: MergedLists
  readonly #tools: NamedRoutes
  readonly #prompts: NamedRoutes
  readonly #uris: UriRoutes
  readonly #listens: Listens
  #lastView: { readonly capabilities: readonly JsonObject[]; readonly merged: ServerView } | undefined

  constructor(options: ManyBackendsOptions) {
    const { lists, names, clock, onEvent, onDiagnostic, waitMs, pageLimits } = options
    this.#options = options
    this.#all = [...lists.values()]
    this.#patience = new Patience({ waitMs, clock, onEvent })
    const { patience, all } = { patience: this.#patience, all: this.#all }
    this.#lists = new MergedLists({ all, patience, limits: pageLimits, clock, onEvent })
    this.#tools = new NamedRoutes(toolList, names.tools, lists)
    this.#prompts = new NamedRoutes(promptList, names.prompts, lists)
    this.#uris = new UriRoutes(lists, patience)
    this.#listens = new Listens({ all, uris: this.#uris, patience, clock, onDiagnostic })
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    switch (call.method) {
      case method.callTool:
        return this.#named(this.#tools, call, context)
      case method.getPrompt:
        return this.#named(this.#prompts, call, context)
      case method.readResource:
        return this.#read(call, context)
      case method.complete:
        return this.#complete(call, context)
      case method.listen:
        return this.#listens.listen(call, context)
    }
    const kind = listOf(call.method)
    return kind === undefined ? this.#other(call, context) : this.#lists.list(kind, call, context)
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    const client: BackendClient = { principal, peer: viewer?.peer, session: viewer?.session }
    const views: { backend: string; view: ServerView }[] = []
    for (const lists of this.#all) {
      const view = lists.view(principal, viewer)
      if (view instanceof Promise) {
        // Waited for below, together with the others.
        view.catch(() => undefined)
        return this.#viewLater(client)
      }
      views.push({ backend: lists.name, view })
    }
    return this.#merge(views, false, client)
  }

  drain(): Promise<void> {
    return this.#listens.drain()
  }

  // what is offered

  async #viewLater(client: BackendClient): Promise<ServerView> {
    const { principal } = client
    const waits = await Promise.all(
      this.#all.map(async (lists) => {
        const view = Promise.resolve(lists.view(principal, client))
        return { lists, waited: await this.#patience.wait(lists, method.discover, client, view) }
      }),
    )
    const isServed = waits.some(({ waited }) => waited.kind === 'there')
    const views: { backend: string; view: ServerView }[] = []
    let failure: { readonly error: unknown } | undefined
    for (const { lists, waited } of waits) {
      // A session in which nothing can be called is of no use; its client may come back when there is room.
      if (!isServed && waited.kind === 'failed' && isBusy(waited.error)) throw waited.error
      // What it offered before is what it will offer when it is back.
      const view = waited.kind === 'there' ? waited.value : lists.port.lastView
      if (view !== undefined) views.push({ backend: lists.name, view })
      else if (waited.kind === 'failed') failure ??= waited
    }
    if (views.length === 0 && failure !== undefined) throw failure.error
    const isPartial = waits.some(({ waited }) => waited.kind !== 'there')
    return this.#merge(views, isPartial, client)
  }

  #merge(
    views: readonly { backend: string; view: ServerView }[],
    isPartial: boolean,
    client: BackendClient,
  ): ServerView {
    const capabilities = views.map(({ view }) => view.capabilities)
    const last = this.#lastView
    const isSame =
      last !== undefined &&
      last.capabilities.length === capabilities.length &&
      last.capabilities.every((each, index) => each === capabilities[index])
    const headerPlan = (tool: string): HeaderPlan | undefined => this.#tools.peek(tool, client)?.offered?.headerPlan
    if (isSame && !isPartial) return { ...last.merged, headerPlan }
    const merged = mergedView({ info: this.#options.info, views, isPartial, headerPlan })
    if (!isPartial) this.#lastView = { capabilities, merged }
    return merged
  }

  // calls

  #named(routes: NamedRoutes, call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const name = decidingText(call.params, 'name')
    const route = routes.peek(name, context)
    return route === undefined ? this.#namedLater(routes, name, call, context) : this.#goTo(route, call, context)
  }

  async #namedLater(routes: NamedRoutes, name: string, call: Call, context: CallContext): Promise<Outcome> {
    const route = await routes.find(name, context)
    if (route.offered !== undefined) checkMirroredHeaders(route.offered, call, context)
    return this.#goTo(route, call, context)
  }

  #goTo({ lists, own }: Route, call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const renamed: Call = { method: call.method, params: withText(call.params, 'name', own) }
    return forward(lists.port, renamed, call, context, this.#options.asks)
  }

  async #read(call: Call, context: CallContext): Promise<Outcome> {
    const uri = decidingText(call.params, 'uri')
    const { asks } = this.#options
    const { resume } = context
    const opened = carriesState(resume) ? await asks.open(resume, call, context) : undefined
    const all = await this.#uris.owners(uri, context)
    const owners = opened === undefined ? all : all.filter(({ name }) => name === opened.backend)
    for (const [index, { port }] of owners.entries()) {
      try {
        return await forward(port, call, call, context, asks, opened)
      } catch (error) {
        // Reading changes nothing, so who may have it can be asked one after the other.
        if (!isMissingResource(error, uri) || index === owners.length - 1) throw error
      }
    }
    throw invalidState()
  }

  async #complete(call: Call, context: CallContext): Promise<Outcome> {
    const ref = completionRef(call.params)
    if (ref.kind === 'prompt') {
      const { lists, own } = this.#prompts.peek(ref.name, context) ?? (await this.#prompts.find(ref.name, context))
      return completeAt(lists, { method: call.method, params: withPromptRef(call.params, own) }, context)
    }
    const [owner] = await this.#uris.ownersOfRef(ref.uri, context)
    return completeAt(owner as BackendLists, call, context)
  }

  /** A method that this proxy does not know: for the one backend that says it does. */
  async #other(call: Call, context: CallContext): Promise<Outcome> {
    const views = await Promise.all(
      this.#all.map(async (lists) => {
        const view = Promise.resolve(lists.view(context.principal, context))
        return { lists, waited: await this.#patience.wait(lists, method.discover, context, view) }
      }),
    )
    const serving = views.filter(({ waited }) => waited.kind === 'there' && waited.value.has(call.method))
    const [only] = serving
    if (only === undefined || serving.length > 1) {
      throw new RpcError(rpcCode.methodNotFound, `Method not found: ${call.method}`)
    }
    return await only.lists.port.call(call, context)
  }
}

const noCompletion: Outcome = { kind: 'result', value: { completion: { values: [] } } }

/** A backend that completes nothing has nothing to say, though others have. */
async function completeAt(lists: BackendLists, call: Call, context: CallContext): Promise<Outcome> {
  const view = await lists.view(context.principal, context)
  if (!view.has(method.complete)) return noCompletion
  const outcome = lists.port.call(call, context)
  return isOutcome(outcome) ? outcome : await outcome
}
