import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonObject, legacyRevision, modernRevision } from '@atenea/mcpcompat'

/** One request as it reached a server behind the proxy. */
export interface Arrived {
  readonly verb: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The method of its JSON-RPC message; empty without one. */
  readonly method: string
  readonly id: unknown
  readonly params: JsonObject
}

export interface Upstream extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  /** Everything that arrived, in order. */
  readonly arrived: readonly Arrived[]
  count(method: string): number
}

/** Answers in place of what is usual, and says whether it has. */
export type Instead = (arrived: Arrived, response: ServerResponse) => boolean

/** A server over HTTP behind the proxy that behaves as its era wants, but for what a test says. */
export async function upstream(era: 'legacy' | 'modern', instead: Instead = () => false): Promise<Upstream> {
  const arrived: Arrived[] = []
  const http = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const message = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {}
      const { method = '', id, params = {} } = message as { method?: string; id?: unknown; params?: JsonObject }
      const { method: verb = '', url: path = '', headers } = request
      const one: Arrived = { verb, path, headers, method, id, params }
      arrived.push(one)
      if (!instead(one, response)) behave(era, one, response)
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return {
    url: `${origin}/mcp`,
    origin,
    arrived,
    count: (method) => arrived.filter((one) => one.method === method).length,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

function behave(era: 'legacy' | 'modern', arrived: Arrived, response: ServerResponse): void {
  const { verb, method, id } = arrived
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } }
  if (verb === 'DELETE') return json(response, 204)
  if (verb !== 'POST') return json(response, 405)
  if (id === undefined) return json(response, 202)
  if (method === 'server/discover') {
    if (era === 'legacy') return json(response, 404, errorOf(arrived, -32_601, 'Method not found'))
    const supportedVersions = [modernRevision]
    const discovered = { supportedVersions, capabilities, ttlMs: 0, cacheScope: 'private' }
    return json(response, 200, resultOf(arrived, { resultType: 'complete', ...discovered }))
  }
  if (method === 'initialize') {
    const serverInfo = { name: 'upstream', version: '1' }
    return json(response, 200, resultOf(arrived, { protocolVersion: legacyRevision, capabilities, serverInfo }))
  }
  const more = era === 'modern' ? { resultType: 'complete' } : {}
  if (method === 'tools/list') {
    const tools = [{ name: 'any', inputSchema: { type: 'object' } }]
    return json(response, 200, resultOf(arrived, { ...more, tools }))
  }
  return json(response, 200, resultOf(arrived, { ...more, content: [{ type: 'text', text: 'fine' }] }))
}

export function json(
  response: ServerResponse,
  status: number,
  body?: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

export function resultOf({ id }: Arrived, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: id as number, result }
}

export function errorOf({ id }: Arrived, code: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id: id as number, error: { code, message } }
}
