import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toText } from './json.ts'
import { canonicalize, stringify } from './stringify.ts'

/** Nested arrays and objects, one inside the other. */
function nest(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value, 'x'] : { a: value, b: null }
  return value
}

describe('stringify', () => {
  test('is JSON.stringify for every value without lone surrogates', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(stringify(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  test('D19: a lone surrogate becomes U+FFFD, in values and in keys; pairs and escaped backslashes stay', () => {
    expect(stringify('x\ud83d')).toBe('"x\ufffd"')
    expect(stringify({ '\udc00': '\ud83d\ude00' })).toBe('{"\ufffd":"\ud83d\ude00"}')
    expect(stringify('\\ud83d')).toBe('"\\\\ud83d"')
    expect(stringify('\\\ud83d')).toBe('"\\\\\ufffd"')
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', '\\', 'u', 'd', '"', '8', 'a', '\n') }),
        (text) => {
          expect(JSON.parse(stringify(text))).toBe(text.toWellFormed())
        },
      ),
    )
  })

  test.each([10_000, 200_000])('writes %i levels', (depth) => {
    const text = stringify(nest(depth))
    expect(text.startsWith('{"a":[{"a":[')).toBe(true)
    expect(text.length).toBe(1 + (depth / 2) * ('[,"x"]'.length + '{"a":,"b":null}'.length))
    expect(() => JSON.parse(text) as unknown).not.toThrow()
  })

  test('beyond the depth of the engine writes what JSON.stringify would write', () => {
    const odd = {
      u: undefined,
      f: () => 1,
      list: [undefined, () => 1, Symbol('s')],
      n: Number.NaN,
      z: -0,
      when: new Date(0),
    }
    let deep: unknown = odd
    for (let level = 0; level < 20_000; level++) deep = [deep]
    const text = stringify(deep)
    expect(text.slice(20_000, -20_000)).toBe(JSON.stringify(odd))
  })

  test('refuses a cycle, shallow or deeper than the stack, and what JSON cannot hold', () => {
    const shallow: Record<string, unknown> = {}
    shallow['self'] = shallow
    const ring: unknown[] = []
    let inner: unknown = ring
    for (let level = 0; level < 20_000; level++) inner = [inner]
    ring.push(inner)
    expect(() => stringify(shallow)).toThrow(TypeError)
    expect(() => stringify(ring)).toThrow(TypeError)
    expect(() => stringify({ big: 1n })).toThrow(TypeError)
    expect(() => stringify(undefined)).toThrow(TypeError)
    expect(() => toText(undefined as never)).toThrow(TypeError)
  })

  test('the same object twice is no cycle', () => {
    const shared = { a: 1 }
    let deep: unknown = [shared, shared]
    for (let level = 0; level < 20_000; level++) deep = [deep]
    expect(stringify(deep)).toContain('{"a":1},{"a":1}')
  })
})

describe('canonicalize', () => {
  test('does not depend on the order of members, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reversed = JSON.parse(JSON.stringify(value), (_, member: unknown) =>
          typeof member === 'object' && member !== null && !Array.isArray(member)
            ? Object.fromEntries(Object.entries(member).reverse())
            : member,
        ) as typeof value
        expect(canonicalize(reversed as never)).toBe(canonicalize(value as never))
        expect(JSON.parse(canonicalize(value as never))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(canonicalize({ b: 1, a: [{ d: 1, c: 2 }], 10: 0, 9: 0 })).toBe('{"10":0,"9":0,"a":[{"c":2,"d":1}],"b":1}')
  })

  test('different values have different texts', () => {
    expect(canonicalize(['1'])).not.toBe(canonicalize([1]))
    expect(canonicalize('\ud800')).not.toBe(canonicalize('\ufffd'))
    expect(canonicalize(JSON.parse('{"__proto__":1}') as never)).toBe('{"__proto__":1}')
  })
})
