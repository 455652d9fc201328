import { type AllowList, createAllowList, type CreateAllowListOptions, type Principal } from '@atenea/mcpcompat'

/** What one principal may use, by the names and uris that clients see: each set of rules has to allow it. */
export interface PrincipalGrants {
  readonly tools: readonly CreateAllowListOptions[]
  readonly prompts: readonly CreateAllowListOptions[]
  /** Uris of resources, and templates by their text. */
  readonly resources: readonly CreateAllowListOptions[]
}

/** Gives the same object for the same grants, which are then read once. */
export type GrantsOf = (principal: Principal) => PrincipalGrants

/** Grants, ready to be asked. */
export interface Granted {
  readonly tools: Pick<AllowList, 'allows'>
  readonly prompts: Pick<AllowList, 'allows'>
  readonly templates: Pick<AllowList, 'allows'>
  /** Of a uri as it came and as it reads without percent-encoding, behind which it could hide. */
  readonly uris: Pick<AllowList, 'allows'>
}

export function compileGrants(grantsOf: GrantsOf): (principal: Principal) => Granted {
  const known = new WeakMap<PrincipalGrants, Granted>()
  return (principal) => {
    const grants = grantsOf(principal)
    let granted = known.get(grants)
    if (granted === undefined) {
      granted = compile(grants)
      known.set(grants, granted)
    }
    return granted
  }
}

function compile({ tools, prompts, resources }: PrincipalGrants): Granted {
  const templates = all(resources)
  return {
    tools: all(tools),
    prompts: all(prompts),
    templates,
    uris: {
      allows(uri) {
        const decoded = decode(uri)
        return templates.allows(uri) && decoded !== undefined && templates.allows(decoded)
      },
    },
  }
}

function all(sets: readonly CreateAllowListOptions[]): Granted['tools'] {
  const lists = sets.map((set) => createAllowList(set))
  return { allows: (name) => lists.every((list) => list.allows(name)) }
}

function decode(uri: string): string | undefined {
  try {
    return decodeURIComponent(uri)
  } catch {
    return undefined
  }
}
