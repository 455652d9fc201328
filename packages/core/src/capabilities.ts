import type { JsonObject } from '@atenea/mcpcompat'
import type { Completer } from './completion.ts'
import type { CreateCoreOptions } from './core.ts'

/** What a core serves, decided once when it is made. */
export interface Served {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  readonly completions: boolean
  readonly logging: boolean
  readonly listen: boolean
  /** In the form of the modern revision; exactly the above (MC-DISC-10). */
  readonly capabilities: JsonObject
}

interface Completable {
  readonly completers: ReadonlyMap<string, Completer | undefined>
}

interface CompletableRegistries {
  readonly prompts: { readonly items: ReadonlyMap<string, Completable> }
  readonly resourceTemplates: { readonly items: ReadonlyMap<string, Completable> }
}

/** What these options come to. Nothing is advertised that nothing is ever sent for (field report B14). */
export function capabilitiesOf(
  options: CreateCoreOptions,
  { prompts, resourceTemplates }: CompletableRegistries,
): Served {
  const listen = options.listen !== false
  const listChanged = listen ? (options.listChanged ?? {}) : {}
  const subscribe = listen && options.subscribe === true
  const served = {
    tools: options.tools !== undefined,
    prompts: options.prompts !== undefined,
    resources: options.resources !== undefined || options.resourceTemplates !== undefined,
    completions:
      options.completions !== undefined ||
      [...prompts.items.values(), ...resourceTemplates.items.values()].some(hasCompleter),
    logging: options.logging === true,
    listen,
  }
  const changes = (isTold: boolean | undefined): JsonObject => (isTold === true ? { listChanged: true } : {})
  const capabilities: JsonObject = {
    ...(served.tools && { tools: changes(listChanged.tools) }),
    ...(served.prompts && { prompts: changes(listChanged.prompts) }),
    ...(served.resources && {
      resources: { ...(subscribe && { subscribe: true }), ...changes(listChanged.resources) },
    }),
    ...(served.completions && { completions: {} }),
    ...(served.logging && { logging: {} }),
  }
  return { ...served, capabilities }
}

/** Whether some argument or variable has a completer of its own. */
export function hasCompleter({ completers }: Completable): boolean {
  return [...completers.values()].some((completer) => completer !== undefined)
}
