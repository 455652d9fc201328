import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import { connectDuplex, serveConnection } from '@atenea/mcpcompat/transport'
import { type SocketListener, dialSocket, listenSocket } from '@atenea/transport-stdio'
import { afterAll, beforeAll } from 'vitest'
import { dispatcherSuite, suiteCapabilities } from '../src/dispatcher-suite.ts'
import { createServedCore } from '../src/served-core.ts'
import { until } from './_util/processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'testkit-'))
const path = join(folder, 'served.sock')
const policy = createRevisionPolicy()
let listener: SocketListener
let open = 0

beforeAll(async () => {
  listener = await listenSocket(path, async (connection) => {
    open += 1
    try {
      await serveConnection(connection, createServedCore(), { policy })
    } finally {
      open -= 1
    }
  })
})

afterAll(async () => {
  await listener.close()
  rmSync(folder, { recursive: true })
})

dispatcherSuite('a unix socket', {
  open: async (era) =>
    await connectDuplex(async ({ signal }) => await dialSocket(path, { signal }), {
      policy,
      info: { name: 'suite', version: '1.0.0' },
      capabilities: suiteCapabilities,
      mode: era,
      startsProcess: false,
    }),
  allGone: async () => await until(() => open === 0),
})
