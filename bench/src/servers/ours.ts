import { createCore, defineTool, jsonSchema } from '@atenea/core'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import { serveConnection } from '@atenea/mcpcompat/transport'
import { openStdio } from '@atenea/transport-stdio'
import { bumpTool, echoTool, fillerTools, sleepTool, type ToolDefinition } from './definitions.ts'
import { benchEnvironment } from './environment.ts'
import { sleep } from './sleep.ts'

let counter = 0

const core = createCore({
  info: { name: 'ours', version: '1.0.0' },
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

await serveConnection(openStdio(), core, { policy: createRevisionPolicy() })

function shown({ name, title, description }: ToolDefinition): Omit<ToolDefinition, 'inputSchema'> {
  return { name, title, description }
}
