import {
  createRevisionPolicy,
  type Dispatcher,
  legacyRevision,
  modernRevision,
  RpcError,
  toObject,
} from '@atenea/mcpcompat'
import {
  type ClientConnection,
  connectDuplex,
  createCallerContext,
  createMemoryPair,
  serveConnection,
} from '@atenea/mcpcompat/transport'
import {
  type BackendConnectOptions,
  type BackendOptions,
  type BackendStatus,
  createPassthrough,
  type Passthrough,
  type PassthroughEvent,
} from '@atenea/passthrough'

const policy = createRevisionPolicy()

const server: Dispatcher = {
  call: ({ params }) => ({ kind: 'result', value: { content: [], structuredContent: { params: toObject(params) } } }),
  notify: () => undefined,
  view: () => ({
    info: { name: 'usage', version: '1' },
    capabilities: { tools: {} },
    has: (method) => method === 'tools/call',
    headerPlan: () => undefined,
  }),
  drain: async () => {},
}

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}

async function connect(options: BackendConnectOptions): Promise<ClientConnection> {
  return await connectDuplex(async () => {
    const [ours, theirs] = createMemoryPair({ payload: 'text' })
    void serveConnection(theirs, server, { policy })
    return ours
  }, options)
}

const backend: BackendOptions = { name: 'one', mode: 'legacy', connect, callTimeoutMs: 5_000 }
const events: PassthroughEvent['kind'][] = []
const proxy: Passthrough = createPassthrough({
  policy,
  info: { name: 'usage', version: '1' },
  backends: [backend],
  onEvent: ({ kind }) => events.push(kind),
})

const [ours, theirs] = createMemoryPair()
void serveConnection(theirs, proxy, { policy })
const client = await connectDuplex(async () => ours, { policy, info: { name: 'me', version: '1' }, mode: 'modern' })
const params = { name: 'echo', arguments: { text: 'hi' } }
const outcome = await client.call({ method: 'tools/call', params }, createCallerContext())
expectEqual(outcome.kind, 'result')
const refused: unknown = await Promise.resolve(
  client.call({ method: 'no/such', params: {} }, createCallerContext()),
).catch((error: unknown) => error)
expectEqual(RpcError.is(refused) && refused.code, -32_601)
const [status] = proxy.status().backends as readonly [BackendStatus]
expectEqual([client.observed, status.observed, status.state], [modernRevision, legacyRevision, 'ready'])
await client[Symbol.asyncDispose]()
await proxy[Symbol.asyncDispose]()
expectEqual(events, ['connected'])

console.log('ok')
