import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonText } from './json-text.ts'
import { expectEnd, scanElements, scanMembers, skipSpace, skipValue } from './scan.ts'

function accepts(text: string): boolean {
  try {
    expectEnd(text, skipValue(text, skipSpace(text, 0)))
    return true
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return false
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const whitespace = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
/** JSON text with white space between its tokens. */
const spacedJson = fc
  .json({ noUnicodeString: false })
  .chain((json) => whitespace.map((space) => JSON.stringify(JSON.parse(json), undefined, space) + space))

describe('the grammar is that of JSON.parse', () => {
  test.each([
    '0',
    '-0',
    '01',
    '-',
    '1.',
    '.5',
    '1.5e',
    '1e400',
    '1E+5',
    '+1',
    '1e-',
    '0x10',
    'NaN',
    'Infinity',
    '--1',
    '12 3',
    'true',
    'truex',
    'tru',
    'nul',
    'null',
    'undefined',
    'falsefalse',
    '""',
    '"',
    '"\\"',
    '"\\u00e9"',
    '"\\u00g9"',
    '"\\x"',
    '"\t"',
    '"\u0000"',
    '"\u007f"',
    '"\u2028"',
    '"\\/"',
    "'a'",
    '"\ud800"',
    '[]',
    '[',
    ']',
    '[,]',
    '[1,]',
    '[1 2]',
    '[[[]]]',
    '[[]',
    '[}',
    '{]',
    '[1,2',
    '[]]',
    '{}',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    '{"a":1 "b":2}',
    '{"a":1,"a":2}',
    '{1:1}',
    '{"a":{"b":[{}]}}',
    '',
    ' ',
    '\u00a0{}',
    '\ufeff{}',
    ' \t\r\n{} ',
    '{}\u0000',
    '{} {}',
    '// x\n1',
  ])('%j', (text) => {
    expect(accepts(text)).toBe(parses(text))
  })

  test('for any JSON value, with white space between its tokens', () => {
    fc.assert(
      fc.property(spacedJson, (text) => {
        expect(accepts(text)).toBe(true)
      }),
    )
  })

  test('for JSON text with one character taken out, put in or changed', () => {
    const anyCharacter = fc.constantFrom(...'{}[]",:\\u0e+-.19 \n\tatrue\u0001\ud83d'.split(''))
    fc.assert(
      fc.property(
        spacedJson,
        fc.nat(),
        anyCharacter,
        fc.constantFrom(0, 1),
        fc.boolean(),
        (text, nat, character, cut, put) => {
          const at = nat % (text.length + 1)
          const broken = text.slice(0, at) + (put ? character : '') + text.slice(at + cut)
          expect(accepts(broken)).toBe(parses(broken))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('for any short string of JSON characters', () => {
    const soup = fc.string({
      unit: fc.constantFrom(...'{}[]",:\\u0e-.1 tn'.split(''), 'true', 'null', '"a"'),
      maxLength: 12,
    })
    fc.assert(
      fc.property(soup, (text) => {
        expect(accepts(text)).toBe(parses(text))
      }),
      { numRuns: 5000 },
    )
  })
})

describe('members', () => {
  test('are found as JSON.parse finds them, in whatever way keys are escaped', () => {
    const escaped = fc
      .tuple(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.boolean())
      .map(([value, escape]) => {
        const text = JSON.stringify(value)
        return escape
          ? text.replace(/[a-z](?=[^"\\]*":)/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : text
      })
    fc.assert(
      fc.property(escaped.filter(parses), (text) => {
        const { spans } = new JsonText(text)
        const value = JSON.parse(text) as Record<string, unknown>
        expect([...spans.keys()].sort()).toEqual(Object.keys(value).sort())
        for (const [key, { start, end }] of spans) expect(JSON.parse(text.slice(start, end))).toEqual(value[key])
      }),
    )
  })

  test('E14: of equal keys the last one counts, and they are reported, however they are written', () => {
    const text = '{"name":"a","x":1,"\\u006eame":"b","name":"c","x":2}'
    const { spans, duplicates } = new JsonText(text)
    const name = spans.get('name')
    expect(text.slice(name?.start, name?.end)).toBe('"c"')
    expect(duplicates).toEqual(['name', 'x'])
    expect(new JsonText('{"a":{"b":1,"b":2}}').duplicates).toEqual([])
  })

  test('E13: prototype names are names', () => {
    const { spans } = new JsonText('{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}')
    expect([...spans.keys()]).toEqual(['__proto__', 'constructor', 'hasOwnProperty'])
    expect(new JsonText('{}').spans.get('__proto__')).toBeUndefined()
  })

  test.each(['[]', '"x"', '1', '', '{"a":1', '{"a":1}x', '{"a" 1}'])(
    'of %j: a SyntaxError that tells the position and quotes nothing',
    (text) => {
      expect(() => scanMembers(text)).toThrow(SyntaxError)
      expect(() => scanMembers(text)).toThrow(/^unexpected (end of|character in) JSON text at position \d+$/)
    },
  )
})

describe('hostile sizes', () => {
  test('a million levels, closed or not', () => {
    const depth = 1_000_000
    expect(accepts('[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2))).toBe(true)
    expect(accepts('['.repeat(depth))).toBe(false)
    expect(accepts('{"a":'.repeat(depth))).toBe(false)
  })

  test('16 MiB strings, plain and made of escapes', () => {
    const size = 16 * 1024 * 1024
    expect(accepts(`"${'x'.repeat(size)}"`)).toBe(true)
    expect(accepts(`"${'\\n'.repeat(size / 2)}"`)).toBe(true)
    expect(accepts(`"${'読'.repeat(size)}`)).toBe(false)
    expect(accepts('9'.repeat(size))).toBe(true)
    expect(accepts(' '.repeat(size))).toBe(false)
  })

  test('a hundred thousand members', () => {
    const text = `{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`
    const json = new JsonText(text)
    expect(json.spans.size).toBe(100_000)
    expect(json.duplicates).toEqual([])
    expect(json.without((key) => key === 'k5').spans.size).toBe(99_999)
  })
})

describe('the elements of an array', () => {
  test('are found where they stand, whatever white space is around them', () => {
    const text = ' [ 1 ,{"a":[2,3]},\n"],[" ,[] ] '
    expect(scanElements(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      '1',
      '{"a":[2,3]}',
      '"],["',
      '[]',
    ])
    expect(scanElements('[]')).toEqual([])
    expect(scanElements('[ \n]')).toEqual([])
  })

  test('are those that JSON.parse finds', () => {
    const spaced = fc
      .array(fc.jsonValue())
      .chain((values) =>
        whitespace.map((space) => ({ values, text: JSON.stringify(values, undefined, space) + space })),
      )
    fc.assert(
      fc.property(spaced, ({ values, text }) => {
        const found = scanElements(text).map(({ start, end }): unknown => JSON.parse(text.slice(start, end)))
        expect(found).toEqual(JSON.parse(JSON.stringify(values)))
      }),
    )
  })

  test.each(['', '{}', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1]]', '[1],', '1'])('%j is no array', (text) => {
    expect(() => scanElements(text)).toThrow(SyntaxError)
  })
})
