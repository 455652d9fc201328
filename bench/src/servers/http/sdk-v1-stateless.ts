import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createSdkV1Server } from '../sdk-v1-server.ts'
import { listen } from './listen.ts'

/* A server and a transport for each request, as the documentation shows. */

listen((req, res) => void serve(req, res))

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const server = createSdkV1Server()
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  res.on('close', () => {
    void transport.close()
    void server.close()
  })
  await server.connect(transport)
  await transport.handleRequest(req, res)
}
