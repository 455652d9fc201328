import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeResult } from './write-result.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-result-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('an older report is replaced as a whole: whoever reads it meanwhile gets all of it, its mode stays, and nothing else is left', async () => {
  const file = join(folder, 'report.json')
  const link = join(folder, 'link.json')
  writeFileSync(file, 'the older report')
  chmodSync(file, 0o600)
  symlinkSync(file, link)
  const reader = openSync(file, 'r')
  await writeResult('new', link)
  expect(readFileSync(reader, 'utf8')).toBe('the older report')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(readdirSync(folder)).toEqual(['link.json', 'report.json'])
})

test('a pipe gets the report, and stays a pipe', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const reader = spawn('cat', [pipe])
  const closed = once(reader, 'close')
  let read = ''
  reader.stdout.setEncoding('utf8').on('data', (text: string) => (read += text))
  await writeResult('through a pipe', pipe)
  await closed
  expect(read).toBe('through a pipe')
  expect(lstatSync(pipe).isFIFO()).toBe(true)
})

test('what cannot be written is told', async () => {
  await expect(writeResult('x', join(folder, 'none', 'report.json'))).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^cannot write the result: ENOENT/),
  })
})
