import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { headerBytes } from '../src/fs-header.ts'
import { createFsStore } from '../src/fs-store.ts'
import { someBytes } from './_util/bytes.ts'
import { testFolder } from './_util/folders.ts'

const worker = fileURLToPath(new URL('_util/store-worker.ts', import.meta.url))
const maxBytes = 8_000_000

function start(root: string, rounds: number): ChildProcess {
  const args = ['--no-warnings', worker, root, String(maxBytes), String(rounds)]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Hashes every file that has the name of a blob. */
function look(root: string): { wrong: string[]; bytes: number; temporary: string[] } {
  const top = join(root, 'v1')
  const paths = readdirSync(top)
    .filter((folder) => folder !== 'tmp')
    .flatMap((folder) => readdirSync(join(top, folder)).map((name) => ({ folder, name })))
  const wrong = paths.filter(({ folder, name }) => {
    const bytes = readFileSync(join(top, folder, name)).subarray(headerBytes)
    return createHash('sha256').update(bytes).digest('hex') !== folder + name
  })
  return {
    wrong: wrong.map(({ folder, name }) => folder + name),
    bytes: paths.reduce((sum, { folder, name }) => sum + statSync(join(top, folder, name)).size, 0),
    temporary: readdirSync(join(top, 'tmp')),
  }
}

test('several processes use one folder at once: each gets right bytes or none, and the limit holds', {
  timeout: 120_000,
}, async () => {
  const root = testFolder()
  const workers = Array.from({ length: 4 }, () => start(root, 40))
  for (const child of workers) child.stdout?.resume()
  const ends = await Promise.all(workers.map((child) => once(child, 'exit')))
  expect(ends).toEqual(workers.map(() => [0, null]))
  const { wrong, bytes, temporary } = look(root)
  expect([wrong, temporary]).toEqual([[], []])
  // Each sees what the others add when it has added an eighth of the limit itself; a blob has up to 2 MB.
  expect(bytes).toBeLessThan(maxBytes + 4 * (maxBytes / 8 + 2_000_000))
})

test('a process that is killed leaves whole files or none, and its temporary file is cleared later', {
  timeout: 120_000,
}, async () => {
  const root = testFolder()
  let left = 0
  for (let round = 0; round < 12; round++) {
    const child = start(root, 1_000_000)
    const exited = once(child, 'exit')
    await once(child.stdout ?? child, 'data')
    await new Promise((resolve) => void setTimeout(resolve, Math.random() * 30))
    child.kill('SIGKILL')
    expect(await exited).toEqual([null, 'SIGKILL'])
    const { wrong, temporary } = look(root)
    expect(wrong).toEqual([])
    left = temporary.length
  }
  // Killed in the middle of writing at least once, or this has shown nothing.
  expect(left).toBeGreaterThan(0)
  await createFsStore(root, { maxBytes, staleMs: 0 }).put(someBytes(10).bytes)
  expect(look(root).temporary).toEqual([])
})
