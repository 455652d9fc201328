import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { suggest } from './suggest.ts'

const names = ['stdio', 'socket', 'protocol', 'log-level', 'log-format', 'config', 'enabledTools']

describe('suggestions', () => {
  test.each([
    ['stido', 'stdio'],
    ['sockets', 'socket'],
    ['protcol', 'protocol'],
    ['loglevel', 'log-level'],
    ['LOG-FORMAT', 'log-format'],
    ['conf', 'config'],
    ['enabled-tools', 'enabledTools'],
    ['enabeldTools', 'enabledTools'],
  ])('%s → %s', (written, meant) => {
    expect(suggest(written, names)).toBe(meant)
  })

  test.each(['xyz', 'verbose', '', 'a', 'port', 'x'.repeat(10_000)])('nothing is near %j', (written) => {
    expect(suggest(written, names)).toBeUndefined()
  })

  test('what is written right is its own suggestion', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 50 }), (word) => {
        expect(suggest(word, ['zzzzzzzzzzzz', word])).toBe(word)
      }),
    )
  })
})
