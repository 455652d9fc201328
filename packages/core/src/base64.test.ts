import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeBase64, encodeByChunks, isBase64 } from './base64.ts'

describe('MC-RES-08: base64', () => {
  test('is the same by either way and can be read back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60_000, size: 'max' }), (bytes) => {
        const text = encodeBase64(bytes)
        expect(encodeByChunks(bytes)).toBe(text)
        expect(isBase64(text)).toBe(true)
        expect(Buffer.from(text, 'base64').equals(bytes)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  test('encodes only the part that a view shows', () => {
    const all = new Uint8Array([1, 2, 3, 4, 5])
    expect(encodeBase64(all.subarray(1, 3))).toBe('AgM=')
  })

  test.each(['A', 'AA=', 'A===', 'AA-_', 'AAAA\n', 'AA==AA=='])('%j is none', (text) => {
    expect(isBase64(text)).toBe(false)
  })
})
