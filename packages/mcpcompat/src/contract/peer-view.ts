import { isJsonObject, type JsonObject } from '../jsonrpc/json.ts'
import type { CacheHints } from './call.ts'
import type { Implementation, ServerView } from './dispatcher.ts'
import { method } from './methods.ts'

export interface PeerViewParts {
  readonly info: Implementation | undefined
  readonly instructions: string | undefined
  /** In the form of the modern revision. */
  readonly capabilities: JsonObject
  readonly hints?: CacheHints
}

/** The capability that a method belongs to; methods that are not here need none. */
const capabilityOf: ReadonlyMap<string, string | undefined> = new Map([
  [method.discover, undefined],
  [method.listen, undefined],
  [method.listTools, 'tools'],
  [method.callTool, 'tools'],
  [method.listPrompts, 'prompts'],
  [method.getPrompt, 'prompts'],
  [method.listResources, 'resources'],
  [method.listResourceTemplates, 'resources'],
  [method.readResource, 'resources'],
  [method.complete, 'completions'],
])

/** What a server offers, made of what it said about itself. A client knows no header plans: those are in the lists of tools. */
export function peerView(parts: PeerViewParts): ServerView {
  const { info, instructions, capabilities, hints } = parts
  return {
    info: info ?? { name: 'unknown', version: '0' },
    ...(instructions !== undefined && { instructions }),
    capabilities,
    ...(hints !== undefined && { hints }),
    has(name) {
      if (!capabilityOf.has(name)) return false
      const capability = capabilityOf.get(name)
      return capability === undefined || isJsonObject(capabilities[capability])
    },
    headerPlan: () => undefined,
  }
}
