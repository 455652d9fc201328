import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePattern } from './pattern.ts'
import { compileProgram, runProgram } from './pattern-program.ts'
import { parsePattern, shapeOf } from './pattern-syntax.ts'

/** The automaton alone, whatever the shape of the pattern. */
function automaton(source: string, flags: 'u' | '' = 'u'): (text: string) => boolean {
  const program = compileProgram(parsePattern(source, flags), flags)
  return (text) => runProgram(program, text)
}

const patterns = [
  '',
  'a',
  '^a$',
  'a|b|',
  '^(?:ab|cd)*$',
  '^(a+)+$',
  '^(?<name>a*)*b?$',
  '^a{2,4}$',
  '^a{3}$',
  '^(a{0,2}b){1,3}$',
  '^[a-z\\]-]+$',
  '^[^\\w]+$',
  '\\bfoo\\b',
  'o\\Bo',
  '^(?=.*\\d)(?!.*x)[a-z\\d]+$',
  '^\\p{Lu}+$',
  '^\\u{1F600}|\\uD83D\\uDE01$',
  '^.$',
  '^[\\s\\S]*$',
  '\\.\\/\\\\',
  '^(?:(?:a|b)*c)*$',
  '^(?:[A-Za-z0-9_+\\-]+\\.)*[A-Za-z0-9_]+@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$',
]

const texts = [
  '',
  'a',
  'aa',
  'aaa',
  'aaaaa',
  'ab',
  'abab',
  'aabb',
  'abcd',
  'cdab',
  'foo',
  ' foo ',
  'foox',
  'oo',
  'É',
  'ÉA',
  '😀',
  '😁',
  '\n',
  '\u2028',
  './\\',
  'a1',
  'a1x',
  'ccabc',
  'me@example.org',
  'me.you@sub.example.org',
  'me@@example.org',
  'ab]-',
]

describe('the automaton', () => {
  test.each(patterns)('agrees with RegExp about %j', (source) => {
    const matches = automaton(source)
    const native = new RegExp(source, 'u')
    expect(texts.filter(matches)).toEqual(texts.filter((text) => native.test(text)))
  })

  test('agrees with RegExp about any small pattern and text', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '.', '\\w', '[^a]', '^', '$', '\\b', '(?=a)', '(?!b)')
    const { pattern } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
      pattern: fc.oneof(
        { depthSize: 'small' },
        tie('term'),
        fc.tuple(tie('term'), tie('pattern')).map(([a, b]) => `${a}${b}`),
        fc.tuple(tie('term'), tie('pattern')).map(([a, b]) => `${a}|${b}`),
      ),
      term: fc.oneof(
        { depthSize: 'small' },
        atom,
        tie('pattern').map((inner) => `(?:${inner})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?'))
          .map(([inner, quantifier]) => `(?:${inner})${quantifier}`),
      ),
    }))
    fc.assert(
      fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 6 }), (source, text) => {
        expect(automaton(source)(text)).toBe(new RegExp(source, 'u').test(text))
      }),
      { numRuns: 2000 },
    )
  })

  test('reads patterns that are only valid without Unicode mode', () => {
    const source = '^\\a{,2}]x{$'
    expect(automaton(source, '')('a{,2}]x{')).toBe(true)
    expect(compilePattern(source).test('a{,2}]x{')).toBe(true)
  })
})

describe('compilePattern', () => {
  test.each([
    ['^(a+)+$', `${'a'.repeat(50_000)}!`],
    ['^(a|a)*$', `${'a'.repeat(50_000)}!`],
    ['^(?:a?){50}a{50}$', 'a'.repeat(49)],
    ['^\\s*\\s*\\s*$', `${' '.repeat(50_000)}x`],
    ['\\s+$', `${' '.repeat(100_000)}x`],
    ['^(?=(a+)+$).*$', `${'a'.repeat(30_000)}!`],
  ])('MC-SCH-08: %j ends soon', (source, text) => {
    const before = performance.now()
    expect(compilePattern(source).test(text)).toBe(false)
    expect(performance.now() - before).toBeLessThan(5000)
  })

  test('MC-SCH-08: a text that would take too long does not match', () => {
    const pattern = compilePattern('^(?:(?=.*b)a)+b$')
    expect(pattern.test(`${'a'.repeat(40)}b`)).toBe(true)
    expect(pattern.test(`${'a'.repeat(20_000)}b`)).toBe(false)
  })

  test.each([
    ['^(?:(\\w+)\\1)+$', 'a backreference'],
    ['^(?:(?<=a)b*)*$', 'a lookbehind'],
  ])('MC-SCH-08: refuses %j, which nothing can bound', (source, what) => {
    expect(() => compilePattern(source)).toThrow(`holds ${what} and can take exponential time`)
  })

  test('lets the engine decide where time is bounded', () => {
    expect(compilePattern('^(["\']).*\\1$').test('"a"')).toBe(true)
    expect(compilePattern('^(["\']).*\\1$').test(`"${'a'.repeat(1e6)}"`)).toBe(true)
    expect(compilePattern('(?<!x)y').test('xy')).toBe(false)
  })

  test('refuses what is no pattern', () => {
    expect(() => compilePattern('(')).toThrow(SyntaxError)
    expect(() => compilePattern('^(?:a{0,1000}){0,1000}$')).toThrow('repeats too much')
  })
})

test('the shape of a pattern tells how time may grow', () => {
  expect(shapeOf(parsePattern('^[a-z]+$', 'u'))).toEqual({ nested: false, degree: 1, opaque: undefined })
  expect(shapeOf(parsePattern('[a-z]+$', 'u'))).toEqual({ nested: false, degree: 2, opaque: undefined })
  expect(shapeOf(parsePattern('^a?b{3}$', 'u'))).toEqual({ nested: false, degree: 1, opaque: undefined })
  expect(shapeOf(parsePattern('^(?:a|b)+$', 'u'))).toMatchObject({ nested: true })
  expect(shapeOf(parsePattern('(?i:a)', 'u'))).toMatchObject({ opaque: 'flags inside of a group' })
})
