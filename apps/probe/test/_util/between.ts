import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RunningServer } from '../flawed/http.ts'

/** One answer on its way back. */
export interface Passing {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export interface BetweenOptions {
  /** Answers in place of the server; gives whether it did. */
  readonly answer?: (
    method: string | undefined,
    response: ServerResponse,
    headers: IncomingHttpHeaders,
    url: string | undefined,
  ) => boolean
  /** Changes what the server answers. Event streams pass as they are. */
  readonly edit?: (passing: Passing, method: string | undefined) => void
}

/** Stands between a client and a server as a proxy or a wall does. Ends with the server that it was given. */
export async function between(server: RunningServer, { answer, edit }: BetweenOptions): Promise<RunningServer> {
  const front = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const sent = Buffer.concat(chunks)
      const method = methodOf(sent.toString())
      if (answer?.(method, response, incoming.headers, incoming.url) !== true) relay(incoming, sent, method, response)
    })
  })

  function relay(from: IncomingMessage, sent: Buffer, method: string | undefined, response: ServerResponse): void {
    const { host = '', ...headers } = from.headers
    // a foreign name is for the server to refuse
    const isOurs = host.startsWith('127.0.0.1')
    const asked = request(server.url, {
      method: from.method ?? 'POST',
      headers: { ...headers, ...(!isOurs && { host }) },
    })
    response.on('close', () => asked.destroy())
    asked.on('error', () => response.destroy())
    asked.on('response', (came) => {
      const fields = Object.entries(came.headers).filter(
        ([name]) => !/^(?:transfer-encoding|content-length|connection|keep-alive)$/.test(name),
      )
      const status = came.statusCode ?? 0
      const fresh = Object.fromEntries(fields) as Record<string, string>
      if (fresh['content-type']?.startsWith('text/event-stream') === true) {
        response.writeHead(status, fresh)
        came.pipe(response)
        return
      }
      const body: Buffer[] = []
      came.on('data', (chunk: Buffer) => body.push(chunk))
      came.on('end', () => {
        const passing: Passing = { status, headers: fresh, body: Buffer.concat(body) }
        edit?.(passing, method)
        response.writeHead(passing.status, passing.headers).end(passing.body)
      })
    })
    asked.end(sent)
  }

  await new Promise<void>((resolve) => void front.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      front.closeAllConnections()
      await new Promise((resolve) => void front.close(resolve))
      await server[Symbol.asyncDispose]()
    },
  }
}

function methodOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { readonly method?: string }).method
  } catch {
    return undefined
  }
}
