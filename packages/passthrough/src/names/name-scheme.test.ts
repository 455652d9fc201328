import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../sha256.ts'
import { type CreateNameSchemeOptions, createNameScheme } from './name-scheme.ts'

const scheme = (backends: readonly string[], options: Omit<CreateNameSchemeOptions, 'backends'> = {}) =>
  createNameScheme({ backends, ...options })

const suffix = (backend: string, own: string): string => `_${sha256(`${backend}\n${own}`).slice(0, 10)}`

describe('BR-306: names of several backends', () => {
  test('a name is the backend, the separator and the own name, and reads back', () => {
    const names = scheme(['git', 'web'])
    expect(names.publicName('git', 'log')).toBe('git__log')
    expect(names.candidates('git__log')).toEqual([{ backend: 'git', own: 'log' }])
    expect(names.candidates('log')).toEqual([])
    expect(names.candidates('svn__log')).toEqual([])
  })

  test('the separator is configurable', () => {
    const names = scheme(['git'], { separator: '-' })
    expect(names.publicName('git', 'log')).toBe('git-log')
    expect(names.candidates('git-log')).toEqual([{ backend: 'git', own: 'log' }])
  })

  test('a chosen name stands as it is, and the old one is nobody’s', () => {
    const names = scheme(['git', 'web'], { renames: new Map([['git', new Map([['log', 'history']])]]) })
    expect(names.publicName('git', 'log')).toBe('history')
    expect(names.candidates('history')).toEqual([{ backend: 'git', own: 'log' }])
    expect(names.candidates('git__log')).toEqual([])
  })

  test('a name that somebody chose for another tool is not taken from it', () => {
    const names = scheme(['git', 'web'], { renames: new Map([['git', new Map([['log', 'web__get']])]]) })
    expect(names.publicName('web', 'get')).toBe(`web__get${suffix('web', 'get')}`)
    expect(names.candidates('web__get')).toEqual([{ backend: 'git', own: 'log' }])
  })

  test.each<[string, readonly string[], Omit<CreateNameSchemeOptions, 'backends'>]>([
    ['two backends of one name', ['a', 'a'], {}],
    ['a backend without a name', ['a', ''], {}],
    ['an empty separator', ['a'], { separator: '' }],
    ['a separator that narrow clients refuse', ['a'], { separator: '.' }],
    [
      'two tools with one chosen name',
      ['a', 'b'],
      {
        renames: new Map([
          ['a', new Map([['x', 'n']])],
          ['b', new Map([['y', 'n']])],
        ]),
      },
    ],
    ['a chosen name for a backend that is not there', ['a'], { renames: new Map([['b', new Map([['x', 'n']])]]) }],
    ['an empty chosen name', ['a'], { renames: new Map([['a', new Map([['x', '']])]]) }],
  ])('%s is refused', (_what, backends, options) => {
    expect(() => scheme(backends, options)).toThrow(TypeError)
  })
})

