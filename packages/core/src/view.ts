import type { CacheHints, HeaderPlan, Implementation, JsonObject, ServerView } from '@atenea/mcpcompat'
import { type SubscriptionFilter, grantFilter } from '@atenea/mcpcompat/transport'
import type { HintPlan, HintedResult } from './hints.ts'
import { Listing } from './listing.ts'
import type { CompiledGrants } from './policy.ts'
import type { RegisteredPrompt } from './prompts.ts'
import type { Registered, Registry } from './registry.ts'
import {
  type ReadView,
  type RegisteredResource,
  type RegisteredTemplate,
  decodeUri,
  isAbsoluteUri,
  matchTemplate,
} from './resources.ts'
import type { RegisteredTool } from './tools.ts'

/** What all views of one core have in common. */
export interface ViewSource {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly capabilities: JsonObject
  /** Whether a method is answered. */
  readonly has: (method: string) => boolean
  readonly tools: Registry<RegisteredTool>
  readonly prompts: Registry<RegisteredPrompt>
  readonly resources: Registry<RegisteredResource>
  readonly resourceTemplates: Registry<RegisteredTemplate>
  readonly hints: HintPlan
  readonly pageSize: number | undefined
  /** Whether views differ by principal, so that no result may be shared between them (MC-CACHE-14, MC-CACHE-20). */
  readonly isPrivate: boolean
}

/** What one principal may see and use of a core. Everything that a request names is looked up here and nowhere else. */
export class View implements ReadView {
  readonly tools: Listing<RegisteredTool>
  readonly prompts: Listing<RegisteredPrompt>
  readonly resources: Listing<RegisteredResource>
  readonly resourceTemplates: Listing<RegisteredTemplate>
  /** What discovery and the handshake are made from. */
  readonly server: ServerView
  readonly isPrivate: boolean
  readonly readHints: CacheHints
  readonly #source: ViewSource
  readonly #grants: CompiledGrants | undefined

  constructor(source: ViewSource, grants: CompiledGrants | undefined) {
    this.#source = source
    this.#grants = grants
    this.isPrivate = source.isPrivate
    this.readHints = this.#hints('read')
    const { tools, prompts, resources } = grants ?? {}
    this.tools = this.#listing('tools', tools && ((tool) => tools.allows(tool.key)))
    this.prompts = this.#listing('prompts', prompts && ((prompt) => prompts.allows(prompt.key)))
    this.resources = this.#listing('resources', resources && ((resource) => this.allowsUri(resource.key)))
    this.resourceTemplates = this.#listing('resourceTemplates', resources && ((item) => resources.allows(item.key)))
    this.server = this.#serverView()
  }

  resource(uri: string): RegisteredResource | undefined {
    return this.resources.find(uri)
  }

  template(uri: string): ReturnType<ReadView['template']> {
    if (!this.allowsUri(uri)) return undefined
    const found = matchTemplate(this.#source.resourceTemplates.items.values(), uri)
    // A rule may allow single URIs of a template that it does not show, but one that names a template denies all of it.
    return found === undefined || this.#grants?.resources?.denies(found.item.key) === true ? undefined : found
  }

  /** Whether rules allow a URI: as it came, and without percent-encoding, behind which it could hide. */
  allowsUri(uri: string): boolean {
    const rules = this.#grants?.resources
    if (rules === undefined) return true
    const decoded = decodeUri(uri)
    return rules.allows(uri) && decoded !== undefined && rules.allows(decoded)
  }

  /** Whether there is such a resource for this principal. */
  hasResource(uri: string): boolean {
    return isAbsoluteUri(uri) && (this.resource(uri) !== undefined || this.template(uri) !== undefined)
  }

  /** The part of a filter that this principal may have; resources that it could not read are left out (MC-SUB-05). */
  grant(filter: SubscriptionFilter): SubscriptionFilter {
    const { resourceSubscriptions: asked, ...granted } = grantFilter(filter, this.#source.capabilities)
    const uris = asked?.filter((uri) => this.hasResource(uri)) ?? []
    return uris.length === 0 ? granted : { ...granted, resourceSubscriptions: uris }
  }

  #listing<K extends 'tools' | 'prompts' | 'resources' | 'resourceTemplates'>(
    member: K,
    allows: ((item: ItemOf<K>) => boolean) | undefined,
  ): Listing<ItemOf<K>> {
    const registry = this.#source[member] as unknown as Registry<ItemOf<K>>
    return new Listing({ registry, member, allows, pageSize: this.#source.pageSize, hints: this.#hints(member) })
  }

  #hints(about: HintedResult): CacheHints {
    const hints = this.#source.hints[about]
    return this.#source.isPrivate ? { ttlMs: hints.ttlMs, cacheScope: 'private' } : hints
  }

  #serverView(): ServerView {
    const { info, instructions, capabilities, has } = this.#source
    return {
      info,
      ...(instructions !== undefined && { instructions }),
      capabilities,
      // The same for everybody, whatever they may use.
      hints: this.#source.hints.discover,
      has,
      headerPlan: (tool: string): HeaderPlan | undefined => this.tools.find(tool)?.headerPlan,
    }
  }
}

type ItemOf<K extends 'tools' | 'prompts' | 'resources' | 'resourceTemplates'> =
  ViewSource[K] extends Registry<infer T extends Registered> ? T : never
