import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAllowList } from './policy.ts'

describe('createAllowList', () => {
  test.each<[allow: string[] | undefined, deny: string[] | undefined, name: string, allowed: boolean]>([
    [undefined, undefined, 'anything', true],
    [[], undefined, 'anything', false],
    [[], [], '', false],
    [['*'], undefined, '', true],
    [['a'], undefined, 'a', true],
    [['a'], undefined, 'A', false],
    [['a'], undefined, 'ab', false],
    [['a', 'b'], undefined, 'b', true],
    [['get_*'], undefined, 'get_', true],
    [['get_*'], undefined, 'get_record', true],
    [['get_*'], undefined, 'xget_record', false],
    [['*_blob'], undefined, 'get_blob', true],
    [['*_blob'], undefined, 'get_blobs', false],
    [['a*b*c'], undefined, 'abxbc', true],
    [['a*b*c'], undefined, 'acb', false],
    [['*ab*ab*'], undefined, 'xabab', true],
    [['*ab*ab*'], undefined, 'xaba', false],
    [['get_?'], undefined, 'get_a', true],
    [['get_?'], undefined, 'get_', false],
    [['get_?'], undefined, 'get_🎉', true],
    [['**'], undefined, 'x', true],
    [['a**b'], undefined, 'ab', true],
    [['atenea-blob:///*'], undefined, 'atenea-blob:///did:plc:x/cid', true],
    [['a.b'], undefined, 'axb', false],
    [['[ab]'], undefined, 'a', false],
    [['[ab]'], undefined, '[ab]', true],
    [['{a,b}'], undefined, 'a', false],
    [['a\\*'], undefined, 'a*', true],
    [['a\\*'], undefined, 'ab', false],
    [['\\?\\\\*'], undefined, '?\\x', true],
    [[''], undefined, '', true],
    [[''], undefined, 'x', false],
  ])('allow %j, deny %j, name %j: %j', (allow, deny, name, allowed) => {
    expect(createAllowList({ allow, deny }).allows(name)).toBe(allowed)
  })

  test('F5: deny wins, whatever the order and however exact the allow is', () => {
    const list = createAllowList({ allow: ['danger', '*'], deny: ['dan*'] })
    expect(list.allows('danger')).toBe(false)
    expect(list.allows('Danger')).toBe(true)
    expect(createAllowList({ deny: ['danger'] }).allows('danger')).toBe(false)
    expect(createAllowList({ deny: ['danger'] }).allows('safe')).toBe(true)
    expect(createAllowList({ deny: ['*'] }).allows('safe')).toBe(false)
  })

  test('tells what is denied from what is merely not allowed', () => {
    const list = createAllowList({ allow: ['a'], deny: ['b*'] })
    expect(['a', 'b', 'bc', 'c'].map((name) => list.denies(name))).toEqual([false, true, true, false])
  })

  test('F5: an empty allow-list allows nothing', () => {
    const list = createAllowList({ allow: [] })
    for (const name of ['', 'a', '*', 'constructor']) expect(list.allows(name)).toBe(false)
  })

  test('E13: prototype names are just names', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
    const [some, none, allButProto] = [
      createAllowList({ allow: ['a', 'b*'] }),
      createAllowList({ allow: [] }),
      createAllowList({ deny: ['__proto__'] }),
    ]
    for (const name of names) {
      expect(some.allows(name)).toBe(false)
      expect(none.allows(name)).toBe(false)
      expect(createAllowList({ allow: [name] }).allows(name)).toBe(true)
      expect(allButProto.allows(name)).toBe(name !== '__proto__')
    }
  })

  test('matches what an anchored regular expression matches', () => {
    const unit = fc.constantFrom('a', 'b', '.', '*', '?', '🎉')
    const toRegExp = (glob: string): RegExp =>
      new RegExp(
        `^${Array.from(glob, (c) => (c === '*' ? '.*' : c === '?' ? '.' : c.replace(/[.]/, '\\.'))).join('')}$`,
        'su',
      )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), fc.string({ unit, maxLength: 10 }), (glob, name) => {
        expect(createAllowList({ allow: [glob] }).allows(name)).toBe(toRegExp(glob).test(name))
      }),
      { numRuns: 5000 },
    )
  })

  test('a pattern made to blow up a regular expression does not', () => {
    const name = 'a'.repeat(20_000)
    expect(createAllowList({ allow: [`${'a*'.repeat(50)}b`] }).allows(name)).toBe(false)
    expect(createAllowList({ allow: [`${'*a'.repeat(50)}*`] }).allows(name)).toBe(true)
    expect(createAllowList({ allow: [`${'?*'.repeat(50)}b`] }).allows(name)).toBe(false)
  })

  test('refuses patterns that mean nothing', () => {
    expect(() => createAllowList({ allow: ['a\\'] })).toThrow(TypeError)
    expect(() => createAllowList({ deny: [1 as never] })).toThrow(TypeError)
  })

  test('does not follow later changes of the arrays it was given', () => {
    const allow = ['a']
    const list = createAllowList({ allow })
    allow.push('b')
    expect(list.allows('b')).toBe(false)
  })
})
