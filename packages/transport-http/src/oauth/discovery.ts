import { type AbortOptions, isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { AuthorizationServer } from 'oauth4webapi'
import type { AuthChallenge } from '../auth/challenge.ts'
import { safeUrl } from '../safe-url.ts'
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts'
import type { OAuthHttp } from './oauth-http.ts'
import { covers } from './resource.ts'
import { issuerMetadataUrls, resourceMetadataUrls } from './well-known.ts'

/** One document that was asked for on the way. */
export interface DiscoveryStep {
  readonly document: 'resource' | 'issuer'
  readonly url: string
  /** `undefined` when nothing came. */
  readonly status: number | undefined
  readonly outcome: 'used' | 'absent' | 'defective'
}

/** What the server says about itself. */
export interface ResourceInfo {
  /** The identifier as it is written in the document; tokens are asked for with exactly these characters. */
  readonly resource: string
  /** At least one. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
  /** Whether the server only takes tokens that are bound to a key (RFC 9449). */
  readonly wantsDpop: boolean
  /** The document; `undefined` for a server that has none. */
  readonly metadata: JsonObject | undefined
}

/** An authorization server whose metadata have been checked. */
export interface IssuerInfo {
  readonly issuer: string
  readonly metadata: AuthorizationServer
  /** Of a server that has no metadata as a resource: found at its root, or made up where there is nothing either. */
  readonly legacy: boolean
}

export interface DiscoverOptions extends AbortOptions {
  readonly http: OAuthHttp
  /** Hears of each document in the order in which it was asked for. */
  readonly onStep?: ((step: DiscoveryStep) => void) | undefined
}

/**
 * Finds the metadata of a protected resource: where the challenge says, else at the well-known places (RFC 9728). A server that has none is
 * its own authorization server, as the first rules for MCP had it. An `OAuthError` for a document that is not about this server.
 */
export async function discoverResource(
  serverUrl: string,
  challenges: readonly AuthChallenge[],
  options: DiscoverOptions,
): Promise<ResourceInfo> {
  const named = metadataUrlOf(challenges)
  // A server that names a place where nothing is may still have it where everybody looks.
  const urls = [...new Set([...(named === undefined ? [] : [named]), ...resourceMetadataUrls(serverUrl)])]
  for (const url of urls) {
    const metadata = await fetchJson(url, 'resource', options)
    if (metadata === undefined) continue
    return resourceInfo(metadata, serverUrl, url)
  }
  if (named !== undefined) {
    throw new OAuthError(
      'metadata',
      `${safeUrl(serverUrl)} names ${safeUrl(named)} as its metadata, which is not there, nor at the well-known places.`,
    )
  }
  return {
    resource: resourceOf(serverUrl),
    issuers: [new URL(serverUrl).origin],
    scopes: undefined,
    wantsDpop: false,
    metadata: undefined,
  }
}

function metadataUrlOf(challenges: readonly AuthChallenge[]): string | undefined {
  for (const { scheme, parameters } of challenges) {
    if (scheme === 'bearer' || scheme === 'dpop') {
      const url = parameters.get('resource_metadata')
      if (url !== undefined) return url
    }
  }
  return undefined
}

/** The identifier of a server that does not say it: its URL, without the slash of an empty path. */
function resourceOf(serverUrl: string): string {
  const url = new URL(serverUrl)
  url.hash = ''
  return url.pathname === '/' && url.search === '' ? url.origin : url.href
}

function resourceInfo(metadata: JsonObject, serverUrl: string, url: string): ResourceInfo {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = metadata
  const name = `The metadata ${safeUrl(url)}`
  if (typeof resource !== 'string') throw new OAuthError('metadata', `${name} name no resource.`)
  if (!covers(resource, serverUrl)) {
    throw new OAuthError(
      'resource-mismatch',
      `${name} are about ${safeUrl(resource)}, not about ${safeUrl(serverUrl)}: no token is asked for.`,
    )
  }
  // Else whoever serves one path of a host would get tokens for all of it, by a document from anywhere.
  if (!isSame(resource, serverUrl) && !isWellKnown(url, serverUrl)) {
    throw new OAuthError(
      'resource-mismatch',
      `${name} are about ${safeUrl(resource)}, which is more than ${safeUrl(serverUrl)}, and not at a well-known place of that host: no token is asked for.`,
    )
  }
  const issuers = textsOf(servers)
  if (issuers === undefined || issuers.length === 0) {
    throw new OAuthError('metadata', `${name} name no authorization server.`)
  }
  return {
    resource,
    issuers,
    scopes: textsOf(scopes),
    wantsDpop: metadata['dpop_bound_access_tokens_required'] === true,
    metadata,
  }
}

/** Whether a resource is the server itself, where a slash at the end makes no difference. */
function isSame(resource: string, serverUrl: string): boolean {
  return covers(resource, serverUrl) && covers(serverUrl, resource)
}

/** Whether a document is where only those who answer for the whole host of a server can put one. */
function isWellKnown(url: string, serverUrl: string): boolean {
  const { origin, pathname } = new URL(url)
  return origin === new URL(serverUrl).origin && pathname.startsWith('/.well-known/')
}

/**
 * Finds the metadata of an authorization server at the well-known places and checks that they are its own, character by character
 * (RFC 8414, section 3.3). `legacy` is for a server without resource metadata, whose endpoints can be guessed.
 */
export async function discoverIssuer(
  issuer: string,
  options: DiscoverOptions & { readonly legacy: boolean },
): Promise<IssuerInfo> {
  // The parser would mend what is compared, kept and shown as it is written.
  if (/[^\x21-\x7E]/.test(issuer)) {
    throw new OAuthError('metadata', 'The authorization server has characters in its name that no URL has.')
  }
  options.http.guard(issuer, 'authorization server')
  const { search, hash } = new URL(issuer)
  if (search !== '' || hash !== '') {
    throw new OAuthError(
      'metadata',
      `The authorization server ${safeUrl(issuer)} has a query or a fragment in its name.`,
    )
  }
  let mismatch: OAuthError | undefined
  for (const url of issuerMetadataUrls(issuer)) {
    const metadata = await fetchJson(url, 'issuer', options)
    if (metadata === undefined) continue
    if (metadata['issuer'] === issuer)
      return { issuer, metadata: checked(metadata, options.http), legacy: options.legacy }
    const said = metadata['issuer']
    const other = typeof said === 'string' ? `call themselves those of ${shown(said)}` : 'name no issuer'
    mismatch ??= new OAuthError(
      'issuer-mismatch',
      `The metadata ${safeUrl(url)} of ${shown(issuer)} ${other}: not used.`,
    )
  }
  if (mismatch !== undefined) throw mismatch
  if (options.legacy) return { issuer, metadata: guessed(issuer), legacy: true }
  throw new OAuthError(
    'metadata',
    `The authorization server ${safeUrl(issuer)} has no metadata at any of the well-known places.`,
  )
}

/** An issuer in words, where a slash at its end can be the whole difference. */
function shown(issuer: string): string {
  return JSON.stringify(issuer.slice(0, 200))
}

const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'device_authorization_endpoint',
  'revocation_endpoint',
] as const

