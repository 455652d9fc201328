import {
  type Call,
  type CallContext,
  type HeaderPlan,
  type JsonRecord,
  method,
  type Outcome,
  type Principal,
  RpcError,
  rpcCode,
  type ServerView,
  toText,
  type Viewer,
} from '@atenea/mcpcompat'
import { memberOf, parseListenFilter } from '@atenea/mcpcompat/transport'
import type { BackendClient } from './backend-port.ts'
import type { BackendLists } from './lists/backend-lists.ts'
import { withItems } from './lists/list-items.ts'
import { type ListKind, listOf, promptList, resourceList, templateList, toolList } from './lists/list-kind.ts'
import { whileWanted } from './lists/patience.ts'
import { completionRef, decidingText, withMember, withPromptRef, withText } from './names/named-params.ts'
import { checkMirroredHeaders, hasHeaders } from './routing/mirrored-headers.ts'
import { NamedRoutes, type Route } from './routing/named-routes.ts'
import { isMissingResource } from './routing/not-found.ts'
import { resourceNotFound } from './routing/unknown.ts'
import type { WholeServer, WholeServerOptions } from './whole-server.ts'

export interface LoneBackendOptions extends WholeServerOptions {
  /** Whether any tool or prompt has another name than its own. */
  readonly isRenamed: boolean
}

/** A view with the plans of its tools, and whom it was made for. */
interface Shown {
  readonly of: ServerView
  readonly principal: Principal
  readonly peer: Viewer['peer']
  readonly view: ServerView
}

/** One backend as it is: names, cursors and bytes stay, save for what the configuration takes away or calls otherwise. */
export class LoneBackend implements WholeServer {
  readonly #lists: BackendLists
  readonly #clock: WholeServerOptions['clock']
  readonly #tools: NamedRoutes
  readonly #prompts: NamedRoutes
  /** Kinds of which not every name can just be handed on. */
  readonly #looksAt: ReadonlySet<ListKind>
  /** What was shown last, for whoever asks next is mostly the same. */
  #shown: Shown | undefined

  constructor({ lists, names, clock, isRenamed }: LoneBackendOptions) {
    const [only] = lists.values()
    const backend = only as BackendLists
    this.#lists = backend
    this.#clock = clock
    this.#tools = new NamedRoutes(toolList, names.tools, lists)
    this.#prompts = new NamedRoutes(promptList, names.prompts, lists)
    const kinds = [toolList, promptList, resourceList, templateList]
    this.#looksAt = new Set(kinds.filter((kind) => backend.restricts(kind) || (isRenamed && kind.key === 'name')))
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    switch (call.method) {
      case method.callTool:
        if (this.#looksAt.has(toolList)) return this.#named(this.#tools, call, context)
        return hasHeaders(context.hints) ? this.#mirrored(call, context) : this.#lists.port.call(call, context)
      case method.getPrompt:
        if (this.#looksAt.has(promptList)) return this.#named(this.#prompts, call, context)
        break
      case method.readResource:
        if (this.#looksAt.has(resourceList)) return this.#read(call, context)
        break
      case method.complete:
        return this.#complete(call, context)
      case method.listen:
        if (this.#looksAt.has(resourceList)) return this.#listen(call, context)
        break
    }
    const kind = listOf(call.method)
    return kind === undefined ? this.#lists.port.call(call, context) : this.#page(kind, call, context)
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    const view = this.#lists.view(principal, viewer)
    if (view instanceof Promise) return this.#viewLater(view, principal, viewer)
    // A session asks once, and should not be kept for longer than it lasts.
    if (viewer?.session !== undefined) return this.#withPlans(view, { principal, ...viewer })
    const peer = viewer?.peer
    const last = this.#shown
    if (last?.of === view && last.principal === principal && last.peer === peer) return last.view
    const shown = this.#withPlans(view, { principal, peer })
    this.#shown = { of: view, principal, peer, view: shown }
    return shown
  }

  async #viewLater(view: Promise<ServerView>, principal: Principal, viewer?: Viewer): Promise<ServerView> {
    return this.#withPlans(await view, { principal, ...viewer })
  }

  drain(): Promise<void> {
    return Promise.resolve()
  }

  #withPlans(view: ServerView, client: BackendClient): ServerView {
    return {
      ...view,
      headerPlan: (tool): HeaderPlan | undefined => this.#lists.peek(toolList, client)?.byName.get(tool)?.headerPlan,
    }
  }

  #named(routes: NamedRoutes, call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const name = decidingText(call.params, 'name')
    const route = routes.peek(name, context)
    return route === undefined ? this.#namedLater(routes, name, call, context) : this.#goTo(route, name, call, context)
  }

  async #namedLater(routes: NamedRoutes, name: string, call: Call, context: CallContext): Promise<Outcome> {
    const route = await routes.find(name, context)
    if (route.offered !== undefined) checkMirroredHeaders(route.offered, call, context)
    return await this.#goTo(route, name, call, context)
  }

