import { createRevisionPolicy } from '@atenea/mcpcompat'
import { connectHttp, createFetchSend, type HttpSend } from '@atenea/transport-http'
import { createNodeSend, type HttpListener, listenHttp } from '@atenea/transport-http/node'
import { dispatcherSuite, suiteCapabilities } from '../src/dispatcher-suite.ts'
import { createServedCore } from '../src/served-core.ts'

const sends: readonly (readonly [name: string, make: () => HttpSend & Partial<Disposable>])[] = [
  ['connections of our own', () => createNodeSend()],
  ['fetch', () => createFetchSend()],
]

for (const [name, makeSend] of sends) {
  const listeners = new Set<HttpListener>()
  const made = new Set<Partial<Disposable>>()
  dispatcherSuite(`HTTP by ${name}`, {
    async open(era) {
      const listener = await listenHttp(createServedCore(), { policy: createRevisionPolicy() })
      listeners.add(listener)
      const send = makeSend()
      made.add(send)
      return await connectHttp(listener.url, {
        policy: createRevisionPolicy(),
        info: { name: 'suite', version: '1.0.0' },
        capabilities: suiteCapabilities,
        mode: era,
        send,
      })
    },
    async allGone() {
      for (const send of made) send[Symbol.dispose]?.()
      made.clear()
      await Promise.all([...listeners].map(async (listener) => await listener.close({ timeoutMs: 0 })))
      listeners.clear()
    },
  })
}
