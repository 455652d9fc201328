import { vi } from 'vitest'
import { dispatcherSuite, suiteCapabilities } from '../src/dispatcher-suite.ts'
import { mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'
import { type BackCarrier, backendOn, clientOn, type FrontCarrier, Opened, passthroughTo } from './_util/proxied.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const other = { modern: 'legacy', legacy: 'modern' } as const

const ways: readonly (readonly [front: FrontCarrier, back: BackCarrier, sameEra: boolean])[] = [
  ['memory', 'memory', true],
  ['memory', 'memory', false],
  ['http', 'stdio', true],
  ['socket', 'http', true],
  ['socket', 'http', false],
  ['http', 'socket', false],
]

// What a client is owed by a server it is owed through a proxy as well, whichever era stands behind it.
for (const [front, back, sameEra] of ways) {
  let opened = new Opened()
  dispatcherSuite(
    `${front} in front of ${back}, ${sameEra ? 'same era' : 'other era'} (BR-121, BR-221, BR-301, BR-307)`,
    {
      async open(era) {
        const backend = await backendOn(back, sameEra ? era : other[era], opened)
        const passthrough = passthroughTo([backend], opened, { bridgeInput: !sameEra })
        return await clientOn(front, passthrough, opened, {
          mode: era,
          info: { name: 'suite', version: '1.0.0' },
          capabilities: suiteCapabilities,
        })
      },
      // Modern clients of a legacy server share a session, in which the proxy speaks for them.
      clientSeen: (era) => ({ name: !sameEra && era === 'modern' ? 'proxy' : 'suite', version: '1.0.0' }),
      async allGone() {
        await opened[Symbol.asyncDispose]()
        opened = new Opened()
        if (back === 'stdio') await until(() => processesWith(mark).length === 0)
      },
    },
  )
}
