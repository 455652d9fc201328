import { type CreateAllowListOptions, createAllowList, type Principal } from '@atenea/mcpcompat'
import type { PolicyRule } from './policy-rule.ts'

/** What somebody may use: each of the rules for a kind has to allow a name. */
export interface PrincipalGrants {
  readonly tools: readonly CreateAllowListOptions[]
  readonly prompts: readonly CreateAllowListOptions[]
  readonly resources: readonly CreateAllowListOptions[]
}

/** What is served at all, to whomever. */
export interface ServedNames {
  readonly tools: CreateAllowListOptions
  readonly prompts: CreateAllowListOptions
  readonly resources: CreateAllowListOptions
}

/** There are as many as sets of rules that some principal matches, which is few; but scopes come from outside. */
const maxRemembered = 1_000

/**
 * What each principal may use: what any rule for it enables, less what any of them disables, and nothing beyond what is served. Whoever
 * no rule is for may use nothing. The same rules give the same object.
 */
export function createPrincipalPolicy(
  served: ServedNames,
  rules: readonly PolicyRule[],
): (principal: Principal) => PrincipalGrants {
  const matchers = rules.map(matcher)
  const known = new Map<string, PrincipalGrants>()
  return (principal) => {
    const matching = matchers.flatMap((matches, index) => (matches(principal) ? [index] : []))
    const key = matching.join()
    let grants = known.get(key)
    if (grants === undefined) {
      if (known.size >= maxRemembered) known.clear()
      grants = union(
        served,
        rules.filter((_, index) => matching.includes(index)),
      )
      known.set(key, grants)
    }
    return grants
  }
}

function matcher({ principals, scopes = [] }: PolicyRule): (principal: Principal) => boolean {
  const names = createAllowList({ allow: principals?.map(literalQuestionMarks) })
  return ({ id, scopes: granted = [] }) => names.allows(id) && scopes.every((scope) => granted.includes(scope))
}

/**
 * In the name of a program, `ISSUER?client=ID`, the question mark is itself: as any one character it would also let in the person
 * `ISSUER#client=ID`.
 */
function literalQuestionMarks(glob: string): string {
  return glob.replaceAll(/\\.|\?/gs, (found) => (found === '?' ? '\\?' : found))
}

function union(served: ServedNames, rules: readonly PolicyRule[]): PrincipalGrants {
  return {
    tools: [served.tools, merged(rules, ({ enabledTools, disabledTools }) => [enabledTools, disabledTools])],
    prompts: [
      served.prompts,
      merged(rules, ({ enabledPrompts, disabledPrompts }) => [enabledPrompts, disabledPrompts]),
    ],
    resources: [
      served.resources,
      merged(rules, ({ enabledResources, disabledResources }) => [enabledResources, disabledResources]),
    ],
  }
}

type Globs = readonly string[] | undefined

function merged(
  rules: readonly PolicyRule[],
  of: (rule: PolicyRule) => readonly [enabled: Globs, disabled: Globs],
): CreateAllowListOptions {
  const pairs = rules.map(of)
  const everything = pairs.some(([enabled]) => enabled === undefined)
  return {
    allow: everything ? undefined : pairs.flatMap(([enabled = []]) => enabled),
    deny: pairs.flatMap(([, disabled = []]) => disabled),
  }
}
