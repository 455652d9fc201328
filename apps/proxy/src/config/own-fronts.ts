import { UsageError } from '@atenea/cli'
import type { FrontSettings } from '@atenea/fronts'
import { resolve } from 'node:path'
import type { BackendSetting } from '../settings.ts'

/**
 * Refuses a server that is the proxy itself, by the address of one of its fronts: it would wait for itself, and tell itself of each change without
 * end. An address that a front has is nobody else's, since the front could not be opened then. Throws a `UsageError`.
 */
export function refuseOwnFronts(backends: readonly BackendSetting[], fronts: FrontSettings): void {
  const own = backends.find(({ target }) => isOwn(target, fronts))
  if (own === undefined) return
  const others = backends.length > 1 ? '; set "disabled": true for that entry, or name the others with --server' : ''
  throw new UsageError(`the server ${JSON.stringify(own.name)} is this proxy itself, at one of its own fronts${others}`)
}

function isOwn(target: BackendSetting['target'], { http, sockets }: FrontSettings): boolean {
  if (target.kind === 'socket') return sockets.includes(resolve(target.path))
  if (target.kind === 'command') return false
  const { protocol, hostname, port, pathname } = new URL(target.url)
  if (protocol !== 'http:' || pathname.replace(/\/$/, '') !== '/mcp') return false
  return http.some((front) => front.port === Number(port || 80) && leadsTo(hostname, front.host))
}

/** Whether a host of a URL is the one that is listened on. Its brackets stay where it is an address of IPv6. */
function leadsTo(hostname: string, host: string): boolean {
  const listened = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase()
  const isThisMachine = hostname === 'localhost' || /^127(?:\.\d+){3}$/.test(hostname)
  switch (listened) {
    case '0.0.0.0':
      return isThisMachine
    case '[::]':
      return isThisMachine || hostname === '[::1]'
    case '127.0.0.1':
    case '[::1]':
    case 'localhost':
      return hostname === listened || hostname === 'localhost' || (listened === 'localhost' && isThisMachine)
    default:
      return hostname === listened
  }
}
