import type { Dispatcher, Implementation, OnDiagnostic, Seal } from '@atenea/mcpcompat'
import { capabilitiesOf, hasCompleter } from './capabilities.ts'
import type { FallbackCompleter } from './completion.ts'
import { DefinitionError } from './definition-error.ts'
import { createReport } from './diagnostics.ts'
import { HandlerRunner } from './handler-runner.ts'
import { type HintPlan, planHints } from './hints.ts'
import { type Policy, createViews } from './policy.ts'
import type { Prompt } from './prompt.ts'
import { type RegisteredPrompt, registerPrompt } from './prompts.ts'
import type { RateLimitOptions } from './rate-limit.ts'
import { type Registered, Registry } from './registry.ts'
import { createStateKeeper } from './request-state.ts'
import type { Resource, ResourceTemplate } from './resource.ts'
import { type RegisteredTemplate, registerResource, registerTemplate } from './resources.ts'
import { createRouter } from './router.ts'
import {
  type ListKind,
  type SubscriptionLimits,
  createSubscriptions,
  defaultSubscriptionLimits,
} from './subscriptions.ts'
import type { Tool } from './tool.ts'
import { registerTool } from './tools.ts'
import { View, type ViewSource } from './view.ts'

export interface CreateCoreOptions {
  /** Name and version of the server, and whatever else it says of itself. */
  readonly info: Implementation
  /** For the model: how to use the server as a whole. */
  readonly instructions?: string | undefined
  /**
   * What is served. A kind that is absent is not advertised and its methods do not exist; an empty list is a kind to which
   * something may be added later.
   */
  readonly tools?: readonly Tool[] | undefined
  readonly prompts?: readonly Prompt[] | undefined
  readonly resources?: readonly Resource[] | undefined
  readonly resourceTemplates?: readonly ResourceTemplate[] | undefined
  /**
   * Completes arguments that have no completer of their own. `true` advertises completion for prompts and templates that are
   * added later.
   */
  readonly completions?: FallbackCompleter | true | undefined
  /** Who may use what. Everything for everybody when absent. */
  readonly policy?: Policy | undefined
  /** Whether log messages of handlers go to clients that ask for them (MC-LOG-01). Default: no. */
  readonly logging?: boolean | undefined
  /** Lists whose changes are told to subscribers. Default: none. Only what is set here is advertised (MC-DISC-10). */
  readonly listChanged?: { readonly [K in ListKind]?: boolean | undefined } | undefined
  /** Whether single resources can be subscribed to; `resourceUpdated` then tells of changes. Default: no. */
  readonly subscribe?: boolean | undefined
  /** Whether a changed resource lies below a subscribed one, whose subscribers then hear of it. */
  readonly isPartOf?: ((changed: string, subscribed: string) => boolean) | undefined
  /** `false` turns subscriptions off: no list changes, no resource updates, no `subscriptions/listen`. */
  readonly listen?: boolean | undefined
  readonly subscriptionLimits?: Partial<SubscriptionLimits> | undefined
  /** Entries of a list that one page holds. Default: all on one page. */
  readonly pageSize?: number | undefined
  /** How long results stay good, and for whom. Default: not at all, for nobody else. Where `policy` is a function, lists and reads are always private. */
  readonly cacheHints?: Partial<HintPlan> | undefined
  /** Seals the state of asks. Default: a random key, with which an ask does not outlive the process. */
  readonly seal?: Seal | undefined
  /** Tool calls and completions that one principal may make (MC-TOOL-15, MC-CMP-05). Default: no limit but that of calls in flight. */
  readonly rateLimit?: RateLimitOptions | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
}

/** A server without a carrier: give it to a transport's serving loop, or call it. */
export interface Core extends Dispatcher {
  /** A `DefinitionError` when it cannot be served, when there is one of this name, or when the kind is not served. */
  addTool(tool: Tool): void
  addPrompt(prompt: Prompt): void
  addResource(resource: Resource): void
  addResourceTemplate(template: ResourceTemplate): void
  /** Whether there was one. Calls that run go on. */
  removeTool(name: string): boolean
  removePrompt(name: string): boolean
  removeResource(uri: string): boolean
  removeResourceTemplate(uriTemplate: string): boolean
  /** Tell subscribers that a list is not what it was. Adding and removing do that by themselves. */
  notifyToolsChanged(): void
  notifyPromptsChanged(): void
  notifyResourcesChanged(): void
  /** Tells subscribers that a resource is not what it was. */
  resourceUpdated(uri: string): void
}

