import { type Core, createCore, defineTool, jsonSchema } from '@atenea/core'
import { bumpTool, echoTool, fillerTools, sleepTool, type ToolDefinition } from './definitions.ts'
import { benchEnvironment } from './environment.ts'
import { sleep } from './sleep.ts'

let counter = 0

/** Our dispatcher with the tools of the bench. */
export const core: Core = createCore({
  info: { name: 'ours', version: '1.0.0' },
  listChanged: { tools: true },
  // all clients are one principal here, and the streams suites open more than 10,000
  subscriptionLimits: { perPrincipal: 20_000 },
  tools: [
    defineTool({
      ...shown(echoTool),
      inputSchema: jsonSchema<{ text: string }>(echoTool.inputSchema),
      handler: ({ text }) => text,
    }),
    defineTool({
      ...shown(sleepTool),
      inputSchema: jsonSchema<{ ms: number }>(sleepTool.inputSchema),
      handler: ({ ms }, { signal }) => sleep(ms, signal),
    }),
    defineTool({ ...shown(bumpTool), handler: () => String(++counter) }),
    ...fillerTools(benchEnvironment().tools).map((tool) =>
      defineTool({
        ...shown(tool),
        inputSchema: jsonSchema<{ path: string }>(tool.inputSchema),
        handler: ({ path }) => path,
      }),
    ),
  ],
})

function shown({ name, title, description }: ToolDefinition): Omit<ToolDefinition, 'inputSchema'> {
  return { name, title, description }
}
