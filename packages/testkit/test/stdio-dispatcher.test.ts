import { vi } from 'vitest'
import { dispatcherSuite, suiteCapabilities } from '../src/dispatcher-suite.ts'
import { connect } from './_util/connecting.ts'
import { mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

dispatcherSuite('stdio', {
  open: async (era) =>
    await connect('served', [], {
      mode: era,
      info: { name: 'suite', version: '1.0.0' },
      capabilities: suiteCapabilities,
    }).connecting,
  allGone: async () => await until(() => processesWith(mark).length === 0),
})
