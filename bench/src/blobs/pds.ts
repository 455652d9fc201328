import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const did = 'did:plc:benchaaaaaaaaaaaaaaaaaaa'

/** A PDS on loopback that offers blobs by their CID, and the directory that names it. */
export interface BenchPds extends AsyncDisposable {
  readonly origin: string
}

export async function startPds(blobs: ReadonlyMap<string, Buffer>): Promise<BenchPds> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname.startsWith('/did')) {
      const service = [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: origin }]
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: did, service }))
      return
    }
    const bytes = blobs.get(url.searchParams.get('cid') ?? '')
    if (bytes === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
