import { connectionSuite } from '../src/connection-suite.ts'
import { mark, startFixture } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

connectionSuite('stdio', {
  principal: 'local',
  open: async () => await startFixture('echo'),
  allGone: async () => await until(() => processesWith(mark).length === 0),
})