function checked(metadata: JsonObject, http: OAuthHttp): AuthorizationServer {
  for (const name of endpoints) {
    const url = metadata[name]
    if (url === undefined) continue
    if (typeof url !== 'string') throw new OAuthError('metadata', `The ${name} of the authorization server is no URL.`)
    http.guard(url, name)
  }
  return metadata as unknown as AuthorizationServer
}

/** The endpoints that the first rules for MCP assume where nothing is said; PKCE was required there. */
function guessed(issuer: string): AuthorizationServer {
  const { origin } = new URL(issuer)
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
  }
}

/** The document as an object; `undefined` when there is none. */
async function fetchJson(
  url: string,
  document: DiscoveryStep['document'],
  { http, signal, onStep }: DiscoverOptions,
): Promise<JsonObject | undefined> {
  const what = document === 'resource' ? 'resource metadata' : 'metadata of the authorization server'
  let found: Awaited<ReturnType<OAuthHttp['document']>>
  try {
    found = await http.document(url, what, signal)
  } catch (error) {
    onStep?.({ document, url, status: undefined, outcome: 'defective' })
    throw error
  }
  const { status, text } = found
  const fail = (code: OAuthErrorCode, problem: string): never => {
    onStep?.({ document, url, status, outcome: 'defective' })
    throw new OAuthError(code, `The ${what} ${safeUrl(url)} ${problem}.`)
  }
  if (status >= 500 || status === 429) fail('unreachable', `could not be had (${status})`)
  if (status !== 200) {
    onStep?.({ document, url, status, outcome: 'absent' })
    return undefined
  }
  const value = parsed(text)
  // Many servers answer any path with a page for people.
  if (value === undefined && !/^\s*[{[]/.test(text)) {
    onStep?.({ document, url, status, outcome: 'absent' })
    return undefined
  }
  if (!isJsonObject(value)) return fail('metadata', 'are no JSON object')
  onStep?.({ document, url, status, outcome: 'used' })
  return value
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function textsOf(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter((item) => typeof item === 'string') : undefined
}
