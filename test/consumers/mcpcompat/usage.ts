import {
  type AbortOptions,
  createAllowList,
  createRevisionPolicy,
  type Dispatcher,
  type Json,
  type JsonObject,
  JsonText,
  RpcError,
  rpcCode,
  toValue,
  type ServerView,
} from '@atenea/mcpcompat'
import { legacy, modern } from '@atenea/mcpcompat/schemas'
import {
  type Connection,
  createMemoryPair,
  encodeMessage,
  errorForLegacy,
  judgeHttpProbe,
  linkSignals,
  parseMessage,
  type ProbeVerdict,
  type RpcMessage,
} from '@atenea/mcpcompat/transport'

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}

// revisions are exact
const policy = createRevisionPolicy({ legacy: ['2025-06-18', '2025-11-25'] })
expectEqual(policy.supported, ['2026-07-28', '2025-11-25', '2025-06-18'])
expectEqual([policy.accepts('2025-11-25'), policy.accepts('2025-03-26')], ['legacy', undefined])

// what an answer says about a server
const refusal = {
  status: 400,
  headers: {},
  body: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"initialize first"}}',
}
const verdict: ProbeVerdict = judgeHttpProbe(refusal, { ...policy, requested: '2026-07-28' })
if (verdict.kind !== 'legacy') throw new Error(verdict.kind)
const offered: string = verdict.revision
expectEqual([offered, verdict.row], ['2025-11-25', 'H25'])

// messages: numbers that JavaScript cannot hold pass through when the payload stays text
const line = '{"jsonrpc":"2.0","id":7,"result":{"big":12345678901234567890}}'
const message = parseMessage(line, 'text')
if (message.kind !== 'result' || !(message.result instanceof JsonText)) throw new Error(message.kind)
expectEqual(encodeMessage(message), line)
expectEqual(parseMessage('{"jsonrpc":"2.0"}', 'parsed').kind, 'reject')

// errors
const error = new RpcError(rpcCode.invalidParams, 'No such resource.', { data: { uri: 'x:y' } })
expectEqual(RpcError.is(error) && error.code, -32602)
const data: Json | undefined = error.data
expectEqual(data && toValue(data), { uri: 'x:y' })
expectEqual(errorForLegacy({ code: rpcCode.headerMismatch, message: 'no' }).code, rpcCode.internalError)

// a carrier within the process
const [client, server]: readonly [Connection, Connection] = createMemoryPair()
const ping: RpcMessage = { kind: 'request', id: 1, method: 'ping', params: undefined }
await client.send(ping)
for await (const [first] of server.inbound) {
  expectEqual(first?.message, ping)
  break
}

// allow-lists and signals
expectEqual(createAllowList({ allow: ['get_*'], deny: ['get_secret'] }).allows('get_secret'), false)
{
  using linked = linkSignals([new AbortController().signal], { timeoutMs: 60_000 })
  linked.abort('enough')
  expectEqual(linked.signal.reason, 'enough')
}

// what others implement
const view: ServerView = {
  info: { name: 'usage', version: '1' },
  capabilities: {},
  has: (method) => method === 'ping',
  headerPlan: () => undefined,
}
const dispatcher: Dispatcher = {
  call: ({ method }) => ({ kind: 'result', value: { method } }),
  notify: () => undefined,
  view: () => view,
  drain: async () => undefined,
}
const options: AbortOptions = { signal: AbortSignal.timeout(1_000) }
const seen: JsonObject = { kind: typeof dispatcher.call, aborted: options.signal?.aborted ?? null }
expectEqual(seen, { kind: 'function', aborted: false })

// schemas of each revision, for those who like zod
const result: modern.CallToolResult = modern.callToolResultSchema.parse({
  resultType: 'complete',
  content: [],
  more: 1,
})
expectEqual([result.content, result['more']], [[], 1])
expectEqual(legacy.callToolResultSchema.safeParse({ content: 'none' }).success, false)

console.log('ok')
