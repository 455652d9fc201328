import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readHeaderFile, readHeaders } from './header-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-headers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fileOf(text: string): string {
  const file = join(folder, 'headers.txt')
  writeFileSync(file, text)
  return file
}

test('headers are a name and a value, which may hold colons', () => {
  expect(readHeaders(['X-Api-Key: a:b', 'x-empty-space:  c  '], () => 'x')).toEqual({
    'X-Api-Key': 'a:b',
    'x-empty-space': 'c',
  })
  expect(readHeaderFile(fileOf('# who we are\r\nAuthorization: Bearer abc\r\n\nX-A: 1'))).toEqual({
    Authorization: 'Bearer abc',
    'X-A': '1',
  })
})

test.each([
  'X-Secret',
  ': secret',
  'X Secret: secret',
  'X-Secret: sec\u0001ret',
  'X-Secret:',
  'X-Secret: s\nX: secret',
])('F16: %j is refused by its place, without its value', (line) => {
  expect(() => readHeaders([line], () => 'what follows --header')).toThrow(
    /^what follows --header must be the name of a header/,
  )
})

test('the line of a file is told', () => {
  expect(() => readHeaderFile(fileOf('# a\n\nnot a header'))).toThrow(/^line 3 of .*headers\.txt must be/)
  expect(() => readHeaderFile(fileOf('# nothing\n'))).toThrow('holds no header')
  expect(() => readHeaderFile(join(folder, 'none'))).toThrow('cannot be read')
})
