import {
  type Call,
  type CallContext,
  type Dispatcher,
  JsonText,
  type JsonRecord,
  method,
  type Outcome,
  type Principal,
  type ServerView,
  toText,
  type Viewer,
} from '@atenea/mcpcompat'
import { cacheHintsOf, memberOf, parseListenFilter, scanElements } from '@atenea/mcpcompat/transport'
import { withItems } from '../lists/list-items.ts'
import { type ListKind, listOf, promptList, resourceList, templateList, toolList } from '../lists/list-kind.ts'
import { completionRef, decidingText, withMember } from '../names/named-params.ts'
import { resourceNotFound, unknownName } from '../routing/unknown.ts'
import type { Granted } from './grants.ts'

/**
 * A server of which each principal may use a part. What is not granted is not listed, and is answered like what does not exist; what is
 * answered may differ by principal, so nobody may keep it for others (MC-CACHE-14). Methods that MCP does not define have no names that rules
 * could be about, and pass.
 */
export class GrantedServer implements Pick<Dispatcher, 'call' | 'view'> {
  readonly #inner: Pick<Dispatcher, 'call' | 'view'>
  readonly #grantedTo: (principal: Principal) => Granted

  constructor(inner: Pick<Dispatcher, 'call' | 'view'>, grantedTo: (principal: Principal) => Granted) {
    this.#inner = inner
    this.#grantedTo = grantedTo
  }

  call(call: Call, context: CallContext): Outcome | Promise<Outcome> {
    const granted = this.#grantedTo(context.principal)
    const kind = listOf(call.method)
    if (kind !== undefined) return this.#answer(call, context, (outcome) => listed(kind, outcome, granted))
    switch (call.method) {
      case method.callTool:
        assertNamed(toolList, granted.tools, decidingText(call.params, 'name'))
        break
      case method.getPrompt:
        assertNamed(promptList, granted.prompts, decidingText(call.params, 'name'))
        break
      case method.readResource: {
        const uri = decidingText(call.params, 'uri')
        if (!granted.uris.allows(uri)) throw resourceNotFound(uri)
        return this.#answer(call, context, ownOnly)
      }
      case method.complete:
        assertCompletable(call, granted)
        break
      case method.listen:
        return this.#inner.call(narrowed(call, granted), context)
    }
    return this.#inner.call(call, context)
  }

  view(principal: Principal, viewer?: Viewer): ServerView | Promise<ServerView> {
    const { tools } = this.#grantedTo(principal)
    const narrow = (view: ServerView): ServerView => ({
      ...view,
      headerPlan: (tool) => (tools.allows(tool) ? view.headerPlan(tool) : undefined),
    })
    const view = this.#inner.view(principal, viewer)
    return view instanceof Promise ? view.then(narrow) : narrow(view)
  }

  #answer(call: Call, context: CallContext, change: (outcome: Outcome) => Outcome): Outcome | Promise<Outcome> {
    const outcome = this.#inner.call(call, context)
    return outcome instanceof Promise ? outcome.then(change) : change(outcome)
  }
}

function assertNamed(kind: ListKind, names: Granted['tools'], name: string): void {
  if (!names.allows(name)) throw unknownName(kind, name)
}

function assertCompletable({ params }: Call, { prompts, uris, templates }: Granted): void {
  const ref = completionRef(params)
  if (ref.kind === 'prompt') assertNamed(promptList, prompts, ref.name)
  else if (!templates.allows(ref.uri) && !uris.allows(ref.uri)) throw resourceNotFound(ref.uri)
}

/** Resources that are not granted are left out, as those that cannot be subscribed are. */
function narrowed(call: Call, { uris }: Granted): Call {
  const { resourceSubscriptions: asked = [], ...types } = parseListenFilter(call.params)
  const resourceSubscriptions = asked.filter((uri) => uris.allows(uri))
  if (resourceSubscriptions.length === asked.length) return call
  const notifications = resourceSubscriptions.length > 0 ? { ...types, resourceSubscriptions } : types
  return { method: call.method, params: withMember(call.params, 'notifications', toText(notifications)) }
}

function listed(kind: ListKind, outcome: Outcome, granted: Granted): Outcome {
  if (outcome.kind !== 'result') return outcome
  const names =
    kind === toolList
      ? granted.tools
      : kind === promptList
        ? granted.prompts
        : kind === templateList
          ? granted.templates
          : kind === resourceList
            ? granted.uris
            : undefined
  const result = JsonText.is(outcome.value) ? outcome.value : JsonText.ofLine(toText(outcome.value))
  const list = result.member(kind.member)
  if (names === undefined || list?.text.trimStart().startsWith('[') !== true) return ownOnly(outcome)
  const items = scanElements(list.text).map(({ start, end }) => new JsonText(list.text.slice(start, end)))
  const kept = items.filter((item) => {
    const key = item.isObject && !item.duplicates.includes(kind.key) ? item.member(kind.key)?.value : undefined
    return typeof key === 'string' && names.allows(key)
  })
  return ownOnly(kept.length === items.length ? outcome : { ...outcome, value: withItems(kind, result, kept) })
}

/** The same result, for nobody but who asked. */
function ownOnly(outcome: Outcome): Outcome {
  if (outcome.kind !== 'result') return outcome
  const { value, hints = cacheHintsOf(value) } = outcome
  return { ...outcome, value: ownMember(value), hints: { ...hints, cacheScope: 'private' } }
}

function ownMember(value: JsonRecord): JsonRecord {
  return memberOf(value, 'cacheScope') === undefined ? value : withMember(value, 'cacheScope', '"private"')
}
