import {
  ask,
  type Core,
  createCore,
  createMessage,
  defineTool,
  definePrompt,
  defineResource,
  defineResourceTemplate,
  elicitForm,
  jsonSchema,
  listRoots,
  ToolError,
} from '@atenea/core'
import type { JsonObject } from '@atenea/mcpcompat'

export interface CreateServedCoreOptions {
  /** Hears of each call that begins to sleep. */
  readonly onAsleep?: () => void
  /** Hears of each call whose signal aborted while it slept. */
  readonly onAborted?: () => void
}

const name = elicitForm({
  message: 'What is your name?',
  schema: jsonSchema<{ name: string }>({
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  }),
})
const model = createMessage({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 })
const folders = listRoots()

/** What the shared suites are served: a core with a tool, prompt or resource for each thing that they look at. */
export function createServedCore({ onAsleep, onAborted }: CreateServedCoreOptions = {}): Core {
  let aborted = 0
  const core = createCore({
    info: { name: 'served', version: '1.0.0', title: 'The served core' },
    instructions: 'For tests.',
    logging: true,
    listChanged: { tools: true, resources: true },
    subscribe: true,
    tools: [
      defineTool({
        name: 'echo',
        title: 'Echo',
        description: 'Gives back what it gets.',
        inputSchema: jsonSchema<{ text?: string }>({ type: 'object', properties: { text: { type: 'string' } } }),
        annotations: { readOnlyHint: true },
        handler: ({ text }) => text ?? '',
      }),
      defineTool({
        name: 'sleep',
        inputSchema: jsonSchema<{ ms: number }>({
          type: 'object',
          properties: { ms: { type: 'integer' } },
          required: ['ms'],
        }),
        handler: async ({ ms }, { signal }) =>
          await new Promise<string>((resolve, reject) => {
            const timer = setTimeout(resolve, ms, 'slept')
            onAsleep?.()
            signal.addEventListener('abort', () => {
              clearTimeout(timer)
              aborted += 1
              onAborted?.()
              reject(signal.reason as Error)
            })
          }),
      }),
      defineTool({ name: 'aborted', handler: () => String(aborted) }),
      defineTool({ name: 'sliced', handler: () => 'x\ud83d' }),
      defineTool({
        name: 'fails',
        handler: () => {
          throw new Error('a secret of the handler')
        },
      }),
      defineTool({
        name: 'refuses',
        handler: () => {
          throw new ToolError('Not today.')
        },
      }),
      defineTool({
        name: 'list',
        outputSchema: jsonSchema<{ values: number[] }>({
          type: 'object',
          properties: { values: { type: 'array', items: { type: 'number' } } },
        }),
        handler: () => ({ values: [1, 2, 3] }),
      }),
      defineTool({
        name: 'who',
        handler: (_args, { client, principal, meta }) => ({
          structuredContent: { client: { ...client }, principal: principal.id, meta } as unknown as JsonObject,
        }),
      }),
      defineTool({
        name: 'works',
        handler: async (_args, { progress, log }) => {
          await progress(1, 3, 'one')
          await log('debug', 'quiet')
          await log('warning', { loud: true }, 'works')
          await progress(2, 3)
          return 'worked'
        },
      }),
      defineTool({
        name: 'asks',
        inputSchema: jsonSchema<{ greeting: string }>({
          type: 'object',
          properties: { greeting: { type: 'string' } },
        }),
        handler: ({ greeting }, { input }) => {
          const answer = input.get('name', name)
          const sampled = input.get('model', model)
          const roots = input.get('folders', folders)
          if (answer === undefined || sampled === undefined || roots === undefined) {
            return ask({ name, model, folders }, { state: { greeting } })
          }
          const who = answer.action === 'accept' ? answer.content.name : answer.action
          return `${greeting}, ${who} of ${roots.map(({ uri }) => uri).join(' ')}, says ${sampled.model}`
        },
      }),
      defineTool({
        name: 'changes',
        description: 'Tells that the tools and two notes have changed.',
        handler: () => {
          core.notifyToolsChanged()
          core.resourceUpdated('note:///today')
          core.resourceUpdated('note:///other')
          return 'changed'
        },
      }),
    ],
    prompts: [
      definePrompt({
        name: 'greet',
        arguments: { who: { description: 'Whom to greet', required: true } },
        complete: { who: ({ value }) => ['Ada', 'Alan', 'Grace'].filter((entry) => entry.startsWith(value)) },
        handler: ({ who }) => `Say hello to ${who}.`,
      }),
    ],
    resources: [
      defineResource({ uri: 'note:///today', name: 'today', mimeType: 'text/plain', read: () => 'Tuesday' }),
      defineResource({ uri: 'note:///other', name: 'other', mimeType: 'text/plain', read: () => 'Wednesday' }),
      defineResource({
        uri: 'note:///bytes',
        name: 'bytes',
        mimeType: 'application/octet-stream',
        read: () => new Uint8Array([0, 255, 128]),
      }),
    ],
    resourceTemplates: [
      defineResourceTemplate({
        uriTemplate: 'note:///day/{day}',
        name: 'day',
        read: ({ variables }) => `day ${variables.day}`,
      }),
    ],
  })
  return core
}
