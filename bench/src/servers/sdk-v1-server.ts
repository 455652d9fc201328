import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { bumpTool, echoTool, fillerTools, sleepTool } from './definitions.ts'
import { benchEnvironment } from './environment.ts'
import { sleep } from './sleep.ts'

let counter = 0

/** A server of SDK v1 with the tools of the bench. */
export function createSdkV1Server(): McpServer {
  const server = new McpServer({ name: 'sdk-v1', version: '1.0.0' })
  server.registerTool(
    echoTool.name,
    {
      title: echoTool.title,
      description: echoTool.description,
      inputSchema: { text: z.string().describe('What to answer') },
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  server.registerTool(
    sleepTool.name,
    {
      title: sleepTool.title,
      description: sleepTool.description,
      inputSchema: { ms: z.int().describe('How long to wait, in milliseconds') },
    },
    async ({ ms }, { signal }) => ({ content: [{ type: 'text', text: await sleep(ms, signal) }] }),
  )
  server.registerTool(
    bumpTool.name,
    { title: bumpTool.title, description: bumpTool.description, inputSchema: {} },
    () => ({
      content: [{ type: 'text', text: String(++counter) }],
    }),
  )
  for (const { name, title, description } of fillerTools(benchEnvironment().tools)) {
    const inputSchema = {
      path: z.string().describe('Where to search'),
      limit: z.int().describe('How many to answer at most').optional(),
      hidden: z.boolean().describe('Whether to look at hidden files').optional(),
    }
    server.registerTool(name, { title, description, inputSchema }, ({ path }) => ({
      content: [{ type: 'text', text: path }],
    }))
  }
  return server
}
