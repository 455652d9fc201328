type Block = readonly [network: string, prefix: number]

/** IPv4 that is not the public internet, from the special-purpose registry of IANA. */
const special4: readonly Block[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // behind the NAT of a carrier
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, and the metadata service of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments; another metadata service
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/** The only part of IPv6 that is given out for use on the internet. Loopback, link-local, unique local and multicast lie outside. */
const global6: Block = ['2000::', 3]

/** What is special within it. */
const special6: readonly Block[] = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries any IPv4 address inside
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
]

/**
 * IPv4 inside of IPv6, in canonical text: mapped, as resolvers and sockets give it, and by NAT64 (RFC 6052), by which networks
 * that have only IPv6 reach every host of the other kind.
 */
const carries4 = /^(?:::ffff:|64:ff9b::)(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})?$/

interface Lists {
  readonly family: (address: string) => number
  readonly isPublic4: (address: string) => boolean
  readonly isPublic6: (address: string) => boolean
}

let made: Lists | undefined

/** Made on first use: whoever only hashes loads no network code. */
function lists(): Lists {
  if (made !== undefined) return made
  const { BlockList, isIP } = process.getBuiltinModule('node:net')
  const within = (family: 'ipv4' | 'ipv6', blocks: readonly Block[]): ((address: string) => boolean) => {
    const list = new BlockList()
    for (const [network, prefix] of blocks) list.addSubnet(network, prefix, family)
    return (address) => list.check(address, family)
  }
  const isSpecial4 = within('ipv4', special4)
  const isGlobal6 = within('ipv6', [global6])
  const isSpecial6 = within('ipv6', special6)
  made = {
    family: isIP,
    isPublic4: (address) => !isSpecial4(address),
    isPublic6: (address) => isGlobal6(address) && !isSpecial6(address),
  }
  return made
}

/**
 * Whether an address, in the form in which a resolver or a socket gives it, is one of a host on the public internet. False for
 * everything that is none: private, loopback, link-local, unique local, multicast, shared by a carrier, for benchmarks or
 * documentation, reserved, with a zone, and for a text that is no address. An IPv4 address inside of an IPv6 one is judged as
 * what it is.
 */
export function isPublicAddress(address: string): boolean {
  const { family, isPublic4, isPublic6 } = lists()
  if (family(address) === 4) return isPublic4(address)
  if (family(address) !== 6 || address.includes('%')) return false
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const carried = carries4.exec(canonical)
  return carried === null ? isPublic6(canonical) : isPublic4(dotted(carried[1], carried[2]))
}

/** The four bytes of two groups in hexadecimal. */
function dotted(high = '0', low = '0'): string {
  const bits = Number.parseInt(high, 16) * 0x1_0000 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')
}
