import {
  type Call,
  type CallContext,
  type OnDiagnostic,
  type Outcome,
  type Principal,
  RpcError,
  method,
  rpcCode,
  toObject,
} from '@atenea/mcpcompat'
import { checkParams } from '@atenea/mcpcompat/transport'
import type { Served } from './capabilities.ts'
import { type Completer, type CompletionTarget, type FallbackCompleter, createCompletion } from './completion.ts'
import type { HandlerRunner } from './handler-runner.ts'
import { getPrompt, unknownPrompt } from './prompts.ts'
import { type RateLimitOptions, createPrincipalLimit } from './rate-limit.ts'
import { requestFailure } from './request-failure.ts'
import { readResource, resourceNotFound } from './resources.ts'
import type { Subscriptions } from './subscriptions.ts'
import { callTool } from './tools.ts'
import type { View } from './view.ts'

export interface CreateRouterOptions {
  readonly served: Served
  readonly viewOf: (principal: Principal) => View
  readonly runner: HandlerRunner
  readonly subscriptions: Subscriptions
  readonly fallback: FallbackCompleter | undefined
  readonly rateLimit: RateLimitOptions | undefined
  readonly report: OnDiagnostic
}

/** The methods that a core answers. */
export interface Router {
  has(name: string): boolean
  /** An `RpcError` -32601 for a method that is unknown, or whose capability is not advertised (MC-ERR-12). */
  call(call: Call, context: CallContext): Outcome | Promise<Outcome>
}

type Route = (call: Call, context: CallContext) => Outcome | Promise<Outcome>

export function createRouter(options: CreateRouterOptions): Router {
  const { served, viewOf, runner, subscriptions } = options
  const limit = options.rateLimit === undefined ? undefined : createPrincipalLimit(options.rateLimit)
  const routes = new Map<string, Route>()

  if (served.tools) {
    routes.set(method.listTools, (call, { principal }) => viewOf(principal).tools.page(cursorOf(call)))
    routes.set(method.callTool, (call, context) => {
      if (limit !== undefined) limit(context.principal)
      return callTool(viewOf(context.principal).tools, runner, call, context)
    })
  }
  if (served.prompts) {
    routes.set(method.listPrompts, (call, { principal }) => viewOf(principal).prompts.page(cursorOf(call)))
    routes.set(method.getPrompt, (call, context) => getPrompt(viewOf(context.principal).prompts, runner, call, context))
  }
  if (served.resources) {
    routes.set(method.listResources, (call, { principal }) => viewOf(principal).resources.page(cursorOf(call)))
    routes.set(method.listResourceTemplates, (call, { principal }) =>
      viewOf(principal).resourceTemplates.page(cursorOf(call)),
    )
    routes.set(method.readResource, (call, context) => readResource(viewOf(context.principal), runner, call, context))
  }
  if (served.completions) {
    const complete = createCompletion({
      find: (ref, { principal }) => completersOf(ref, viewOf(principal)),
      fallback: options.fallback,
      runner,
      fail: requestFailure('completion', options.report),
    })
    routes.set(method.complete, (call, context) => {
      if (limit !== undefined) limit(context.principal)
      return complete(call, context)
    })
  }
  if (served.listen) routes.set(method.listen, (call, context) => subscriptions.listen(call, context))

  return {
    has: (name) => routes.has(name),
    call(call, context) {
      const route = routes.get(call.method)
      if (route === undefined) throw new RpcError(rpcCode.methodNotFound, `Method not found: ${call.method}`)
      return route(call, context)
    },
  }
}

function cursorOf({ method: name, params }: Call): string | undefined {
  const fault = checkParams(name, params)
  if (fault !== undefined) throw new RpcError(rpcCode.invalidParams, fault)
  return toObject(params).cursor as string | undefined
}

/** The completers of what a reference names, which is found as it is for getting and reading (field report F5). */
function completersOf(ref: CompletionTarget['ref'], view: View): ReadonlyMap<string, Completer | undefined> {
  if (ref.type === 'ref/prompt') {
    const prompt = view.prompts.find(ref.name)
    if (prompt === undefined) throw unknownPrompt(ref.name)
    return prompt.completers
  }
  const template = view.resourceTemplates.find(ref.uri)
  if (template !== undefined) return template.completers
  if (view.resource(ref.uri) === undefined) throw resourceNotFound(ref.uri)
  return noCompleters
}

/** A resource without variables has nothing to complete. */
const noCompleters: ReadonlyMap<string, undefined> = new Map()
