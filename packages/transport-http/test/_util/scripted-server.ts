import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@atenea/mcpcompat'

/** One request as it arrived. */
export interface Arrived {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body as JSON, or `{}` where there is none. */
  readonly body: JsonObject
  /** Its JSON-RPC method and id, where it has them. */
  readonly rpcMethod: string
  readonly rpcId: number
  /** Resolves when the client has closed the exchange, or it has ended. */
  readonly closed: Promise<void>
  /** The socket that it came on, by number. */
  readonly socket: number
}

export type Script = (arrived: Arrived, response: ServerResponse, request: IncomingMessage) => void | Promise<void>

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  readonly port: number
  /** Everything that arrived, in order. */
  readonly arrived: readonly Arrived[]
  /** What arrived with this JSON-RPC method. */
  calls(method: string): readonly Arrived[]
  readonly server: Server
}

/** A server that does what a test says, on a port of its own. */
export async function scriptedServer(
  script: Script,
  options: { readonly port?: number } = {},
): Promise<ScriptedServer> {
  const arrived: Arrived[] = []
  const sockets = new Map<unknown, number>()
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      if (!sockets.has(request.socket)) sockets.set(request.socket, sockets.size)
      const body = text === '' ? {} : (JSON.parse(text) as JsonObject)
      const one: Arrived = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body,
        rpcMethod: typeof body['method'] === 'string' ? body['method'] : '',
        rpcId: typeof body['id'] === 'number' ? body['id'] : Number.NaN,
        closed: new Promise((resolve) => response.once('close', () => resolve())),
        socket: sockets.get(request.socket) ?? -1,
      }
      arrived.push(one)
      void script(one, response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    origin: `http://127.0.0.1:${port}`,
    port,
    arrived,
    calls: (method) => arrived.filter(({ body }) => body['method'] === method),
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export function plain(response: ServerResponse, status: number, body = '', headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers })
  response.end(body)
}

/** Begins an event stream; its head goes out at once. */
export function stream(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  response.flushHeaders()
}

export function event(message: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`
}

export function resultOf({ body }: Arrived, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: body['id'] ?? null, result }
}

export function errorOf({ body }: Arrived, code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: body['id'] ?? null, error: { code, message, ...(data !== undefined && { data }) } }
}
