import { expect, test } from 'vitest'
import { createStderrLines } from './stderr-lines.ts'

function collect(...chunks: (string | Buffer)[]): { lines: string[]; last: readonly string[] } {
  const lines: string[] = []
  const logs = createStderrLines((line) => lines.push(line))
  for (const chunk of chunks) logs.push(Buffer.from(chunk))
  logs.end()
  return { lines, last: logs.last }
}

test('lines come without their ends, blank ones included, and an unfinished last one too', () => {
  expect(collect('a\r\n\nb', 'c').lines).toEqual(['a', '', 'bc'])
})

test('characters that are cut between chunks stay whole; other bytes become U+FFFD', () => {
  const bytes = Buffer.from('読🎉\n')
  expect(collect(...Array.from(bytes, (byte) => Buffer.from([byte]))).lines).toEqual(['読🎉'])
  expect(collect(Buffer.from([0xc3, 0x28, 0x0a])).lines).toEqual(['\ufffd('])
})

test('a line without end is handed on in pieces', () => {
  const { lines } = collect('x'.repeat(20_000))
  expect(lines.map((line) => line.length)).toEqual([8192, 8192, 3616])
})

test('the last 20 lines that say something are kept, cut to 500 characters', () => {
  const { last } = collect(
    Array.from({ length: 30 }, (_, index) => `line ${index}\n\n`).join(''),
    `${'🎉'.repeat(400)}\n`,
  )
  expect(last).toHaveLength(20)
  expect(last[0]).toBe('line 11')
  expect(last.at(-1)?.length).toBe(501)
  expect(last.at(-1)?.isWellFormed()).toBe(true)
})
