import {
  ask,
  type Core,
  createCore,
  createMemoryStore,
  createWorkflows,
  defineResourceTemplate,
  definePrompt,
  defineTool,
  elicitForm,
  type HandlerContext,
  jsonSchema,
  ToolError,
  type Workflow,
  WorkflowNotFoundError,
} from '@atenea/core'
import { createRevisionPolicy, type Outcome, type Peer, RpcError, toValue } from '@atenea/mcpcompat'
import {
  type ClientConnection,
  connectDuplex,
  createCallerContext,
  createMemoryPair,
  serveConnection,
} from '@atenea/mcpcompat/transport'
import { z } from 'zod'

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}

const workflows = createWorkflows({ store: createMemoryStore() })

// schemas: zod, plain JSON Schema, none
const add = defineTool({
  name: 'add',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  annotations: { readOnlyHint: true },
  handler: ({ a, b }) => ({ sum: a + b }),
})
const greet = defineTool({
  name: 'greet',
  inputSchema: jsonSchema<{ name: string }>({
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  }),
  handler: ({ name }) => {
    if (name === '') throw new ToolError('Say whom to greet.')
    return `Hello, ${name}.`
  },
})
const count = defineTool({
  name: 'count',
  async handler(_args, context: HandlerContext) {
    const own = workflows.of(context.principal, 'count')
    const made: Workflow = await own.create(0)
    const counted = await own.modify(made.id, (state) => Number(state) + 1)
    await own.expire(made.id)
    return `${String(counted.state)} at ${counted.version}`
  },
})
const rename = defineTool({
  name: 'rename',
  handler(_args, context) {
    const form = elicitForm({ message: 'Which name?', schema: z.object({ name: z.string() }) })
    const answer = context.input.get('name', form)
    if (answer === undefined) return ask({ name: form })
    return answer.action === 'accept' ? `Renamed to ${answer.content.name}.` : 'Left as it is.'
  },
})
const review = definePrompt({
  name: 'review',
  arguments: { text: { required: true } },
  handler: ({ text }) => `Review this: ${text}`,
})
const page = defineResourceTemplate({
  name: 'page',
  uriTemplate: 'page:///{id}',
  read: ({ variables }) => `page ${variables.id}`,
})

const core: Core = createCore({
  info: { name: 'usage', version: '1.0.0' },
  tools: [add, greet, count, rename],
  prompts: [review],
  resourceTemplates: [page],
  policy: { tools: { deny: ['secret*'] } },
})

const policy = createRevisionPolicy()
const peer: Peer = { name: 'usage', version: '1.0.0', capabilities: { elicitation: {} } }

async function ask1(
  client: ClientConnection,
  method: string,
  params: Record<string, string | object>,
): Promise<Outcome> {
  return client.call({ method, params: JSON.parse(JSON.stringify(params)) }, createCallerContext({ peer }))
}

async function resultOf(
  client: ClientConnection,
  method: string,
  params: Record<string, string | object>,
): Promise<unknown> {
  const outcome = await ask1(client, method, params)
  if (outcome.kind !== 'result') throw new Error(outcome.kind)
  return toValue(outcome.value)
}

for (const mode of ['legacy', 'modern'] as const) {
  const [ours, theirs] = createMemoryPair()
  const served = serveConnection(ours, core, { policy })
  const client = await connectDuplex(async () => theirs, {
    policy,
    mode,
    info: { name: 'usage', version: '1.0.0' },
    capabilities: peer.capabilities,
  })
  const tool = async (name: string, args: object): Promise<unknown> => {
    const result = (await resultOf(client, 'tools/call', { name, arguments: args })) as Record<string, unknown>
    return result['structuredContent'] ?? result['content']
  }
  expectEqual(await tool('add', { a: 2 }), { sum: 3 })
  expectEqual(await tool('greet', { name: 'Ada' }), [{ type: 'text', text: 'Hello, Ada.' }])
  expectEqual(await tool('greet', { name: '' }), [{ type: 'text', text: 'Say whom to greet.' }])
  expectEqual(await tool('count', {}), [{ type: 'text', text: '1 at 2' }])

  const asked = await ask1(client, 'tools/call', { name: 'rename', arguments: {} })
  if (asked.kind !== 'ask') throw new Error(`${mode}: ${asked.kind}`)
  expectEqual(
    [...(asked.inputRequests?.values() ?? [])].map((one) => one.method),
    ['elicitation/create'],
  )

  const read = (await resultOf(client, 'resources/read', { uri: 'page:///7' })) as { contents: { text: string }[] }
  expectEqual(read.contents[0]?.text, 'page 7')
  const prompt = (await resultOf(client, 'prompts/get', { name: 'review', arguments: { text: 'x' } })) as {
    messages: { content: { text: string } }[]
  }
  expectEqual(prompt.messages[0]?.content.text, 'Review this: x')

  const refused: unknown = await resultOf(client, 'tools/call', { name: 'secret', arguments: {} }).catch(
    (error) => error,
  )
  expectEqual(RpcError.is(refused) && refused.code, -32602)
  await client[Symbol.asyncDispose]()
  await served
}

const unknown: unknown = await workflows
  .of({ id: 'somebody', authenticated: true }, 'count')
  .load('no such id')
  .catch((error) => error)
expectEqual(unknown instanceof WorkflowNotFoundError, true)

console.log('ok')