  #goTo({ own }: Route, name: string, call: Call, context: CallContext): Outcome | Promise<Outcome> {
    if (own === name) return this.#lists.port.call(call, context)
    return this.#lists.port.call({ method: call.method, params: withText(call.params, 'name', own) }, context)
  }

  /** A tool call with headers, which have to say what its arguments say as soon as it is known which ones they mirror. */
  #mirrored(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    // Once the list is known the carrier has looked.
    if (this.#lists.peek(toolList, context) !== undefined) return this.#lists.port.call(call, context)
    return this.#mirroredLater(call, context)
  }

  async #mirroredLater(call: Call, context: CallContext): Promise<Outcome> {
    const name = memberOf(call.params, 'name')
    try {
      const offer = await whileWanted(this.#lists.known(toolList, context), context)
      const offered = typeof name === 'string' ? offer.byName.get(name) : undefined
      if (offered !== undefined) checkMirroredHeaders(offered, call, context)
    } catch (error) {
      // A backend that cannot list may still do what it is asked; what is wrong with it shows in the call.
      if (context.signal.aborted || isHeaderFault(error)) throw error
    }
    return await this.#lists.port.call(call, context)
  }

  async #read(call: Call, context: CallContext): Promise<Outcome> {
    const uri = decidingText(call.params, 'uri')
    if (!this.#lists.allows(resourceList, uri)) throw resourceNotFound(uri)
    try {
      return await this.#lists.port.call(call, context)
    } catch (error) {
      // In the words of what is not allowed, so that one cannot be told from the other.
      throw isMissingResource(error, uri) ? resourceNotFound(uri) : error
    }
  }

  #complete(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    if (!this.#looksAt.has(promptList) && !this.#looksAt.has(resourceList)) return this.#lists.port.call(call, context)
    const ref = completionRef(call.params)
    if (ref.kind === 'resource') {
      if (!this.#lists.allows(resourceList, ref.uri)) throw resourceNotFound(ref.uri)
      return this.#lists.port.call(call, context)
    }
    return this.#looksAt.has(promptList)
      ? this.#completePrompt(ref.name, call, context)
      : this.#lists.port.call(call, context)
  }

  async #completePrompt(name: string, call: Call, context: CallContext): Promise<Outcome> {
    const { own } = this.#prompts.peek(name, context) ?? (await this.#prompts.find(name, context))
    const params = own === name ? call.params : withPromptRef(call.params, own)
    return await this.#lists.port.call({ method: call.method, params }, context)
  }

  /** Resources that are not allowed are left out, as those that cannot be subscribed are. */
  #listen(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const { resourceSubscriptions: uris = [], ...types } = parseListenFilter(call.params)
    const allowed = uris.filter((uri) => this.#lists.allows(resourceList, uri))
    if (allowed.length === uris.length) return this.#lists.port.call(call, context)
    const notifications = allowed.length > 0 ? { ...types, resourceSubscriptions: allowed } : types
    const params = withMember(call.params, 'notifications', toText(notifications))
    return this.#lists.port.call({ method: call.method, params }, context)
  }

  async #page(kind: ListKind, call: Call, context: CallContext): Promise<Outcome> {
    const { kept, wasKept } = await this.#lists.page(kind, call.params, context)
    const { page, offer } = kept.value
    const result = page?.result ?? {}
    const isWhole = !this.#looksAt.has(kind) && offer.dropped.length === 0
    const shown = isWhole
      ? result
      : withItems(
          kind,
          result,
          offer.items.map(({ text }) => text),
        )
    if (!wasKept) return { kind: 'result', value: shown, hints: kept.hints }
    const ttlMs = Math.max(0, Math.floor(kept.receivedAt + kept.hints.ttlMs - this.#clock.now()))
    return { kind: 'result', value: withTtl(shown, ttlMs), hints: { ...kept.hints, ttlMs } }
  }
}

/** What has been kept for a while is good for as much less. */
function withTtl(result: JsonRecord, ttlMs: number): JsonRecord {
  if (memberOf(result, 'ttlMs') === undefined) return result
  return withMember(result, 'ttlMs', String(ttlMs))
}

function isHeaderFault(error: unknown): boolean {
  return RpcError.is(error) && error.code === rpcCode.headerMismatch
}
