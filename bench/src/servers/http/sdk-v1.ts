import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createSdkV1Server } from '../sdk-v1-server.ts'
import { listen } from './listen.ts'
import { onSignals } from './on-signals.ts'

/* A session each, as the documentation shows: a server and a transport, found by the id of the session. */

const transports = new Map<string, StreamableHTTPServerTransport>()
const servers = new Set<McpServer>()

listen((req, res) => void serve(req, res))
onSignals(() => {
  for (const server of servers) server.sendToolListChanged()
})

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const id = req.headers['mcp-session-id'] as string | undefined
  const known = id === undefined ? undefined : transports.get(id)
  await (known ?? (await openSession())).handleRequest(req, res)
}

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const server = createSdkV1Server()
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
    onsessioninitialized: (id) => {
      transports.set(id, transport)
      servers.add(server)
    },
  })
  await server.connect(transport)
  return transport
}
