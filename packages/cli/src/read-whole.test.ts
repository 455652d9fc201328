import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readWhole } from './read-whole.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-read-'))
afterAll(() => rmSync(folder, { recursive: true }))

function pipe(name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

test('a file is read as it is', () => {
  const file = join(folder, 'plain')
  writeFileSync(file, Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0]))
  expect([...readWhole(file)]).toEqual([0xef, 0xbb, 0xbf, 0xff, 0])
})

test('a pipe is read to its end, also when its writer comes late and takes its time', async () => {
  const path = pipe('late')
  const writer = spawn('sh', ['-c', `sleep 0.2; exec >"$0"; printf one; sleep 0.3; printf two`, path])
  expect(readWhole(path).toString()).toBe('onetwo')
  await once(writer, 'close')
})

test('a pipe that nobody writes to is told, and not waited for without an end', () => {
  expect(() => readWhole(pipe('silent'))).toThrow(/nobody has written to .*silent for 2 seconds/)
})

test('what has no end is read up to the limit', () => {
  expect(() => readWhole('/dev/zero', 1_000_000)).toThrow('/dev/zero has more than 1000000 bytes')
})

test('a file over the limit, a folder, and what is not there are told', () => {
  const file = join(folder, 'long')
  writeFileSync(file, 'four')
  expect(() => readWhole(file, 3)).toThrow('more than 3 bytes')
  expect(() => readWhole(folder)).toThrow('EISDIR')
  expect(() => readWhole(join(folder, 'none'))).toThrow('ENOENT')
})
