import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SocketListener, dialSocket, listenSocket } from '@atenea/transport-stdio'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connectionSuite } from '../src/connection-suite.ts'
import { runEchoPeer } from '../src/echo-peer.ts'
import { fixture, mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folder = mkdtempSync(join(tmpdir(), 'testkit-'))
const path = join(folder, 'echo.sock')
let listener: SocketListener
let open = 0

beforeAll(async () => {
  listener = await listenSocket(path, async (connection) => {
    open += 1
    try {
      await runEchoPeer(connection)
    } finally {
      open -= 1
    }
  })
})

afterAll(async () => {
  await listener.close()
  const left = readdirSync(folder)
  rmSync(folder, { recursive: true })
  if (left.length > 0) throw new Error(`left behind: ${left.join()}`)
})

test('F19: of several processes that start at once at a stale socket exactly one wins, again after kill -9', async () => {
  const contested = join(folder, 'contested.sock')
  for (let round = 0; round < 3; round += 1) {
    const { command, args = [] } = fixture('listens', contested)
    const children = Array.from({ length: 4 }, () => spawn(command, args))
    const said = children.map((child) => once(child.stdout, 'data'))
    // They are loaded before they are let go, so that they really meet.
    await new Promise((resolve) => {
      setTimeout(resolve, 500)
    })
    for (const child of children) child.stdin.end()
    const results = (await Promise.all(said)).map((chunk) => String(chunk).trim())
    expect(results.filter((result) => result === 'won')).toHaveLength(1)
    expect(results.filter((result) => result.includes('is in use'))).toHaveLength(3)
    const connection = await dialSocket(contested)
    await connection[Symbol.asyncDispose]()
    for (const child of children) child.kill('SIGKILL')
    await until(() => processesWith(mark).length === 0)
  }
  expect(readdirSync(folder).toSorted()).toEqual(['contested.sock', 'echo.sock'])
  rmSync(contested)
})

connectionSuite('a unix socket', {
  principal: `uid:${process.getuid?.()}`,
  open: async () => await dialSocket(path),
  allGone: async () => await until(() => open === 0),
})
