import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BlobError } from './blob-error.ts'
import { createEndpointGuard, type EndpointGuard } from './endpoint-guard.ts'

const guard = createEndpointGuard()

/** The reason for which something is refused; otherwise what it gives. */
function verdict(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (BlobError.is(error) && error.kind === 'endpoint-refused') return error.details.reason
    throw error
  }
}

const endpoint = (text: string, by: EndpointGuard = guard): unknown => verdict(() => by.endpoint(text))

describe('G5: the endpoint of a service in a DID document', () => {
  test.each([
    ['https://pds.example.com', 'https://pds.example.com'],
    ['https://pds.example.com/', 'https://pds.example.com'],
    ['HTTPS://PDS.Example.COM', 'https://pds.example.com'],
    ['https://pds.example.com:443', 'https://pds.example.com'],
    ['https://xn--bcher-kva.example.com', 'https://xn--bcher-kva.example.com'],
  ])('%s is %s', (text, origin) => {
    expect(endpoint(text)).toBe(origin)
  })

  test.each([
    ['http', 'http://pds.example.com', 'scheme'],
    ['another scheme', 'ftp://pds.example.com', 'scheme'],
    ['a file', 'file:///etc/passwd', 'scheme'],
    ['a scheme without a host', 'data:text/html,x', 'scheme'],
    ['a user', 'https://user@pds.example.com', 'credentials'],
    ['a user and a password', 'https://user:pass@pds.example.com', 'credentials'],
    ['a user that looks like a host', 'https://pds.example.com@10.0.0.1', 'credentials'],
    ['an empty user', 'https://@pds.example.com', 'path'],
    ['a path', 'https://pds.example.com/xrpc', 'path'],
    ['a path of slashes', 'https://pds.example.com//', 'path'],
    ['a path by backslash', 'https://pds.example.com\\xrpc', 'path'],
    ['a path that goes up', 'https://pds.example.com/..', 'path'],
    ['a query', 'https://pds.example.com?x=1', 'path'],
    ['an empty query', 'https://pds.example.com/?', 'path'],
    ['a fragment', 'https://pds.example.com#x', 'path'],
    ['an empty fragment', 'https://pds.example.com#', 'path'],
    ['another port', 'https://pds.example.com:8443', 'port'],
    ['the port of http', 'https://pds.example.com:80', 'port'],
    ['loopback', 'https://127.0.0.1', 'address-literal'],
    ['a public address', 'https://1.1.1.1', 'address-literal'],
    ['an address, shortened', 'https://127.1', 'address-literal'],
    ['an address in hexadecimal', 'https://0x7f.1', 'address-literal'],
    ['an address in one hexadecimal number', 'https://0x7f000001', 'address-literal'],
    ['an address in octal', 'https://0177.0.0.1', 'address-literal'],
    ['an address in one number', 'https://2130706433', 'address-literal'],
    ['an address in full-width digits', 'https://１２７.０.０.１', 'address-literal'],
    ['an address in circled digits', 'https://①②⑦.0.0.1', 'address-literal'],
    ['an address by percent escapes', 'https://%31%32%37.0.0.1', 'address-literal'],
    ['an address with a trailing dot', 'https://127.0.0.1.', 'address-literal'],
    ['loopback 6', 'https://[::1]', 'address-literal'],
    ['mapped loopback', 'https://[::ffff:127.0.0.1]', 'address-literal'],
    ['metadata of clouds', 'https://169.254.169.254', 'address-literal'],
    ['localhost', 'https://localhost', 'host'],
    ['below localhost', 'https://pds.localhost', 'host'],
    ['one label', 'https://pds', 'host'],
    ['a trailing dot', 'https://pds.example.com.', 'host'],
    ['a name of the local network', 'https://pds.local', 'host'],
    ['a name of a company', 'https://metadata.google.internal', 'host'],
    ['a reverse name', 'https://1.0.0.127.in-addr.arpa', 'host'],
    ['an onion', 'https://x.onion', 'host'],
    ['a name for tests', 'https://pds.test', 'host'],
    ['a name for documentation', 'https://pds.example', 'host'],
    ['an underscore', 'https://pds_1.example.com', 'host'],
    ['a label that is too long', `https://${'a'.repeat(64)}.example.com`, 'host'],
    ['a name that is too long', `https://${'abc.'.repeat(70)}com`, 'host'],
    ['a line feed in it', 'https://pds.exa\nmple.com', 'path'],
    ['a tab before it', '\thttps://pds.example.com', 'path'],
    ['space around it', ' https://pds.example.com ', 'path'],
    ['no slashes', 'https:pds.example.com', 'path'],
    ['many slashes', 'https:////pds.example.com', 'path'],
    ['nothing', '', 'not-a-url'],
    ['a name alone', 'pds.example.com', 'not-a-url'],
    ['a percent escape that is none', 'https://pds.example.com%', 'not-a-url'],
  ])('with %s is refused', (_what, text, reason) => {
    expect(endpoint(text)).toBe(reason)
  })

  test('an error names the reason and what an operator can do, in one bounded line', () => {
    expect(() => guard.endpoint('https://127.1')).toThrow(
      '"https://127.0.0.1" must not be spoken to: it is an address, not a name. If you trust it, exempt exactly this origin.',
    )
    expect(() => guard.endpoint(`https://${'x'.repeat(10_000)}`)).toThrow(/^.{1,400}$/)
  })

  test('whatever is accepted is an https origin of a full name without a port', () => {
    const part = fc.constantFrom(
      'https:',
      'http:',
      '//',
      '/',
      '@',
      ':',
      'a.b',
      'x.com',
      '127.0.0.1',
      '[::1]',
      '%',
      '\\',
      '?',
      '#',
      '0x7f',
      '.',
      '443',
      '1',
      'é',
      '\t',
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
        (text) => {
          const accepted = endpoint(text)
          const isReason = typeof accepted === 'string' && /^[a-z-]+$/.test(accepted)
          expect(isReason || /^https:\/\/(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(String(accepted))).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('an exempt origin', () => {
  const dev = createEndpointGuard({ allowEndpoints: ['http://localhost:2583', 'https://127.0.0.1:8443/'] })

  test('is allowed as it is, and nothing else is', () => {
    expect(endpoint('http://localhost:2583', dev)).toBe('http://localhost:2583')
    expect(endpoint('https://127.0.0.1:8443', dev)).toBe('https://127.0.0.1:8443')
    expect(endpoint('http://localhost:2584', dev)).toBe('scheme')
    expect(endpoint('https://localhost:2583', dev)).toBe('host')
    expect(endpoint('http://127.0.0.1:2583', dev)).toBe('scheme')
    expect(endpoint('http://localhost:2583/xrpc', dev)).toBe('path')
    expect(endpoint('http://user@localhost:2583', dev)).toBe('path')
  })

  test('may lead to any address; others still not', () => {
    expect(verdict(() => dev.assertAddress('127.0.0.1', new URL('http://localhost:2583/x')))).toBeUndefined()
    expect(verdict(() => dev.assertAddress('127.0.0.1', new URL('https://pds.example.com/x')))).toBe('private-address')
  })

  test('cannot be reached by a redirect from a host that is not exempt', () => {
    const target = new URL('http://localhost:2583/admin')
    expect(verdict(() => dev.assertAllowed(target))).toBeUndefined()
    expect(verdict(() => dev.assertAllowed(target, new URL('https://127.0.0.1:8443/')))).toBeUndefined()
    expect(verdict(() => dev.assertAllowed(target, new URL('https://pds.example.com/')))).toBe('scheme')
  })

  test.each([
    'localhost:2583',
    'http://localhost:2583/x',
    'http://u@localhost',
    'ftp://localhost',
    '*',
    '',
    'http://*',
  ])('%j is refused as one when the guard is made', (text) => {
    expect(() => createEndpointGuard({ allowEndpoints: [text] })).toThrow(TypeError)
  })
})

describe('a name that leads to', () => {
  const leading = (...addresses: string[]): EndpointGuard =>
    createEndpointGuard({
      lookup: () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))),
    })
  const url = new URL('https://pds.example.com/x')

  test('public addresses gives them', async () => {
    expect(await leading('1.1.1.1', '2606:4700:4700::1111').resolve(url)).toHaveLength(2)
  })

  test.each([
    ['127.0.0.1'],
    ['::1'],
    ['1.1.1.1', '10.0.0.1'],
    ['2606:4700:4700::1111', '::ffff:127.0.0.1'],
    ['169.254.169.254'],
  ])('G5: %s %s is refused, also when others of it are public', async (...addresses) => {
    await expect(leading(...addresses).resolve(url)).rejects.toMatchObject({ details: { reason: 'private-address' } })
  })

  test('no address is left to the caller, and no address of a connection is refused', async () => {
    expect(await leading().resolve(url)).toEqual([])
    expect(verdict(() => guard.assertAddress(undefined, url))).toBe('private-address')
  })
})
