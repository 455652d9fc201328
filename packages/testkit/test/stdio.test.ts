import { vi } from 'vitest'
import { connectionSuite } from '../src/connection-suite.ts'
import { mark, startFixture } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

connectionSuite('stdio', {
  principal: 'local',
  open: async () => await startFixture('echo'),
  allGone: async () => await until(() => processesWith(mark).length === 0),
})
