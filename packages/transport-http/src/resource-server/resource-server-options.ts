import type { OnDiagnostic } from '@atenea/mcpcompat'
import { type Clock, systemClock } from '@atenea/mcpcompat/transport'
import { isSecureUrl } from '../auth/secure-url.ts'
import { safeUrl } from '../safe-url.ts'
import type { HttpSend } from '../send.ts'
import type { IntrospectionClient } from './introspection-checker.ts'
import { asymmetricAlgorithms } from './jwt-checker.ts'

export interface CreateResourceServerOptions {
  /** The authorization server whose tokens are taken, exactly as it calls itself. */
  readonly issuer: string
  /** What tokens have to be issued for: `aud` names one of these, byte for byte. Usually the URL of the endpoint. */
  readonly audience: string | readonly string[]
  /** The URL of the endpoint as clients know it. Default: the first audience. */
  readonly resource?: string | undefined
  /** Scopes that every token has to have. */
  readonly requiredScopes?: readonly string[] | undefined
  /** Scopes beyond those that clients should ask for when they sign in, since what they may do depends on them. */
  readonly offeredScopes?: readonly string[] | undefined
  /** Asks the issuer about each token (RFC 7662). Absent: tokens are JWTs and verified with the keys of the issuer. */
  readonly introspection?: IntrospectionClient | undefined
  /** Where the keys are, for an issuer without metadata. */
  readonly jwksUri?: string | undefined
  /** Algorithms of signatures that are taken, of `asymmetricAlgorithms`. Default: all of those. */
  readonly algorithms?: readonly string[] | undefined
  /** How far clocks may differ, in milliseconds. Default 60,000. */
  readonly clockToleranceMs?: number | undefined
  /** How long keys and metadata are used before they are asked for again, in milliseconds. Default 10 minutes. */
  readonly keyMaxAgeMs?: number | undefined
  /** How long they are used beyond that while the issuer cannot be reached. Default one hour. */
  readonly keyStaleMs?: number | undefined
  /** Shortest time between two questions for keys that tokens with unknown keys cause. Default 30,000. */
  readonly keyCooldownMs?: number | undefined
  /** For an answer of the issuer. Default 5,000. */
  readonly timeoutMs?: number | undefined
  /** For people, in the metadata document. */
  readonly resourceName?: string | undefined
  readonly resourceDocumentation?: string | undefined
  /** How the issuer is asked. Default: by `fetch`. */
  readonly send?: HttpSend | undefined
  readonly onDiagnostic?: OnDiagnostic | undefined
  readonly clock?: Clock | undefined
  /** Milliseconds since 1970. Default: those of the platform. */
  readonly now?: (() => number) | undefined
}

/** The options, found to be possible, with what they stand for. */
export interface CheckedOptions extends CreateResourceServerOptions {
  readonly audiences: readonly [string, ...string[]]
  readonly requiredScopes: readonly string[]
  readonly offeredScopes: readonly string[]
  readonly algorithms: readonly string[]
  readonly clock: Clock
  readonly now: () => number
}

/** Throws a `TypeError` for options that cannot work. */
export function checkOptions(options: CreateResourceServerOptions): CheckedOptions {
  const { issuer, jwksUri, introspection, algorithms = asymmetricAlgorithms } = options
  const { requiredScopes = [], offeredScopes = [] } = options
  const [first, ...more] = typeof options.audience === 'string' ? [options.audience] : options.audience
  if (first === undefined || [first, ...more].includes('')) throw new TypeError('an audience is needed')
  if (!isSecureUrl(issuer) || new URL(issuer).search !== '') {
    throw new TypeError(
      `the issuer must be an https URL, or an http one on this machine, without a query: ${safeUrl(issuer)}`,
    )
  }
  for (const [name, url] of [
    ['jwksUri', jwksUri] as const,
    ['introspection.endpoint', introspection?.endpoint] as const,
  ]) {
    if (url !== undefined && !isSecureUrl(url)) {
      throw new TypeError(`${name} must be an https URL, or an http one on this machine: ${safeUrl(url)}`)
    }
  }
  const resource = options.resource ?? first
  if (!isHttpUrl(resource)) {
    throw new TypeError(
      `the resource must be the http or https URL of the endpoint, without credentials, query or fragment`,
    )
  }
  const weak = algorithms.find((name) => !asymmetricAlgorithms.includes(name))
  if (weak !== undefined || algorithms.length === 0) {
    throw new TypeError(`algorithms must be some of ${asymmetricAlgorithms.join(', ')}: ${weak ?? 'none is named'}`)
  }
  for (const scope of [...requiredScopes, ...offeredScopes]) {
    if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(scope))
      throw new TypeError(`no scope can be called ${JSON.stringify(scope)}`)
    // a refresh token is the client's affair and not a need of a resource
    if (scope === 'offline_access') throw new TypeError('offline_access is no scope of a resource')
  }
  return {
    ...options,
    audiences: [first, ...more],
    requiredScopes,
    offeredScopes,
    algorithms,
    clock: options.clock ?? systemClock,
    now: options.now ?? Date.now,
  }
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}
