import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fileUriOf, rootFault, rootsResult } from './roots.ts'

describe('which URIs name a root', () => {
  test.each([
    'file:///',
    'file:///srv/anna/project',
    'file:///srv/anna/project/',
    'file:///C:/Users/anna',
    'file:///c%3A/Users',
    'file://server/share/x',
    'file://localhost/x',
    'file:///a%20b/%C3%BC/%25',
    'FILE:///x',
    "file:///a!$&'()*+,;=:@~-._",
  ])('MC-ROOT-02: %s', (uri) => {
    expect(rootFault(uri)).toBeUndefined()
  })

  test.each([
    ['', 'is no file:// URI'],
    ['/srv/anna', 'is no file:// URI'],
    ['https://example.com/x', 'is no file:// URI'],
    ['file:/x', 'is no file:// URI'],
    ['file://', 'is no file:// URI'],
    ['file://user@host/x', 'is no file:// URI'],
    ['file://host:80/x', 'is no file:// URI'],
    ['file:///x?y', 'is no file:// URI'],
    ['file:///x#y', 'is no file:// URI'],
    ['file:///a b', 'must be percent-encoded'],
    ['file:///ü', 'must be percent-encoded'],
    ['file:///a%2', 'must be percent-encoded'],
    ['file:///a\\b', 'must be percent-encoded'],
    ['file:///a\n', 'must be percent-encoded'],
    ['file:///%ff', 'is not UTF-8'],
  ])('MC-ROOT-02: not %j', (uri, why) => {
    expect(rootFault(uri)).toContain(why)
  })

  test.each([
    'file:///a/../b',
    'file:///a/./b',
    'file:///..',
    'file:///a/%2e%2E/b',
    'file:///a/.%2e',
    'file:///a%2Fb',
    'file:///a%5cb',
    'file:///a%00b',
  ])('MC-ROOT-03: not %s, which is one place to one reader and another to the next', (uri) => {
    expect(rootFault(uri)).toBeDefined()
  })

  test('an answer has no root that is none, and no members besides', () => {
    expect(rootsResult()).toBeUndefined()
    expect(rootsResult([])).toBeUndefined()
    expect(
      JSON.stringify(
        rootsResult([
          { uri: 'file:///a', name: undefined },
          { uri: 'file:///b', name: 'B' },
        ]),
      ),
    ).toBe('{"roots":[{"uri":"file:///a"},{"uri":"file:///b","name":"B"}]}')
    expect(() => rootsResult([{ uri: 'file:///a' }, { uri: '/b' }])).toThrow(/^The root "\/b" is no file/)
  })
})

describe('the URI of a path', () => {
  test.each([
    ['/', 'file:///'],
    ['/srv/anna/my project', 'file:///srv/anna/my%20project'],
    ['/ü/%/#/?', 'file:///%C3%BC/%25/%23/%3F'],
    ['/a\\b', 'file:///a%5Cb'],
    ["/a:@!$&'()*+,;=~", "file:///a:@!$&'()*+,;=~"],
    ['C:\\', 'file:///C:/'],
    ['C:\\Users\\Anna Maria', 'file:///C:/Users/Anna%20Maria'],
    ['d:/work/x', 'file:///d:/work/x'],
    ['\\\\server\\share\\ä', 'file://server/share/%C3%A4'],
  ])('%s', (path, uri) => {
    expect(fileUriOf(path)).toBe(uri)
  })

  test.each(['', 'a', './a', 'C:', 'C:a', '\\a', '\\\\server', 'file:///a', '/a\udc00'])(
    '%j is no absolute path',
    (path) => {
      expect(fileUriOf(path)).toBeUndefined()
    },
  )

  test('every path is got back from its URI as the platform reads it, and is a root unless it has dots or separators in it', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[/\\\0]|^\.\.?$/.test(text))
    fc.assert(
      fc.property(fc.array(segment), (segments) => {
        const path = `/${segments.join('/')}`
        const uri = fileUriOf(path) ?? ''
        expect(rootFault(uri)).toBeUndefined()
        expect(decodeURIComponent(new URL(uri).pathname)).toBe(path)
      }),
    )
  })
})
