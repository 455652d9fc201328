import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SocketListener, dialSocket, listenSocket } from '@atenea/transport-stdio'
import { afterAll, beforeAll } from 'vitest'
import { connectionSuite } from '../src/connection-suite.ts'
import { runEchoPeer } from '../src/echo-peer.ts'
import { until } from './_util/processes.ts'

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

connectionSuite('a unix socket', {
  principal: `uid:${process.getuid?.()}`,
  open: async () => await dialSocket(path),
  allGone: async () => await until(() => open === 0),
})
