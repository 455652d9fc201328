import { createRevisionPolicy } from '@atenea/mcpcompat'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend, listenHttp } from '@atenea/transport-http/node'

const dispatcher = {
  call: () => ({ kind: 'result', value: { content: [] } }),
  notify: () => undefined,
  view: () => ({
    info: { name: 'usage', version: '1' },
    capabilities: {},
    has: () => true,
    headerPlan: () => undefined,
  }),
  drain: async () => {},
}
const policy = createRevisionPolicy()
const listener = await listenHttp(dispatcher, { policy })
const send = createNodeSend()
const client = await connectHttp(listener.url, { policy, info: { name: 'usage', version: '1' }, send })
if (client.server.info.name !== 'usage') throw new Error(JSON.stringify(client.server))
await client[Symbol.asyncDispose]()
send[Symbol.dispose]()
await listener.close()
console.log('ok')
