import { safeUrl } from '../safe-url.ts'
import { OAuthError } from './oauth-error.ts'

/** Whether a host is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  const bare = bareHost(host)
  return bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1' || /^127(?:\.\d{1,3}){3}$/.test(bare)
}

/** How far a host is away, as far as its name or address tells. */
type Reach = 'machine' | 'network' | 'internet'

/** Addresses that lead to this machine as well: unspecified, and the IPv4 ones in IPv6. */
const machine = /^(?:0\.|::$|::ffff:(?:7f[\da-f]{2}:|0:))/
/** Private, link-local (where clouds tell secrets), and shared by a carrier; the same in IPv6. */
const network =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd][\da-f]{2}:|fe[89ab][\da-f]:|::ffff:(?:a[\da-f]{2}|c0a8|ac1[\da-f]|a9fe|64[4-7][\da-f]):)/
/** Names that mean something in a network of one's own only. */
const ownName = /^[^.:]+$|\.(?:local|internal|lan|home\.arpa|corp|home)$/

/** Judges the host of a URL, which the parser has brought into its usual spelling. */
function reachOf(host: string): Reach {
  if (isLoopbackHost(host)) return 'machine'
  const bare = bareHost(host)
  if (/^[\d.]+$|:/.test(bare)) return machine.test(bare) ? 'machine' : network.test(bare) ? 'network' : 'internet'
  return ownName.test(bare) ? 'network' : 'internet'
}

function bareHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

/**
 * A URL out of somebody else's document, if it may be asked: `https`, without credentials; on this machine `http` as well, but only where
 * the server that we sign in to is on this machine itself. A server can only name what is as far away as itself or farther, so that none
 * on the internet makes us ask what listens here or in our network. Names are judged as they are written; where they lead is not looked up.
 */
export function guardedUrl(text: string, what: string, serverUrl: string): URL {
  if (!URL.canParse(text)) throw new OAuthError('forbidden-url', `The ${what} is no URL.`)
  const url = new URL(text)
  const name = safeUrl(url.href)
  const reach = reachOf(url.hostname)
  const serverReach = reachOf(new URL(serverUrl).hostname)
  if (reach === 'machine' && serverReach !== 'machine') {
    throw new OAuthError('forbidden-url', `The ${what} ${name} is on this machine, which ${safeUrl(serverUrl)} is not.`)
  }
  if (reach === 'network' && serverReach === 'internet') {
    throw new OAuthError(
      'forbidden-url',
      `The ${what} ${name} is in a private network, which ${safeUrl(serverUrl)} is not.`,
    )
  }
  if (url.protocol !== 'https:' && !(isLoopbackHost(url.hostname) && url.protocol === 'http:')) {
    throw new OAuthError('forbidden-url', `The ${what} ${name} is not https.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new OAuthError('forbidden-url', `The ${what} ${name} holds credentials.`)
  }
  return url
}