describe('F8: names that could be mistaken for another', () => {
  test('of two backends that could own a name, the one with the longer name has it', () => {
    const names = scheme(['a', 'a__b'])
    expect(names.publicName('a__b', 'c')).toBe('a__b__c')
    expect(names.publicName('a', 'b__c')).toBe(`a__b__c${suffix('a', 'b__c')}`)
    expect(names.candidates('a__b__c')).toEqual([{ backend: 'a__b', own: 'c' }])
    expect(names.candidates(`a__b__c${suffix('a', 'b__c')}`).map(({ backend }) => backend)).toContain('a')
  })

  test('seventy characters that are equal in the first sixty-four stay apart within sixty-four', () => {
    const names = scheme(['backend'])
    const start = 'x'.repeat(64)
    const [one, two] = [names.publicName('backend', `${start}-first`), names.publicName('backend', `${start}-other`)]
    expect(one).not.toBe(two)
    expect([one.length, two.length]).toEqual([64, 64])
    expect(one).toBe(`backend__${start}`.slice(0, 53) + suffix('backend', `${start}-first`))
    expect(names.candidates(one)).toEqual([{ backend: 'backend' }])
  })

  test('other characters are replaced, and names that differ in them alone stay apart', () => {
    const names = scheme(['files'])
    // as docs/proxy-names.md tells users to work it out
    expect(names.publicName('files', 'read.all')).toBe('files__read_all_5bc3683b5d')
    expect(names.publicName('files', 'read/all')).not.toBe(names.publicName('files', 'read.all'))
    expect(scheme(['files'], { narrow: false }).publicName('files', 'read.all')).toBe('files__read.all')
  })

  test('a name that looks shortened is shortened, so that nobody can take the place of another', () => {
    const names = scheme(['a'])
    const forged = `b${suffix('a', 'b')}`
    expect(names.publicName('a', forged)).toBe(`a__${forged}${suffix('a', forged)}`)
  })

  test('backends whose names differ in odd characters alone get prefixes that differ', () => {
    const names = scheme(['my server', 'my.server', 'my_server', 'other!'])
    const all = ['my server', 'my.server', 'my_server', 'other!'].map((backend) => names.publicName(backend, 'go'))
    expect(new Set(all).size).toBe(4)
    expect(all[2]).toBe('my_server__go')
    expect(all[3]).toBe('other___go')
    expect(names.candidates(all[0] as string)).toEqual([{ backend: 'my server', own: 'go' }])
  })

  test('E13: prototype names are names', () => {
    const names = scheme(['__proto__', 'constructor'])
    expect(names.candidates(names.publicName('__proto__', 'toString'))).toEqual([
      { backend: '__proto__', own: 'toString' },
    ])
    expect(names.candidates('toString')).toEqual([])
  })
})

const odd = fc.constantFrom('_', '__', '-', '.', ' ', 'é', '🎉', 'a', 'b', '_0123456789', '\n')
const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.array(odd, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', minLength: 50, maxLength: 90 }),
)

/** Backends with what each offers. */
const offers = fc.uniqueArray(fc.tuple(name, fc.uniqueArray(name, { maxLength: 6 })), {
  minLength: 1,
  maxLength: 5,
  selector: ([backend]) => backend,
})

describe.each([true, false])('F8: whatever backends offer, narrow: %j', (narrow) => {
  test('no two share a name, every name reads back, and no order matters', () => {
    fc.assert(
      fc.property(offers, fc.constantFrom('__', '_', '-'), (offered, separator) => {
        const backends = offered.map(([backend]) => backend)
        const names = scheme(backends, { narrow, separator })
        const reversed = scheme(backends.toReversed(), { narrow, separator })
        const taken = new Set<string>()
        for (const [backend, owns] of offered) {
          for (const own of owns) {
            const given = names.publicName(backend, own)
            expect(taken.has(given)).toBe(false)
            taken.add(given)
            expect(reversed.publicName(backend, own)).toBe(given)
            // a plain name tells itself; of a shortened one the lists of its candidates do
            const candidates = names.candidates(given)
            expect(candidates.map((candidate) => candidate.backend)).toContain(backend)
            const told = candidates.filter((candidate) => candidate.own !== undefined)
            expect([[], [{ backend, own }]]).toContainEqual(told)
            expect(candidates.length === 1 || told.length === 0).toBe(true)
          }
        }
      }),
    )
  })

  test('a name that clients cannot take never comes out', () => {
    fc.assert(
      fc.property(offers, (offered) => {
        const names = scheme(
          offered.map(([backend]) => backend),
          { narrow: true },
        )
        for (const [backend, owns] of offered) {
          for (const own of owns) expect(names.publicName(backend, own)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
        }
      }),
    )
  })

  test('what somebody chose is what comes out, and nobody else has it', () => {
    fc.assert(
      fc.property(offers, fc.nat(), fc.stringMatching(/^[a-z_]{1,12}$/), (offered, pick, chosen) => {
        const all = offered.flatMap(([backend, owns]) => owns.map((own) => ({ backend, own })))
        fc.pre(all.length > 0)
        const renamed = all[pick % all.length] as { backend: string; own: string }
        const names = scheme(
          offered.map(([backend]) => backend),
          {
            narrow,
            renames: new Map([[renamed.backend, new Map([[renamed.own, chosen]])]]),
          },
        )
        const holders = all.filter(({ backend, own }) => names.publicName(backend, own) === chosen)
        expect(holders).toEqual([renamed])
        expect(names.candidates(chosen)).toEqual([renamed])
      }),
    )
  })
})
