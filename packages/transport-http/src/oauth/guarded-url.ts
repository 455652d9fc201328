import { safeUrl } from '../safe-url.ts'
import { OAuthError } from './oauth-error.ts'

/** Whether a host is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  return bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1' || /^127(?:\.\d{1,3}){3}$/.test(bare)
}

/**
 * A URL out of somebody else's document, if it may be asked: `https`, without credentials; on this machine `http` as well, but only where
 * the server that we sign in to is on this machine itself, so that no remote server can make us ask what listens here.
 */
export function guardedUrl(text: string, what: string, serverUrl: string): URL {
  if (!URL.canParse(text)) throw new OAuthError('forbidden-url', `The ${what} is no URL.`)
  const url = new URL(text)
  const name = safeUrl(url.href)
  const isLocal = isLoopbackHost(url.hostname)
  if (isLocal && !isLoopbackHost(new URL(serverUrl).hostname)) {
    throw new OAuthError('forbidden-url', `The ${what} ${name} is on this machine, which ${safeUrl(serverUrl)} is not.`)
  }
  if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) {
    throw new OAuthError('forbidden-url', `The ${what} ${name} is not https.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new OAuthError('forbidden-url', `The ${what} ${name} holds credentials.`)
  }
  return url
}
