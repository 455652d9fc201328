import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withFileLock } from '../src/oauth/node/file-lock.ts'

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-lock-'))
  lock = join(folder, 'lock')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const worker = join(import.meta.dirname, '_util/lock-worker.ts')
const start = (times: string) =>
  spawn(process.execPath, ['--no-warnings', worker, lock, join(folder, 'counter'), times], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** What the lock of a process looks like that holds it now. */
async function holder(): Promise<Readonly<Record<string, unknown>>> {
  return await withFileLock(
    lock,
    async () => await Promise.resolve(JSON.parse(readFileSync(lock, 'utf8')) as Readonly<Record<string, unknown>>),
  )
}

/** How long it takes to get a lock that others left. */
async function waitFor(signal?: AbortSignal): Promise<number> {
  const begun = performance.now()
  await withFileLock(lock, async () => await Promise.resolve(), { signal })
  return performance.now() - begun
}

test('one at a time, of several processes too, and nothing is left', async () => {
  writeFileSync(join(folder, 'counter'), '0')
  const workers = Array.from({ length: 6 }, () => start('25'))
  const codes = await Promise.all(workers.map(async (child) => (await once(child, 'exit'))[0] as number))
  expect(codes).toEqual([0, 0, 0, 0, 0, 0])
  expect(readFileSync(join(folder, 'counter'), 'utf8')).toBe('150')
  expect(readdirSync(folder)).toEqual(['counter'])
})

test('a holder that is killed is followed at once, by one of those who wait', async () => {
  writeFileSync(join(folder, 'counter'), '0')
  for (let round = 1; round <= 5; round++) {
    const held = start('hold')
    await once(held.stdout, 'data')
    const waiting = Array.from({ length: 3 }, () => start('2'))
    held.kill('SIGKILL')
    await Promise.all(waiting.map(async (child) => await once(child, 'exit')))
    expect(readFileSync(join(folder, 'counter'), 'utf8')).toBe(String(round * 6))
  }
  expect(readdirSync(folder)).toEqual(['counter'])
})

test('the number of a process that was given out again is not taken for the holder', async () => {
  const own = await holder()
  writeFileSync(lock, JSON.stringify({ ...own, id: 'other', start: '1' }))
  expect(await waitFor()).toBeLessThan(2_000)
})

test('a holder that somebody has stopped is believed for a minute, and gives way then', async (context) => {
  context.skip(process.platform !== 'linux', 'needs the states of processes')
  const held = start('hold')
  await once(held.stdout, 'data')
  held.kill('SIGSTOP')
  await expect(waitFor(AbortSignal.timeout(400))).rejects.toThrow('timeout')
  const longAgo = new Date(Date.now() - 120_000)
  utimesSync(lock, longAgo, longAgo)
  expect(await waitFor()).toBeLessThan(2_000)
  held.kill('SIGKILL')
  await once(held, 'exit')
  expect(readdirSync(folder)).toEqual([])
})

test('a holder of another machine or container is believed while it shows signs of life', async () => {
  const own = await holder()
  writeFileSync(lock, JSON.stringify({ ...own, id: 'other', world: 'elsewhere' }))
  await expect(waitFor(AbortSignal.timeout(400))).rejects.toThrow('timeout')
  const longAgo = new Date(Date.now() - 120_000)
  utimesSync(lock, longAgo, longAgo)
  expect(await waitFor()).toBeLessThan(2_000)
})

test('what nobody of us wrote is not believed for ever', async () => {
  writeFileSync(lock, '')
  const longAgo = new Date(Date.now() - 120_000)
  utimesSync(lock, longAgo, longAgo)
  expect(await waitFor()).toBeLessThan(2_000)
})

test('waiting ends with the reason of the signal, and leaves the holder its lock', async () => {
  const given = new AbortController()
  const reason = new Error('not needed any more')
  let inner: Promise<unknown> | undefined
  await withFileLock(lock, async () => {
    inner = withFileLock(lock, async () => await Promise.resolve(), { signal: given.signal }).catch(
      (error: unknown) => error,
    )
    await new Promise((resolve) => void setTimeout(resolve, 150))
    given.abort(reason)
    expect(await inner).toBe(reason)
    expect(readdirSync(folder)).toEqual(['lock'])
  })
  expect(readdirSync(folder)).toEqual([])
})
