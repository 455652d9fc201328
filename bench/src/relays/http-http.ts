import type { IncomingHttpHeaders } from 'node:http'
import { createPoster } from './http-back.ts'
import { listenForPosts, sendAccepted, sendJson } from './http-front.ts'
import { parse } from './message.ts'

/*
 * The least that HTTP in front of HTTP can be: parses each message once per direction, passes on the fields that belong to MCP, and keeps
 * connections. It validates nothing and reads no streams.
 */

const [port, url = ''] = process.argv.slice(2)
const post = createPoster(url)

listenForPosts(Number(port), (body, headers, res) => {
  const message = parse(body)
  post(JSON.stringify(message), fieldsOf(headers), ({ text, sessionId }) => {
    if (text === '') sendAccepted(res)
    else sendJson(res, JSON.stringify(parse(text)), sessionId === undefined ? [] : ['Mcp-Session-Id', sessionId])
  })
})

function fieldsOf(headers: IncomingHttpHeaders): Record<string, string> {
  const fields: Record<string, string> = { 'content-type': 'application/json', accept: headers.accept ?? '' }
  for (const name in headers) if (name.startsWith('mcp-')) fields[name] = headers[name] as string
  return fields
}
