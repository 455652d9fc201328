import { createRevisionPolicy } from '@atenea/mcpcompat'
import { connectDuplex, createMemoryPair, serveConnection } from '@atenea/mcpcompat/transport'
import { dispatcherSuite, suiteCapabilities } from '../src/dispatcher-suite.ts'
import { createServedCore } from '../src/served-core.ts'

const served = new Set<Promise<void>>()

dispatcherSuite('memory', {
  async open(era) {
    return await connectDuplex(
      async () => {
        const [client, server] = createMemoryPair()
        served.add(serveConnection(server, createServedCore(), { policy: createRevisionPolicy() }))
        return await Promise.resolve(client)
      },
      {
        policy: createRevisionPolicy(),
        info: { name: 'suite', version: '1.0.0' },
        capabilities: suiteCapabilities,
        mode: era,
        startsProcess: false,
      },
    )
  },
  async allGone() {
    await Promise.all(served)
    served.clear()
  },
})
