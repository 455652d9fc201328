import { createRequestListener } from '@remix-run/node-fetch-server'
import { HttpTransport } from '@tmcp/transport-http'
import { server } from '../tmcp-server.ts'
import { listen } from './listen.ts'
import { onSignals } from './on-signals.ts'

const transport = new HttpTransport(server, { path: '/mcp' })
listen(
  createRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })),
)

let late = 0
// a change of the list is announced by making one
onSignals(() => server.tool({ name: `late_${++late}`, description: 'Came late' }, () => ({ content: [] })))
