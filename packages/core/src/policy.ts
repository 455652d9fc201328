import { type AllowList, type CreateAllowListOptions, type Principal, createAllowList } from '@atenea/mcpcompat'
import { DefinitionError } from './definition-error.ts'

/** Rules for names, or several sets of them that all have to allow one. */
export type NameRules = CreateAllowListOptions | readonly CreateAllowListOptions[]

/** What one principal may use. What is left out of it is allowed whole; globs, and deny wins. */
export interface Grants {
  /** By name. */
  readonly tools?: NameRules | undefined
  /** By name. */
  readonly prompts?: NameRules | undefined
  /** By URI as it came and as it reads without percent-encoding; templates by their text. */
  readonly resources?: NameRules | undefined
}

/**
 * Grants for everybody, or by principal. An object is read once: return the same one for the same grants, which saves work, and
 * another one for others. It belongs to the application: nothing that a client says or does changes it. A function that
 * throws, or that gives a promise, fails the call.
 */
export type Policy = Grants | ((principal: Principal) => Grants)

/** Grants, ready to be asked. */
export interface CompiledGrants {
  readonly tools: AllowList | undefined
  readonly prompts: AllowList | undefined
  readonly resources: (AllowList & { denies(text: string): boolean }) | undefined
}

/** Grants whose object was not seen before are told apart by their text; that many are remembered. */
const maxRemembered = 1000

/**
 * Gives each principal the view of its grants, made once for equal grants. `createView` gets `undefined` where everything is
 * allowed to everybody.
 */
export function createViews<View>(
  policy: Policy | undefined,
  createView: (grants: CompiledGrants | undefined) => View,
): (principal: Principal) => View {
  if (typeof policy !== 'function') {
    const view = createView(policy === undefined ? undefined : compileGrants(policy))
    return () => view
  }
  const byObject = new WeakMap<Grants, View>()
  const byText = new Map<string, View>()
  return (principal) => {
    const grants = policy(principal)
    let view = byObject.get(grants)
    if (view !== undefined) return view
    const compiled = compileGrants(grants)
    const text = JSON.stringify([grants.tools, grants.prompts, grants.resources])
    view = byText.get(text)
    if (view === undefined) {
      view = createView(compiled)
      if (byText.size >= maxRemembered) byText.clear()
      byText.set(text, view)
    }
    byObject.set(grants, view)
    return view
  }
}

function compileGrants(grants: Grants): CompiledGrants {
  checkMembers('policy', grants, ['tools', 'prompts', 'resources'])
  const compile = (name: keyof Grants): CompiledGrants['resources'] => {
    const rules = grants[name]
    if (rules === undefined) return undefined
    const sets = isList(rules) ? rules : [rules]
    for (const set of sets) checkMembers(`policy.${name}`, set, ['allow', 'deny'])
    const lists = sets.map((set) => createAllowList(set))
    return {
      allows: (text) => lists.every((list) => list.allows(text)),
      denies: (text) => lists.some((list) => list.denies(text)),
    }
  }
  return { tools: compile('tools'), prompts: compile('prompts'), resources: compile('resources') }
}

function isList(rules: NameRules): rules is readonly CreateAllowListOptions[] {
  return Array.isArray(rules)
}

/** What a policy does not name it allows, so a slip of the pen, or a promise in place of grants, must not go by unseen. */
function checkMembers(where: string, value: unknown, known: readonly string[]): void {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value) && !('then' in value)
  if (!isPlain)
    throw new DefinitionError(`${where} must be an object of ${known.join(', ')}, at once and not as a promise`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new DefinitionError(`${where} has no member "${unknown}"; there are ${known.join(', ')}`)
}
