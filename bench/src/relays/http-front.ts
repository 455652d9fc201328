import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

/** Listens on a port of this machine and tells the text of every body that was posted. */
export function listenForPosts(
  port: number,
  take: (text: string, headers: IncomingHttpHeaders, res: ServerResponse) => void,
): void {
  const http = process.getBuiltinModule('node:http')
  const server = http.createServer((req, res) => {
    let first: Buffer | undefined
    let rest: Buffer[] | undefined
    req.on('data', (chunk: Buffer) => {
      if (first === undefined) first = chunk
      else (rest ??= [first]).push(chunk)
    })
    req.on('end', () => {
      const bytes = rest === undefined ? first : Buffer.concat(rest)
      take((bytes as Buffer).toString('utf8'), req.headers, res)
    })
  })
  server.listen(port, '127.0.0.1')
  process.once('SIGTERM', () => process.exit())
}

/** Answers with JSON. */
export function sendJson(res: ServerResponse, text: string, more: readonly string[] = []): void {
  res.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text)), ...more])
  res.end(text)
}

/** Answers that a message without an id was taken. */
export function sendAccepted(res: ServerResponse): void {
  res.writeHead(202, ['Content-Length', '0'])
  res.end()
}
