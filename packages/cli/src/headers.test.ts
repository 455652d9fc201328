import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readHeaders } from './headers.ts'
import { createRedactor } from './redact.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-headers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'headers.txt')

describe('headers of the command line', () => {
  test('those of the file, then those of flags, which win', () => {
    writeFileSync(file, '\ufeff# a comment\r\nAuthorization: Bearer abc:def\r\n\r\nX-Team : tea\n')
    expect(readHeaders(['x-team: coffee', 'X-Empty:  a  b '], file, createRedactor())).toEqual({
      authorization: 'Bearer abc:def',
      'x-team': 'coffee',
      'x-empty': 'a  b',
    })
  })

  test('values are never shown again, with or without the name of their scheme', () => {
    const redactor = createRedactor()
    readHeaders(
      ['Authorization: Bearer kept-from-sight', 'X-Custom: also-kept', 'Accept: application/json'],
      undefined,
      redactor,
    )
    expect(redactor.redact('a kept-from-sight b also-kept c application/json')).toBe(
      'a [redacted] b [redacted] c application/json',
    )
  })

  test.each([
    ['Authorization', '--header: a header is written "NAME: VALUE"'],
    ['a b: c', '--header: a header is written "NAME: VALUE"'],
    ['X-A:', '--header: the header X-A has no value'],
    ['X-A: ü\u0001', '--header: the value of the header X-A has a character that no header can hold'],
  ])('%j is refused without being repeated', (text, message) => {
    expect(() => readHeaders([text], undefined, createRedactor())).toThrow(message)
  })

  test('the line of a file is named, not its text', () => {
    writeFileSync(file, 'X-A: b\nsecret-without-a-name\n')
    expect(() => readHeaders([], file, createRedactor())).toThrow(
      /headers\.txt:2: a header is written "NAME: VALUE", such as "Authorization: Bearer …"$/,
    )
    expect(() => readHeaders([], join(folder, 'none'), createRedactor())).toThrow('cannot read the headers: ENOENT')
  })
})
