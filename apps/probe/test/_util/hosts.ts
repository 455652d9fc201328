import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Something at a URL. */
export interface Host extends AsyncDisposable {
  readonly url: string
  /** How many requests have come. */
  readonly requests: number
}

/** Answers every request with the same listener; bodies are read and dropped. */
export async function hostOf(listener: RequestListener): Promise<Host> {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    request.resume()
    listener(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/api`,
    get requests() {
      return requests
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

/** A URL at which nothing listens. */
export async function deadUrl(): Promise<string> {
  const host = await hostOf(() => undefined)
  await host[Symbol.asyncDispose]()
  return host.url
}
