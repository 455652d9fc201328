import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { bumpTool, echoTool, fillerTools, sleepTool } from './definitions.ts'
import { benchEnvironment } from './environment.ts'
import { sleep } from './sleep.ts'

let counter = 0

/** A server of SDK v2 with the tools of the bench. */
export function createSdkV2Server(): McpServer {
  const server = new McpServer({ name: 'sdk-v2', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.registerTool(
    echoTool.name,
    {
      title: echoTool.title,
      description: echoTool.description,
      inputSchema: z.object({ text: z.string().describe('What to answer') }),
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  server.registerTool(
    sleepTool.name,
    {
      title: sleepTool.title,
      description: sleepTool.description,
      inputSchema: z.object({ ms: z.int().describe('How long to wait, in milliseconds') }),
    },
    async ({ ms }, context) => ({ content: [{ type: 'text', text: await sleep(ms, context.mcpReq.signal) }] }),
  )
  server.registerTool(
    bumpTool.name,
    { title: bumpTool.title, description: bumpTool.description, inputSchema: z.object({}) },
    () => ({ content: [{ type: 'text', text: String(++counter) }] }),
  )
  for (const { name, title, description } of fillerTools(benchEnvironment().tools)) {
    const inputSchema = z.object({
      path: z.string().describe('Where to search'),
      limit: z.int().describe('How many to answer at most').optional(),
      hidden: z.boolean().describe('Whether to look at hidden files').optional(),
    })
    server.registerTool(name, { title, description, inputSchema }, ({ path }) => ({
      content: [{ type: 'text', text: path }],
    }))
  }
  return server
}
