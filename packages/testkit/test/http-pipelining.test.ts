import { connect } from 'node:net'
import { createRevisionPolicy, type Dispatcher, modernRevision } from '@atenea/mcpcompat'
import { listenHttp } from '@atenea/transport-http/node'
import { expect, onTestFinished, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { modernMeta } from './_util/http-client.ts'
import { until } from './_util/processes.ts'

const policy = createRevisionPolicy()

function post(id: string, method: string, params: object, fields: readonly string[] = []): string {
  const meta = { ...modernMeta, 'io.modelcontextprotocol/logLevel': 'debug' }
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
  return [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${modernRevision}`,
    `Mcp-Method: ${method}`,
    ...fields,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

const listen = (id: string): string => post(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
const sleep = (id: string, ms: number): string =>
  post(id, 'tools/call', { name: 'sleep', arguments: { ms } }, ['Mcp-Name: sleep'])

test('MH-SSE-10: calls that wait for their turn on a connection are cancelled with it', async () => {
  let aborted = 0
  await using listener = await listenHttp(createServedCore({ onAborted: () => (aborted += 1) }), { policy })
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write(listen('a') + listen('b') + sleep('c', 60_000) + sleep('d', 60_000))
  await until(() => listener.handler.openCalls === 4)
  socket.destroy()
  await until(() => listener.handler.openCalls === 0)
  await until(() => aborted === 2)
  expect(aborted).toBe(2)
})

test('a handler that waits until its client has read is not kept when the connection of a queued call closes', async () => {
  const core = createServedCore()
  let begun = 0
  let ended = 0
  const patient: Dispatcher = {
    notify: (notice, context) => core.notify(notice, context),
    view: (principal) => core.view(principal),
    drain: async () => await core.drain(),
    call: async (_call, context) => {
      begun++
      try {
        for (;;) {
          context.signal.throwIfAborted()
          await context.emit({ method: 'notifications/message', params: { level: 'error', data: 'x'.repeat(100_000) } })
        }
      } finally {
        ended++
      }
    },
  }
  await using listener = await listenHttp(patient, { policy })
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined).pause()
  socket.write(sleep('a', 1) + sleep('b', 1) + sleep('c', 1))
  await until(() => begun === 3)
  socket.destroy()
  await until(() => ended === 3)
  expect(listener.handler.openCalls).toBe(0)
})

test('a client that queues more than it reads for long is cut off, with all that waits', async () => {
  await using listener = await listenHttp(createServedCore(), { policy, keepAliveMs: 48 })
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => undefined).resume()
  socket.write(listen('a') + listen('b'))
  await until(() => listener.handler.openCalls === 2)
  await closed
  await until(() => listener.handler.openCalls === 0)
  expect(listener.handler.sessions).toBe(0)
})

test('many calls on one connection, of which each has had its turn, leave nothing behind and warn of nothing', async () => {
  await using listener = await listenHttp(createServedCore(), { policy })
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let text = ''
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  for (let round = 1; round <= 2; round++) {
    socket.write(Array.from({ length: 20 }, (_, index) => sleep(`${round}-${index}`, 5)).join(''))
    await until(() => text.split('slept').length > round * 20)
  }
  expect(warnings).toEqual([])
  expect(listener.handler.openCalls).toBe(0)
})
