import type { AddressInfo } from 'node:net'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** Listens on a free port of this machine and tells the generator which. Loading `node:http` as a module would cost 30 ms. */
export function listen(onRequest: (req: IncomingMessage, res: ServerResponse) => void): Server {
  const http = process.getBuiltinModule('node:http')
  const server = http.createServer(onRequest)
  server.listen(0, '127.0.0.1', () => tellPort((server.address() as AddressInfo).port))
  return server
}

/** What the generator waits for. */
export function tellPort(port: number): void {
  process.stdout.write(`listening ${port}\n`)
}
