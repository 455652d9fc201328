import { createRevisionPolicy, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { connectDuplex, createMemoryPair, serveConnection } from '@atenea/mcpcompat/transport'
import { expect, test } from 'vitest'
import { dispatcherSuite, suiteCapabilities } from '../src/dispatcher-suite.ts'
import { createServedCore } from '../src/served-core.ts'
import { inspected, WireInspector } from '../src/wire-inspector.ts'

const revisionOf = { modern: modernRevision, legacy: legacyRevision }
const served = new Set<Promise<void>>()
const inspectors: WireInspector[] = []

dispatcherSuite('memory', {
  async open(era) {
    const inspector = new WireInspector(revisionOf[era])
    inspectors.push(inspector)
    return await connectDuplex(
      async () => {
        const [client, server] = createMemoryPair()
        served.add(serveConnection(server, createServedCore(), { policy: createRevisionPolicy() }))
        return await Promise.resolve(inspected(client, inspector))
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

test('MC-MSG-01, MC-MSG-16: what the whole suite said, in every message pattern, both ways and in both eras, is what the schemas of the specification demand', () => {
  expect(inspectors.length).toBeGreaterThan(0)
  expect(inspectors.flatMap(({ faults }) => faults.server)).toEqual([])
  expect(inspectors.flatMap(({ faults }) => faults.client)).toEqual([
    // on purpose, to see it refused
    'SubscriptionsListenRequest /params/notifications/toolsListChanged must be boolean',
  ])
})
