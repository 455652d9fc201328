const resourceName = 'oauth-protected-resource'
const oauthName = 'oauth-authorization-server'
const openidName = 'openid-configuration'

/** Where a server may describe itself as a resource: with its path, then without (RFC 9728, section 3). */
export function resourceMetadataUrls(serverUrl: string): readonly string[] {
  const { origin, pathname, search } = new URL(serverUrl)
  const root = `${origin}/.well-known/${resourceName}`
  return pathname === '/' ? [root] : [root + withoutSlash(pathname) + search, root]
}

/** Where an issuer may describe itself, in the order of the specification (RFC 8414, section 3.1; OpenID Connect Discovery, section 4). */
export function issuerMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = withoutSlash(pathname)
  const oauth = `${origin}/.well-known/${oauthName}${path}`
  const openid = `${origin}/.well-known/${openidName}${path}`
  return path === '' ? [oauth, openid] : [oauth, openid, `${origin}${path}/.well-known/${openidName}`]
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}
