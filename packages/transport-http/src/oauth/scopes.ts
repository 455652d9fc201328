import type { AuthChallenge } from '../auth/challenge.ts'

/** The scopes of a list that is separated by spaces; `undefined` for no list. */
export function parseScope(text: string | undefined): readonly string[] | undefined {
  const scopes = text?.split(/\s+/).filter((scope) => scope !== '')
  return scopes === undefined || scopes.length === 0 ? undefined : scopes
}

/** What the server wants for this request. */
export function challengedScopes(challenges: readonly AuthChallenge[]): readonly string[] | undefined {
  for (const { scheme, parameters } of challenges) {
    if (scheme !== 'bearer' && scheme !== 'dpop') continue
    const scopes = parseScope(parameters.get('scope'))
    if (scopes !== undefined) return scopes
  }
  return undefined
}

export interface WantedScopes {
  /** Asked for when the present sign-in was made; they are kept, since a challenge names only what one request needs. */
  readonly before: readonly string[] | undefined
  readonly challenged: readonly string[] | undefined
  /** `scopes_supported` of the resource. */
  readonly supported: readonly string[] | undefined
  /** Whether to ask for a sign-in that outlives its first token. */
  readonly offline: boolean
  /** `scopes_supported` of the authorization server. */
  readonly offered: readonly string[] | undefined
}

/** The scopes to ask for, in the order of the specification; `undefined` leaves it to the authorization server. */
export function wantedScopes(wanted: WantedScopes): readonly string[] | undefined {
  const base = wanted.challenged ?? wanted.supported
  const all = [...new Set([...(wanted.before ?? []), ...(base ?? [])])]
  if (all.length === 0) return undefined
  if (wanted.offline && wanted.offered?.includes(offlineScope) === true && !all.includes(offlineScope)) {
    all.push(offlineScope)
  }
  return all
}

/** OpenID Connect Core, section 11. */
export const offlineScope = 'offline_access'
