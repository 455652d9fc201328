import { BlobError } from './blob-error.ts'
import { isHostName, isReservedHost } from './host-name.ts'
import { isPublicAddress } from './public-address.ts'

/** Why a host must not be spoken to. */
export type EndpointRefusal =
  | 'not-a-url'
  /** Anything but https. */
  | 'scheme'
  /** User name or password. */
  | 'credentials'
  /** An address in place of a name, in any spelling. */
  | 'address-literal'
  /** No full name of a host, or one in a domain that is not public. */
  | 'host'
  /** Another port than that of https. */
  | 'port'
  /** A path, query or fragment in the endpoint of a service, which must be an origin. */
  | 'path'
  /** The name leads to an address that is not public. */
  | 'private-address'

/** An address that a name leads to. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

export interface CreateEndpointGuardOptions {
  /**
   * Origins that the operator vouches for, such as `http://localhost:2583`: all rules are lifted for exactly these. A
   * `TypeError` for what is no origin.
   */
  readonly allowEndpoints?: readonly string[] | undefined
  /** Finds the addresses of a host. Default: the resolver of the system. */
  readonly lookup?: ((host: string) => Promise<readonly ResolvedAddress[]>) | undefined
  /** Which addresses may be dialed. Default `isPublicAddress`; another one is for tests and closed networks. */
  readonly isAllowedAddress?: ((address: string) => boolean) | undefined
}

/**
 * Decides which hosts may be spoken to when others choose them: DID documents, handles, redirects. Names are judged before
 * anything is sent, addresses after resolving and again when a connection stands.
 */
export interface EndpointGuard {
  /** The origin of a service, from the text of a DID document. */
  endpoint(text: string): string
  /**
   * Throws unless a URL may be requested. `from` is where a redirect to it came from: an exempt origin can be reached from
   * an exempt one only, else a PDS could use the exemption for its own ends.
   */
  assertAllowed(url: URL, from?: URL): void
  /** Whether the operator vouches for the origin of a URL. */
  isExempt(url: URL): boolean
  /** All addresses of the host of a URL. Throws when one of them must not be dialed. */
  resolve(url: URL): Promise<readonly ResolvedAddress[]>
  /** Throws unless a connection to this address may be used for a URL. */
  assertAddress(address: string | undefined, url: URL): void
}

/** Makes a guard. Every failure of it is a `BlobError` of kind `endpoint-refused` with an `EndpointRefusal` as reason. */
export function createEndpointGuard(options: CreateEndpointGuardOptions = {}): EndpointGuard {
  const { lookup = systemLookup, isAllowedAddress = isPublicAddress } = options
  const exempt = new Set(options.allowEndpoints?.map(parseOrigin))

  function isExempt(url: URL): boolean {
    return exempt.has(url.origin)
  }

  function assertAddress(address: string | undefined, url: URL): void {
    if (isExempt(url) || (address !== undefined && isAllowedAddress(address))) return
    throw refused(
      'private-address',
      url.origin,
      `${url.hostname} leads to ${address ?? 'no address'}, which is not public`,
    )
  }

  return {
    endpoint(text) {
      const url = parseUrl(text)
      const spelled = /^https?:\/\/[a-z0-9.:[\]-]+\/?$/i.test(text)
      if (!isExempt(url)) assertPublicName(url)
      // The parser is lenient: it drops tabs, an empty query, an empty user name.
      if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || !spelled) {
        throw refused('path', text, 'the endpoint of a service is an origin, without path, query or fragment')
      }
      return url.origin
    },
    assertAllowed(url, from) {
      if (isExempt(url) && (from === undefined || isExempt(from))) return
      assertPublicName(url)
    },
    isExempt,
    async resolve(url) {
      const addresses = await lookup(url.hostname.replace(/^\[|\]$/g, ''))
      // One bad address is enough: whoever mixes them wants us to take that one.
      for (const { address } of addresses) assertAddress(address, url)
      return addresses
    },
    assertAddress,
  }
}

/** The rules for names of hosts that others choose. */
function assertPublicName(url: URL): void {
  const { protocol, username, password, hostname, port } = url
  if (protocol !== 'https:') throw refused('scheme', url.href, 'its scheme is not https')
  if (username !== '' || password !== '') throw refused('credentials', url.origin, 'its URL holds credentials')
  // The parser has turned every spelling of an address (0x7f.1, 2130706433, full-width digits) into the usual one.
  if (hostname.startsWith('[') || /^[\d.]+$/.test(hostname)) {
    throw refused('address-literal', url.origin, 'it is an address, not a name')
  }
  if (!isHostName(hostname)) throw refused('host', url.origin, 'it is not the full name of a host')
  if (isReservedHost(hostname) || hostname.endsWith('.test')) {
    throw refused('host', url.origin, 'its domain is not part of the public internet')
  }
  if (port !== '') throw refused('port', url.origin, `port ${port} is not that of https`)
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw refused('not-a-url', text, 'it is no URL')
  return new URL(text)
}

/** An origin as an operator writes it. */
function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` && !text.includes('*')
  if (!isOrigin) {
    throw new TypeError(`"${text}" is not an origin such as http://localhost:2583: scheme, host and port, nothing else`)
  }
  return url.origin
}

async function systemLookup(host: string): Promise<readonly ResolvedAddress[]> {
  const { lookup } = process.getBuiltinModule('node:dns/promises')
  const found = await lookup(host, { all: true, verbatim: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

const shownCharacters = 200

function refused(reason: EndpointRefusal, where: string, why: string): BlobError {
  const shown = JSON.stringify(String(where).slice(0, shownCharacters).toWellFormed())
  const message = `${shown} must not be spoken to: ${why}. If you trust it, exempt exactly this origin.`
  return new BlobError('endpoint-refused', message, { details: { reason } })
}