/** Makes a server of tools, prompts and resources. A `DefinitionError` says which of them cannot be served, and what to do. */
export function createCore(options: CreateCoreOptions): Core {
  const report = createReport(options.onDiagnostic)
  checkPageSize(options.pageSize)
  const registries = {
    tools: registryOf('tool', options.tools, (tool) => registerTool(tool, report)),
    prompts: registryOf('prompt', options.prompts, (prompt) => registerPrompt(prompt, report)),
    resources: registryOf('resource', options.resources, (resource) => registerResource(resource, report)),
    resourceTemplates: registryOf('resource template', options.resourceTemplates, (template) =>
      registerTemplate(template, report),
    ),
  }
  const served = capabilitiesOf(options, registries)
  const differs = typeof options.policy === 'function'
  const source: ViewSource = {
    ...registries,
    info: options.info,
    instructions: options.instructions,
    pageSize: options.pageSize,
    capabilities: served.capabilities,
    has: (name) => router.has(name),
    hints: planHints(options.cacheHints),
    isPrivate: differs,
  }
  const viewOf = createViews(options.policy, (grants) => new View(source, grants))
  const subscriptions = createSubscriptions({
    limits: { ...defaultSubscriptionLimits, ...options.subscriptionLimits },
    grant: (filter, { principal }) => viewOf(principal).grant(filter),
    mayRead: differs ? (uri, { principal }) => viewOf(principal).allowsUri(uri) : () => true,
    isPartOf: options.isPartOf,
    report,
  })
  const router = createRouter({
    served,
    viewOf,
    subscriptions,
    runner: new HandlerRunner({ report, logging: served.logging, states: createStateKeeper(options.seal, report) }),
    fallback: typeof options.completions === 'function' ? options.completions : undefined,
    rateLimit: options.rateLimit,
    report,
  })

  const add = <T extends Registered>(kind: ListKind, registry: Registry<T>, item: T): void => {
    if (!served[kind]) {
      throw new DefinitionError(`this core serves no ${kind}; give createCore an empty list of them to add some later`)
    }
    registry.add(item)
    subscriptions.listChanged(kind)
  }

  const addCompletable = <T extends RegisteredPrompt | RegisteredTemplate>(
    kind: ListKind,
    registry: Registry<T>,
    item: T,
  ): void => {
    if (hasCompleter(item) && !served.completions) {
      throw new DefinitionError(
        `${item.handler.label} has completers, but this core does not advertise completion; give createCore completions: true`,
      )
    }
    add(kind, registry, item)
  }

  const remove = <T extends Registered>(kind: ListKind, registry: Registry<T>, key: string): boolean => {
    const removed = registry.remove(key)
    if (removed) subscriptions.listChanged(kind)
    return removed
  }

  const { tools, prompts, resources, resourceTemplates } = registries
  return {
    call: (call, context) => router.call(call, context),
    notify() {
      // Cancelling is the serving loop's; nothing else that a client tells changes anything here.
    },
    view: (principal) => viewOf(principal).server,
    drain: () => subscriptions.drain(),

    addTool: (tool) => add('tools', tools, registerTool(tool, report)),
    addPrompt: (prompt) => addCompletable('prompts', prompts, registerPrompt(prompt, report)),
    addResource: (resource) => add('resources', resources, registerResource(resource, report)),
    addResourceTemplate: (template) =>
      addCompletable('resources', resourceTemplates, registerTemplate(template, report)),
    removeTool: (name) => remove('tools', tools, name),
    removePrompt: (name) => remove('prompts', prompts, name),
    removeResource: (uri) => remove('resources', resources, uri),
    removeResourceTemplate: (uriTemplate) => remove('resources', resourceTemplates, uriTemplate),
    notifyToolsChanged: () => subscriptions.listChanged('tools'),
    notifyPromptsChanged: () => subscriptions.listChanged('prompts'),
    notifyResourcesChanged: () => subscriptions.listChanged('resources'),
    resourceUpdated: (uri) => subscriptions.resourceUpdated(uri),
  }
}

function registryOf<Definition, T extends Registered>(
  kind: string,
  definitions: readonly Definition[] | undefined,
  register: (definition: Definition) => T,
): Registry<T> {
  return new Registry(kind, (definitions ?? []).map(register))
}

function checkPageSize(pageSize: number | undefined): void {
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0)) {
    throw new DefinitionError(`pageSize must be an integer above 0, not ${pageSize}`)
  }
}
