import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublicAddress } from './public-address.ts'

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '2001:4860:4860::8888',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

describe('G5: not on the public internet is', () => {
  test.each([
    ['this host', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.255.254'],
    ['private 10', '10.0.0.1'],
    ['private 172.16', '172.16.0.1'],
    ['the end of private 172.16', '172.31.255.255'],
    ['private 192.168', '192.168.1.1'],
    ['link-local', '169.254.1.1'],
    ['metadata of clouds', '169.254.169.254'],
    ['metadata of another cloud', '192.0.0.192'],
    ['metadata of a third cloud, behind the NAT of carriers', '100.100.100.200'],
    ['the NAT of carriers', '100.64.0.1'],
    ['benchmarks', '198.18.0.1'],
    ['the end of benchmarks', '198.19.255.255'],
    ['documentation 1', '192.0.2.1'],
    ['documentation 2', '198.51.100.1'],
    ['documentation 3', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified 6', '::'],
    ['loopback 6', '::1'],
    ['loopback 6 in full', '0:0:0:0:0:0:0:1'],
    ['compatible loopback', '::127.0.0.1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hexadecimal', '::ffff:7f00:1'],
    ['mapped loopback in full', '0:0:0:0:0:ffff:7f00:0001'],
    ['mapped metadata', '::ffff:169.254.169.254'],
    ['translated (not mapped) loopback', '::ffff:0:127.0.0.1'],
    ['NAT64 to loopback', '64:ff9b::127.0.0.1'],
    ['NAT64 to a private network', '64:ff9b::a00:1'],
    ['NAT64 to nowhere', '64:ff9b::'],
    ['local NAT64', '64:ff9b:1::8.8.8.8'],
    ['unique local', 'fd00::1'],
    ['metadata 6', 'fd00:ec2::254'],
    ['link-local 6', 'fe80::1'],
    ['link-local 6 with a zone', 'fe80::1%lo'],
    ['anything with a zone', '2606:4700:4700::1111%lo'],
    ['site-local', 'fec0::1'],
    ['multicast 6', 'ff02::1'],
    ['documentation 6', '2001:db8::1'],
    ['newer documentation 6', '3fff::1'],
    ['6to4 around loopback', '2002:7f00:1::1'],
    ['Teredo', '2001::1'],
    ['benchmarks 6', '2001:2::1'],
    ['ORCHID', '2001:20::1'],
    ['discard-only', '100::1'],
    ['segment routing', '5f00::1'],
    ['no address', 'localhost'],
    ['an address that is not spelled as one', '0x7f.1'],
    ['a number', '2130706433'],
    ['nothing', ''],
  ])('%s', (_what, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

test('an IPv4 address is judged alike, alone and inside of an IPv6 one in any spelling', () => {
  const byte = fc.nat({ max: 255 })
  fc.assert(
    fc.property(fc.tuple(byte, byte, byte, byte), ([a, b, c, d]) => {
      const dotted = `${a}.${b}.${c}.${d}`
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      const verdict = isPublicAddress(dotted)
      for (const spelling of [`::ffff:${dotted}`, `::FFFF:${hex}`, `0:0:0:0:0:ffff:${hex}`, `64:ff9b::${hex}`]) {
        expect(isPublicAddress(spelling)).toBe(verdict)
      }
    }),
    { numRuns: 2000 },
  )
})

test('every text gets a verdict', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4Extended()), (text) => {
      expect(isPublicAddress(text)).toBeTypeOf('boolean')
    }),
  )
})
