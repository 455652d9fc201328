import type { Challenge } from './authenticate.ts'

/** What clients need to know to get a token (RFC 9728). Switching it on serves the document and names it in challenges. */
export interface ProtectedResource {
  /** The URL of the MCP endpoint as clients know it. */
  readonly resource: string
  /** Issuers whose tokens are taken. */
  readonly authorizationServers: readonly string[]
  readonly scopesSupported?: readonly string[]
  /** For people. */
  readonly resourceName?: string
  readonly resourceDocumentation?: string
}

const wellKnown = '/.well-known/oauth-protected-resource'

/** The metadata document of a resource, and where it is found. */
export interface ResourceMetadata {
  readonly url: string
  /** Paths under which it is served: with the path of the resource, and without for clients that only ask at the root. */
  readonly paths: readonly string[]
  readonly document: string
}

/** Works the document out once. A `TypeError` when the resource is no URL. */
export function resourceMetadata(resource: ProtectedResource): ResourceMetadata {
  const { origin, pathname } = new URL(resource.resource)
  const path = pathname === '/' ? wellKnown : wellKnown + pathname
  const { scopesSupported, resourceName, resourceDocumentation } = resource
  return {
    url: origin + path,
    paths: [...new Set([path, wellKnown])],
    document: JSON.stringify({
      resource: resource.resource,
      authorization_servers: resource.authorizationServers,
      bearer_methods_supported: ['header'],
      scopes_supported: scopesSupported,
      resource_name: resourceName,
      resource_documentation: resourceDocumentation,
    }),
  }
}

/** The `WWW-Authenticate` field of a challenge. */
export function challengeField(challenge: Challenge, metadata: ResourceMetadata | undefined): string {
  const parts: readonly (readonly [string, string | undefined])[] = [
    ['realm', 'mcp'],
    ['error', challenge.error],
    ['error_description', challenge.description],
    ['scope', challenge.scopes?.join(' ')],
    ['resource_metadata', metadata?.url],
  ]
  const written = parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${quotable(value)}"`]))
  return `Bearer ${written.join(', ')}`
}

/** What may stand between the quotes. */
function quotable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, ' ')
}
