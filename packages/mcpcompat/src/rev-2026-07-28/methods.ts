import { method } from '../contract/methods.ts'

/** What this revision says about one of its methods. */
export interface MethodRule {
  /** Complete results carry `ttlMs` and `cacheScope` (MC-CACHE-01). */
  readonly cacheable: boolean
  /** A server gives the same result object again and again, so its wire form is worth keeping. */
  readonly steady: boolean
}

const plain: MethodRule = { cacheable: false, steady: false }
const list: MethodRule = { cacheable: true, steady: true }

/** The methods of this revision. One that is not here does not exist in it (MC-DEP-02). */
export const methods: ReadonlyMap<string, MethodRule> = new Map<string, MethodRule>([
  [method.discover, list],
  [method.listTools, list],
  [method.listPrompts, list],
  [method.listResources, list],
  [method.listResourceTemplates, list],
  [method.callTool, plain],
  [method.getPrompt, plain],
  [method.readResource, { cacheable: true, steady: false }],
  [method.complete, plain],
  [method.listen, plain],
])
