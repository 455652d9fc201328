import { ensureValidDid, isValidHandle, normalizeHandle as officialHandle } from '@atproto/syntax'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BlobError } from './blob-error.ts'
import { parseDid } from './did.ts'
import { normalizeHandle, parseHandle } from './handle.ts'

function isOfficialDid(text: string): boolean {
  try {
    ensureValidDid(text)
    return true
  } catch {
    return false
  }
}

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch (error) {
    if (BlobError.is(error) && error.kind === 'invalid-identifier') return false
    throw error
  }
}

describe('a DID', () => {
  test.each([
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', undefined],
    ['did:web:user.example.com', 'https://user.example.com/.well-known/did.json'],
    ['did:web:localhost%3A2583', 'http://localhost:2583/.well-known/did.json'],
  ])('%s is one', (text, url) => {
    const did = parseDid(text)
    expect([did.text, did.method === 'web' ? did.documentUrl.href : undefined]).toEqual([text, url])
  })

  test('of localhost without a port is on the port of http', () => {
    expect(parseDid('did:web:localhost')).toMatchObject({
      documentUrl: new URL('http://localhost/.well-known/did.json'),
    })
  })

  test.each([
    ['a method that is not supported', 'did:key:zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N'],
    ['capitals', 'DID:plc:ewvi7nxzyoun6zhxrhs64oiz'],
    ['capitals in the identifier', 'did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ'],
    ['an identifier that is too short', 'did:plc:ewvi7nxzyoun6zhxrhs64oi'],
    ['an identifier in another alphabet', 'did:plc:ewvi7nxzyoun6zhxrhs64oi1'],
    ['no identifier', 'did:plc:'],
    ['a fragment', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz#atproto_pds'],
    ['a path behind it', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz/../x'],
    ['a path in did:web', 'did:web:example.com:user:alice'],
    ['a port on a public host', 'did:web:example.com%3A8443'],
    ['a port that is none', 'did:web:localhost%3A99999'],
    ['capitals in a host', 'did:web:Example.com'],
    ['an address', 'did:web:127.0.0.1'],
    ['an address in hexadecimal', 'did:web:0x7f.1'],
    ['one label', 'did:web:intranet'],
    ['a local name', 'did:web:printer.local'],
    ['a company name', 'did:web:metadata.google.internal'],
    ['a slash by escape', 'did:web:example.com%2F..%2Fx'],
    ['a user by escape', 'did:web:user%40example.com'],
    ['a trailing dot', 'did:web:example.com.'],
    ['text around it', ' did:web:example.com'],
    ['a line feed', 'did:web:example.com\n'],
    ['a handle', 'alice.example.com'],
    ['nothing', ''],
  ])('with %s is refused', (_what, text) => {
    expect(accepts(parseDid, text)).toBe(false)
  })

  test('that is too long or no string at all is refused', () => {
    expect(accepts(parseDid, `did:web:${'a.'.repeat(2000)}com`)).toBe(false)
    expect(accepts(parseDid, undefined as unknown as string)).toBe(false)
    expect(accepts(parseDid, { toString: () => 'did:web:example.com' } as unknown as string)).toBe(false)
  })

  test('is none that the official syntax does not know', () => {
    const part = fc.constantFrom(
      'did:',
      'plc:',
      'web:',
      'key:',
      'a',
      'z7',
      'example.com',
      '%3A',
      '80',
      'localhost',
      '.',
      ':',
      '%',
      '/',
      '#',
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
        (text) => {
          expect(accepts(parseDid, text) && !isOfficialDid(text)).toBe(false)
        },
      ),
      { numRuns: 3000 },
    )
  })
})

describe('a handle', () => {
  test.each([
    ['alice.example.com', 'alice.example.com'],
    ['Alice.EXAMPLE.com', 'alice.example.com'],
    ['8.cn', '8.cn'],
    ['name.t--t', 'name.t--t'],
    ['xn--ls8h.test', 'xn--ls8h.test'],
  ])('%s is %s', (text, handle) => {
    expect(parseHandle(text)).toBe(handle)
  })

  test.each([
    'alice',
    '@alice.example.com',
    'alice.example.com.',
    '.alice.example.com',
    'alice..com',
    'al_ice.com',
    '-alice.com',
    'alice-.com',
    'john.0',
    'cn.8',
    '127.0.0.1',
    'alice.example.com/x',
    'alice.example.com:80',
    'user@example.com',
    'alice.example.com ',
    'xn--bcher-.tld',
    '\u212aelvin.com',
    `${'a'.repeat(64)}.com`,
    `${'abc.'.repeat(70)}com`,
    '',
  ])('%j is refused', (text) => {
    expect(accepts(parseHandle, text)).toBe(false)
  })

  test.each([
    'laptop.local',
    'blah.arpa',
    'x.onion',
    'handle.invalid',
    'a.alt',
    'a.example',
    'a.internal',
    'a.localhost',
  ])('%s has the form of one and cannot be resolved', (text) => {
    expect(normalizeHandle(text)).toBe(text)
    expect(accepts(parseHandle, text)).toBe(false)
  })

  test('is what the official syntax takes for one, in the same spelling', () => {
    const part = fc.constantFrom('a', 'Z', '0', '-', '.', 'com', 'xn--', 'é', '_', '@', ' ', '\n', 'abc')
    const text = fc.oneof(
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
      fc.domain(),
    )
    fc.assert(
      fc.property(text, (handle) => {
        expect(normalizeHandle(handle) !== undefined).toBe(isValidHandle(handle))
        expect(normalizeHandle(handle) ?? officialHandle(handle)).toBe(officialHandle(handle))
      }),
      { numRuns: 3000 },
    )
  })
})
