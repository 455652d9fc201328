import { describe, expect, test } from 'vitest'
import { parseChallenges } from './challenge.ts'

function plainOf(field: string): unknown {
  return parseChallenges(field).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])
}

describe('A7: a WWW-Authenticate field', () => {
  test.each([
    ['Bearer', [['bearer', {}]]],
    [
      'Bearer resource_metadata="https://a.example/x?y=1,2", Scope="a b", error=invalid_token',
      [['bearer', { resource_metadata: 'https://a.example/x?y=1,2', scope: 'a b', error: 'invalid_token' }]],
    ],
    [
      'Bearer realm="say \\"hi\\"", BASIC realm=x',
      [
        ['bearer', { realm: 'say "hi"' }],
        ['basic', { realm: 'x' }],
      ],
    ],
    [
      'Basic dXNlcjpwYXNz==, DPoP algs="ES256"',
      [
        ['basic', {}],
        ['dpop', { algs: 'ES256' }],
      ],
    ],
    [
      'Negotiate, Bearer scope=a',
      [
        ['negotiate', {}],
        ['bearer', { scope: 'a' }],
      ],
    ],
    ['', []],
    ['"', []],
    ['Bearer realm="never closed', [['bearer', {}]]],
  ])('%s', (field, expected) => {
    expect(plainOf(field)).toEqual(expected)
  })

  test('is read in linear time, or not at all', () => {
    const started = performance.now()
    for (const hostile of [
      'a="'.repeat(5_000),
      'Bearer '.repeat(2_300),
      `Bearer a="${'\\'.repeat(16_000)}`,
      ' '.repeat(16_000),
      'x'.repeat(100_000),
    ]) {
      parseChallenges(hostile)
    }
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(parseChallenges(`Bearer a="${'x'.repeat(20_000)}"`)).toEqual([])
  })
})
