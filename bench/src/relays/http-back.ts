import type { Agent, RequestOptions } from 'node:http'

/** One answer of the server behind. */
export interface BackAnswer {
  readonly text: string
  readonly sessionId: string | undefined
}

/** Posts texts to a URL on connections that are kept. */
export function createPoster(
  url: string,
): (text: string, headers: Readonly<Record<string, string>>, answered: (answer: BackAnswer) => void) => void {
  const http = process.getBuiltinModule('node:http')
  const agent: Agent = new http.Agent({ keepAlive: true })
  const { hostname, port, pathname } = new URL(url)
  return (text, headers, answered) => {
    const options: RequestOptions = {
      agent,
      hostname,
      port,
      path: pathname,
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(text) },
    }
    const req = http.request(options, (res) => {
      let first: Buffer | undefined
      let rest: Buffer[] | undefined
      res.on('data', (chunk: Buffer) => {
        if (first === undefined) first = chunk
        else (rest ??= [first]).push(chunk)
      })
      res.on('end', () => {
        const bytes = rest === undefined ? first : Buffer.concat(rest)
        const sessionId = res.headers['mcp-session-id'] as string | undefined
        answered({ text: bytes === undefined ? '' : bytes.toString('utf8'), sessionId })
      })
    })
    req.end(text)
  }
}
