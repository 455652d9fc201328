import { isLoopbackHost } from '../oauth/guarded-url.ts'

/**
 * Whether secrets may be sent to a URL, and keys be taken from it: https, or http to this machine, where nobody listens in. A URL
 * that carries credentials or a fragment is none.
 */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, hash } = new URL(text)
  if (`${username}${password}${hash}` !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}
