import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bestType, normalizeType, parseType } from './mime-type.ts'

test.each([
  ['image/png', 'image/png'],
  [' Image/PNG ', 'image/png'],
  ['image/svg+xml', 'image/svg+xml'],
  ['text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
  ['text/plain;charset="utf-8"', 'text/plain;charset="utf-8"'],
  ['application/vnd.ipld.car', 'application/vnd.ipld.car'],
  ['*/*', undefined],
  ['image/*', undefined],
  ['image', undefined],
  ['image/png/x', undefined],
  ['', undefined],
  ['text/html\r\nx-evil: 1', undefined],
  ['text/html; a="\r\n"', undefined],
  ['text/plain; charset=', undefined],
  ['тип/подтип', undefined],
  [`text/${'x'.repeat(300)}`, undefined],
  [undefined, undefined],
])('%j is normalized to %j', (text, type) => {
  expect(normalizeType(text)).toBe(type)
})

test('a type that was normalized stays as it is, and fits into a header', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\w*+.-]+\/[\w*+.-]+(; ?\w+=[\w"]*)?$/)), (text) => {
      const type = normalizeType(text)
      expect(type === undefined || (normalizeType(type) === type && /^[\x20-\x7e]+$/.test(type))).toBe(true)
    }),
  )
})

test('G1: what is no type is refused before anything is sent', () => {
  expect(parseType('image/PNG')).toBe('image/png')
  for (const text of ['*/*', 'png', 'a/b\nc', undefined as unknown as string]) {
    expect(() => parseType(text)).toThrow(expect.objectContaining({ kind: 'invalid-type' }))
  }
})

test('G2: of what was said of the same bytes, the first that says something counts', () => {
  expect(bestType('application/octet-stream', 'image/png')).toBe('image/png')
  expect(bestType('image/png', 'image/jpeg')).toBe('image/png')
  expect(bestType(undefined, 'application/octet-stream')).toBe('application/octet-stream')
  expect(bestType(undefined)).toBe(undefined)
})
