import { connect } from 'node:net'
import { createRevisionPolicy, type Dispatcher, modernRevision } from '@atenea/mcpcompat'
import { listenHttp } from '@atenea/transport-http/node'
import { expect, onTestFinished, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { modernMeta } from './_util/http-client.ts'

test('a client that reads slowly but reads keeps its stream, however much always waits for it', async () => {
  const core = createServedCore()
  const line = 'x'.repeat(100_000)
  const chatty: Dispatcher = {
    notify: (notice, context) => core.notify(notice, context),
    view: (principal) => core.view(principal),
    drain: async () => await core.drain(),
    call: async (_call, context) => {
      for (;;) {
        context.signal.throwIfAborted()
        await context.emit({ method: 'notifications/message', params: { level: 'error', data: line } })
      }
    },
  }
  await using listener = await listenHttp(chatty, { policy: createRevisionPolicy(), keepAliveMs: 100 })
  const meta = { ...modernMeta, 'io.modelcontextprotocol/logLevel': 'debug' }
  const params = { name: 'echo', arguments: {}, _meta: meta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let closed = false
  socket.on('close', () => (closed = true)).on('error', () => undefined)
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: ${modernRevision}\r\n` +
      `Mcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  // many times eight turns, in each of which something waits
  const started = performance.now()
  let received = 0
  while (!closed && performance.now() - started < 2_500) {
    received += (socket.read() as Buffer | null)?.length ?? 0
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(closed).toBe(false)
  expect(received).toBeGreaterThan(1_000_000)
  expect(listener.handler.openCalls).toBe(1)
})
