import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import { createHttpHandler } from '@atenea/transport-http'
import { listenHttp } from '@atenea/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'

/*
 * Bodies that nobody reads to their end: of requests that are refused, and of clients that go. The listener takes bodies by a shorter way
 * than a handler on a server of somebody else, so that both are asked the same.
 */

const maxBodyBytes = 8_000_000
const body = 'x'.repeat(3_000)

interface Refused {
  readonly name: string
  readonly status: number
  readonly line?: string
  readonly type?: string
  readonly fields?: readonly string[]
  readonly bytes?: string
}

const refused: readonly Refused[] = [
  { name: 'to another path', status: 404, line: 'POST /other HTTP/1.1' },
  { name: 'by a method that nothing answers', status: 405, line: 'PUT /mcp HTTP/1.1' },
  { name: 'by GET, with a body', status: 400, line: 'GET /mcp HTTP/1.1' },
  { name: 'by DELETE, with a body', status: 400, line: 'DELETE /mcp HTTP/1.1' },
  { name: 'of a page from elsewhere', status: 403, fields: ['Origin: https://elsewhere.example'] },
  { name: 'of another type', status: 415, type: 'text/plain' },
  { name: 'that is no JSON', status: 400 },
  { name: 'that is larger than is taken', status: 413, bytes: 'x'.repeat(maxBodyBytes + 100_000) },
]

/** A request as it goes over the wire, its body by length or in chunks. */
function written(
  { line = 'POST /mcp HTTP/1.1', type = 'application/json', fields = [], bytes = body }: Refused,
  chunked: boolean,
): string {
  const half = bytes.length >> 1
  const framed = chunked
    ? [bytes.slice(0, half), bytes.slice(half), '']
        .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
        .join('')
    : bytes
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`
  const head = [
    line,
    'Host: 127.0.0.1',
    `Content-Type: ${type}`,
    'Accept: application/json, text/event-stream',
    framing,
  ]
  return `${[...head, ...fields].join('\r\n')}\r\n\r\n${framed}`
}

const farewell = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'

/** What comes on one connection until it closes. */
async function answerTo(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('close', () => resolve())
    socket.on('error', reject)
  })
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await closed
  return text
}

describe.each(['a listener', 'a handler on a server of somebody else'])('%s', (kind) => {
  let port = 0
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    const options = { policy: createRevisionPolicy(), maxBodyBytes }
    if (kind === 'a listener') {
      port = closing.use(await listenHttp(createServedCore(), options)).port
      return
    }
    const handler = closing.use(createHttpHandler(createServedCore(), options))
    const server = createServer((req, res) => handler.node(req, res))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.defer(() => {
      server.close()
      server.closeAllConnections()
    })
    port = (server.address() as AddressInfo).port
  })
  afterAll(async () => await closing.disposeAsync())

  describe.each([false, true])('body in chunks: %s', (chunked) => {
    test.each(refused)('a request $name leaves the next one on its connection readable', async (request) => {
      const bytes = written(request, chunked)
      const cut = bytes.indexOf('\r\n\r\n') + 10
      for (const pieces of [[bytes + farewell], [bytes.slice(0, cut), bytes.slice(cut), farewell]]) {
        const text = await answerTo(port, pieces)
        expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual([`HTTP/1.1 ${request.status}`, 'HTTP/1.1 200'])
        expect(text).toMatch(/\r\n\r\nok\n$/)
      }
    })
  })

  test('what has come of bodies whose clients go is let go at once', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const held = (): number => {
      collect()
      return process.memoryUsage().arrayBuffers
    }
    const part = Buffer.alloc(7_000_000, 'x')
    const head = written({ name: '', status: 0, bytes: '' }, false).replace('Length: 0', `Length: ${maxBodyBytes}`)
    const before = held()
    for (let count = 0; count < 15; count++) {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(head)
      await new Promise((resolve) => socket.write(part, resolve))
      socket.destroy()
    }
    // those of the last ones may still be on their way
    await expect.poll(() => held() - before, { timeout: 5_000 }).toBeLessThan(30_000_000)
  })
})
