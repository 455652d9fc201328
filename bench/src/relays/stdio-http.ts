import { createPoster } from './http-back.ts'
import { lineWriter, onLines } from './lines.ts'
import { parse } from './message.ts'

/*
 * The least that stdio in front of an HTTP server can be: parses each message once per direction, makes the fields that the server wants,
 * and keeps connections. It validates nothing and reads no streams.
 */

const [url = ''] = process.argv.slice(2)
const post = createPoster(url)
const write = lineWriter(process.stdout)
const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
let session: Readonly<Record<string, string>> = {}

onLines(process.stdin, (line) => {
  const message = parse(line)
  const { method = '', params } = message
  const revision = params?._meta?.['io.modelcontextprotocol/protocolVersion']
  const own =
    revision === undefined
      ? session
      : {
          'mcp-protocol-version': revision,
          'mcp-method': method,
          ...(params?.name !== undefined && { 'mcp-name': params.name }),
        }
  post(JSON.stringify(message), { ...common, ...own }, ({ text, sessionId }) => {
    if (sessionId !== undefined) session = { 'mcp-session-id': sessionId }
    if (text !== '') write(JSON.stringify(parse(text)))
  })
})
process.stdin.on('end', () => process.exit())
