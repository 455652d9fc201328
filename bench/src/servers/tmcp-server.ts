import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
import { tool } from 'tmcp/utils'
import { z } from 'zod'
import { bumpTool, echoTool, fillerTools, sleepTool } from './definitions.ts'
import { benchEnvironment } from './environment.ts'
import { sleep } from './sleep.ts'

/** A server of tmcp with the tools of the bench. */
export const server: McpServer<z.ZodType> = new McpServer(
  { name: 'tmcp', version: '1.0.0' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
)
let counter = 0

server.tool(
  {
    name: echoTool.name,
    title: echoTool.title,
    description: echoTool.description,
    schema: z.object({ text: z.string().describe('What to answer') }),
  },
  ({ text }) => tool.text(text),
)
server.tool(
  {
    name: sleepTool.name,
    title: sleepTool.title,
    description: sleepTool.description,
    schema: z.object({ ms: z.int().describe('How long to wait, in milliseconds') }),
  },
  async ({ ms }) => tool.text(await sleep(ms, server.ctx.signal)),
)
server.tool({ name: bumpTool.name, title: bumpTool.title, description: bumpTool.description }, () =>
  tool.text(String(++counter)),
)
for (const { name, title, description } of fillerTools(benchEnvironment().tools)) {
  const schema = z.object({
    path: z.string().describe('Where to search'),
    limit: z.int().describe('How many to answer at most').optional(),
    hidden: z.boolean().describe('Whether to look at hidden files').optional(),
  })
  server.tool({ name, title, description, schema }, ({ path }) => tool.text(path))
}
