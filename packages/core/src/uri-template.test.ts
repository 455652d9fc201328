import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseUriTemplate } from './uri-template.ts'

describe('MC-RES-09: a URI template read backwards', () => {
  test.each<[template: string, uri: string, values: object | undefined]>([
    ['test://template/{id}/data', 'test://template/123/data', { id: '123' }],
    ['test://template/{id}/data', 'test://template//data', undefined],
    ['test://template/{id}/data', 'test://template/1/2/data', undefined],
    ['test://template/{id}/data', 'TEST://template/1/data', undefined],
    ['test://template/{id}', 'test://template/a%20b%2Fc', { id: 'a b/c' }],
    ['test://template/{id}', 'test://template/%E0%A4%A', undefined],
    ['atenea-blob:///{did}/{cid}', 'atenea-blob:///did:plc:abc/bafkrei', { did: 'did:plc:abc', cid: 'bafkrei' }],
    ['atenea-blob:///{did}/{cid}', 'atenea-blob:///did%3Aplc%3Aabc/bafkrei', { did: 'did:plc:abc', cid: 'bafkrei' }],
    ['file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
    ['file:///{+path}', 'file:///a?x', undefined],
    ['file:///{+path}/{name}', 'file:///a/b/c', { path: 'a/b', name: 'c' }],
    ['file://{/path*}', 'file:///a/b%2F/c', { path: ['a', 'b/', 'c'] }],
    ['x:{a}-{b}', 'x:1-2-3', { a: '1', b: '2-3' }],
    ['x:{a,b}', 'x:1,2', { a: '1', b: '2' }],
    ['x:{a,b}', 'x:1,2,3', undefined],
    ['x:{name}{.ext}', 'x:a.b.c', { name: 'a.b', ext: 'c' }],
    ['x:doc{#part}', 'x:doc#a/b?c', { part: 'a/b?c' }],
    ['x:{/a,b}', 'x:/1/2', { a: '1', b: '2' }],
    ['x:find{?q,lang}', 'x:find?lang=en&q=a%20b', { lang: 'en', q: 'a b' }],
    ['x:find{?q,lang}', 'x:find?q', { q: '' }],
    ['x:find{?q,lang}', 'x:find', {}],
    ['x:find{?q,lang}', 'x:find?q=1&q=2', undefined],
    ['x:find{?q,lang}', 'x:find?other=1', undefined],
    ['x:find{?q}{#part}', 'x:find?q=1#p', { q: '1', part: 'p' }],
    ['x:find?fixed=1{&q}', 'x:find?fixed=1&q=2', { q: '2' }],
    ['x:find?fixed=1{&q}', 'x:find?fixed=1', {}],
    ['x:{__proto__}', 'x:a', JSON.parse('{"__proto__":"a"}')],
    ['x:plain', 'x:plain', {}],
    ['x:plain', 'x:plainer', undefined],
  ])('%s and %s', (template, uri, values) => {
    expect(parseUriTemplate(template).match(uri)).toEqual(values)
  })

  test.each([
    ['x:{', 'a brace'],
    ['x:}', 'a brace'],
    ['x:{}', 'no expression'],
    ['x:{a b}', 'no expression'],
    ['x:{a}{a}', 'twice'],
    ['x:{a:3}', 'prefix'],
    ['x:{;a}', 'operator ;'],
    ['x:{?a*}', 'exploded'],
  ])('refuses %s', (template, reason) => {
    expect(() => parseUriTemplate(template)).toThrow(SyntaxError)
    expect(() => parseUriTemplate(template)).toThrow(reason)
  })

  test('gives back what was put in', () => {
    const values = fc.record({
      a: fc.string({ minLength: 1 }),
      b: fc.string({ minLength: 1 }),
      c: fc.string({ minLength: 1 }),
    })
    const template = parseUriTemplate('x://{a}/mid/{b}{?c}')
    fc.assert(
      fc.property(values, ({ a, b, c }) => {
        fc.pre([a, b, c].every((text) => text.isWellFormed()))
        const uri = `x://${encodeURIComponent(a)}/mid/${encodeURIComponent(b)}?c=${encodeURIComponent(c)}`
        expect(template.match(uri)).toEqual({ a, b, c })
      }),
    )
  })

  test('takes time linear in the URI', () => {
    const template = parseUriTemplate('x:{+a}x{+b}x{+c}x{+d}y')
    const before = performance.now()
    expect(template.match(`x:${'x'.repeat(200_000)}`)).toBeUndefined()
    expect(parseUriTemplate('x:a{&b}').match(`x:a${'&'.repeat(200_000)}`)).toBeUndefined()
    expect(performance.now() - before).toBeLessThan(2000)
  })
})
