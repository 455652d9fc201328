import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createRevisionPolicy, modernRevision } from '@atenea/mcpcompat'
import { createHttpHandler } from '@atenea/transport-http'
import { listenHttp } from '@atenea/transport-http/node'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { modernMeta } from './_util/http-client.ts'

const policy = createRevisionPolicy()

const params = { name: 'echo', arguments: { text: 'hi' }, _meta: modernMeta }
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

function head(fields: readonly string[] = []): string {
  const all = [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${modernRevision}`,
    'Mcp-Method: tools/call',
    'Mcp-Name: echo',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Expect: 100-continue',
    ...fields,
  ]
  return `${all.join('\r\n')}\r\n\r\n`
}

/** Sends a head, sends the body only when told to, and gives all that came by the time the connection is over. */
function ask(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    let sent = false
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (!sent && text.includes('HTTP/1.1 100 Continue\r\n\r\n')) {
        sent = true
        socket.write(body)
      }
      if (text.includes('"hi"')) socket.end()
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    socket.write(request)
  })
}

describe('Expect: 100-continue', () => {
  test('a client that waits is told to send its body once the guards have let it in', async () => {
    await using listener = await listenHttp(createServedCore(), { policy })
    expect(await ask(listener.port, head())).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[^]*"hi"/)
  })

  test.each([
    ['MH-EP-02: a foreign page', ['Origin: https://evil.example'], 403],
    ['A-20: a body of another type', ['Content-Type: text/plain'], 415],
    ['A-58: a body that is too large', [], 413],
  ])('%s is refused without its body, and the connection with it', async (_what, fields, status) => {
    await using listener = await listenHttp(createServedCore(), { policy, maxBodyBytes: status === 413 ? 10 : 1_000 })
    const request = head(fields)
    const answer = await ask(
      listener.port,
      status === 415 ? request.replace('Content-Type: application/json\r\n', '') : request,
    )
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toMatch(/^connection: close\r$/im)
    expect(answer).not.toContain('100 Continue')
  })

  test('a handler without that listener works as well: Node tells every client to go on', async () => {
    await using handler = createHttpHandler(createServedCore(), { policy })
    const server = createServer(handler.node)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const answer = await ask(port, head())
    expect(answer.match(/100 Continue/g)).toHaveLength(1)
    expect(answer).toMatch(/HTTP\/1\.1 200 OK[^]*"hi"/)
    await new Promise((resolve) => server.close(resolve))
  })
})
