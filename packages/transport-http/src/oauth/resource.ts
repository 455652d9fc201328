/**
 * Whether a URL belongs to a protected resource: of the same origin, and at its path or below. A resource without a path is the whole
 * origin (RFC 9728; MC-AUTH-05).
 */
export function covers(resource: string, url: string): boolean {
  if (!URL.canParse(resource) || !URL.canParse(url) || resource.includes('#')) return false
  const [whole, part] = [new URL(resource), new URL(url)]
  if (whole.origin !== part.origin || whole.username !== '' || whole.password !== '') return false
  if (whole.search !== '' && whole.search !== part.search) return false
  const path = whole.pathname.replace(/\/$/, '')
  return part.pathname === path || part.pathname.startsWith(`${path}/`) || (path === '' && part.pathname === '')
}
