import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { generate } from 'selfsigned'
import { onTestFinished } from 'vitest'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server of the test that calls this, on loopback; gone with it. */
export interface TestServer {
  /** `http://localhost:PORT` */
  readonly origin: string
  readonly port: number
  /** Requests that came, as `GET /path`. */
  readonly requests: string[]
  /** Connections that are open. */
  readonly sockets: Set<Socket>
}

async function listen(server: Server, scheme: string, host = '127.0.0.1'): Promise<TestServer> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { origin: `${scheme}://localhost:${port}`, port, requests: [], sockets }
}

function counting(handler: Handler, requests: string[]): Handler {
  return (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    handler(request, response)
  }
}

/** A server for HTTP. */
export async function httpServer(handler: Handler): Promise<TestServer> {
  const requests: string[] = []
  const server = createServer(counting(handler, requests))
  return { ...(await listen(server, 'http')), requests }
}

/** A server for HTTPS, and the authority to trust for it. */
export async function httpsServer(
  names: readonly string[],
  handler: Handler,
  host?: string,
): Promise<TestServer & { readonly ca: string }> {
  const altNames = names.map((value) => ({ type: 2 as const, value }))
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'a test' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames }],
  })
  const requests: string[] = []
  const server = createTlsServer({ cert, key }, counting(handler, requests))
  return { ...(await listen(server, 'https', host)), requests, ca: cert }
}

/** A server that gets the bytes as they come, and answers with whatever it likes. */
export async function tcpServer(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return await listen(createTcpServer(onConnection), 'http')
}
