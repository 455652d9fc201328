import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'

const folder = fileURLToPath(new URL('../dist/', import.meta.url))
let bench: ChildProcess | undefined
afterEach(() => bench?.kill('SIGKILL'))

test.each([
  ['main.js', '--suite', 'http-1', '--target', 'bare', '--era', 'modern'],
  ['soak/main.js', '--scenario', 'listens'],
])('a server ends with %s when that is told to end', async (main, ...args) => {
  const started = spawn(process.execPath, [folder + main, ...args], { stdio: 'ignore' })
  bench = started
  // the generator may bind itself to a processor before, which is a child too
  const server = await vi.waitUntil(() => childrenOf(started.pid as number).find(isServer), { timeout: 30_000 })
  await delay(50)
  const ended = once(started, 'exit')
  started.kill('SIGTERM')
  expect(await ended).toEqual([1, null])
  await vi.waitUntil(() => !isServer(server), { timeout: 30_000 })
})

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

function isServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('/servers/')
  } catch {
    return false
  }
}
