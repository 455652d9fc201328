import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createRevisionPolicy, legacyRevision, type Outcome, toValue } from '@atenea/mcpcompat'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import type { Passthrough } from '@atenea/passthrough'
import { listenHttp } from '@atenea/transport-http/node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { until } from './_util/processes.ts'
import { backendOn, httpConnector, httpFront, Opened, passthroughTo } from './_util/proxied.ts'

let opened = new Opened()
beforeEach(() => {
  opened = new Opened()
})
afterEach(async () => {
  await opened[Symbol.asyncDispose]()
})

async function callTool(passthrough: Passthrough, name: string, args = {}): Promise<unknown> {
  const call = { method: 'tools/call', params: { name, arguments: args } }
  const outcome: Outcome = await passthrough.call(call, createCallerContext())
  return outcome.kind === 'result' ? toValue(outcome.value) : outcome
}

test('BR-111: a legacy client that lets go of its stream cancels nothing at the backend', async () => {
  let aborted = 0
  const listener = await listenHttp(createServedCore({ onAborted: () => (aborted += 1) }), {
    policy: createRevisionPolicy(),
  })
  opened.later(() => listener.close({ timeoutMs: 0 }))
  const backend = { name: 'back', mode: 'modern' as const, connect: httpConnector(listener.url, opened) }
  const { url } = await httpFront(passthroughTo([backend], opened), opened)
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = async (body: object, more = {}, signal?: AbortSignal): Promise<Response> =>
    await fetch(url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal && { signal }),
    })
  const clientInfo = { name: 'c', version: '1' }
  const hello = await post({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: legacyRevision, capabilities: {}, clientInfo },
  })
  const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' }
  await hello.text()
  await post({ method: 'notifications/initialized' }, session)
  const away = new AbortController()
  const call = { id: 1, method: 'tools/call', params: { name: 'sleep', arguments: { ms: 400 } } }
  const left = post(call, session, away.signal).then(async (answer) => await answer.text())
  left.catch(() => undefined)
  await until(() => listener.handler.openCalls >= 2) // the call, and the listen of the session
  away.abort()
  await expect(left).rejects.toThrow(/abort/i)
  await until(() => listener.handler.openCalls < 2)
  expect(aborted).toBe(0)
})

test('BR-234, F13: a backend that has forgotten the session gets a new one, and the call is made once more', async () => {
  let sessions = 0
  const listener = await listenHttp(createServedCore(), {
    policy: createRevisionPolicy(),
    createSessionId: () => `session-${++sessions}`,
  })
  opened.later(() => listener.close({ timeoutMs: 0 }))
  const backend = { name: 'back', mode: 'legacy' as const, connect: httpConnector(listener.url, opened) }
  const passthrough = passthroughTo([backend], opened)
  expect(await callTool(passthrough, 'echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] })
  const headers = { 'mcp-session-id': 'session-1', 'mcp-protocol-version': legacyRevision }
  expect((await fetch(listener.url, { method: 'DELETE', headers })).status).toBe(204)
  expect(await callTool(passthrough, 'echo', { text: 'b' })).toMatchObject({ content: [{ text: 'b' }] })
  expect(sessions).toBe(2)
  expect(passthrough.status().backends[0]).toMatchObject({ state: 'ready', restarts: 0 })
})

test('BR-239, F11: the broken stream of an answer is taken up where ids were given, and the call is made once', async () => {
  let calls = 0
  const result = { content: [{ type: 'text', text: 'late' }] }
  const server = await legacyServer((request, response, id) => {
    if (request.method === 'POST') {
      calls++
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('id: 7\nretry: 10\ndata:\n\n')
    } else if (request.headers['last-event-id'] === '7') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    }
  })
  const backend = { name: 'back', mode: 'legacy' as const, connect: httpConnector(server, opened) }
  const passthrough = passthroughTo([backend], opened)
  expect(await callTool(passthrough, 'slow')).toMatchObject(result)
  expect(calls).toBe(1)
})

test('BR-239, F11: without ids the outcome is unknown, and the call is not made again', async () => {
  let calls = 0
  const server = await legacyServer((request, response) => {
    if (request.method !== 'POST') return
    calls++
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(': nothing\n\n')
  })
  const backend = { name: 'back', mode: 'legacy' as const, connect: httpConnector(server, opened) }
  const passthrough = passthroughTo([backend], opened)
  await expect(callTool(passthrough, 'counts')).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringContaining('not repeated'),
  })
  expect(calls).toBe(1)
})

test('F17: a backend that wants credentials or a pause says so to the proxy, whose caller gets an error and no challenge', async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(401, { 'www-authenticate': 'Bearer realm="zzz"' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.later(() => server.closeAllConnections())
  opened.later(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const passthrough = passthroughTo([{ name: 'back', connect: httpConnector(url, opened) }], opened)
  await expect(callTool(passthrough, 'echo')).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringContaining('refused the credentials'),
  })
  expect(passthrough.status().backends[0]).toMatchObject({ state: 'waiting', observed: undefined })
})

test('nothing is connected before the first call, and then a pin is looked at on each carrier', async () => {
  for (const carrier of ['memory', 'socket', 'http'] as const) {
    const events: unknown[] = []
    const backend = await backendOn(carrier, 'modern', opened)
    const passthrough = passthroughTo([backend], opened, { onEvent: (event) => events.push(event) })
    expect(passthrough.status().backends[0]).toMatchObject({ state: 'idle', observed: undefined })
    await callTool(passthrough, 'echo')
    expect(events).toMatchObject([{ kind: 'connected', restart: false }])
    expect(passthrough.status().backends[0]).toMatchObject({ state: 'ready', info: { name: 'served' } })
  }
})

/** A legacy server over HTTP that shakes hands and leaves everything else to the test; `id` is that of the latest call. */
async function legacyServer(
  answer: (request: IncomingMessage, response: ServerResponse, id: number | undefined) => void,
): Promise<string> {
  let latest: number | undefined
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      const message = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
      if (message.method === 'initialize') {
        const result = {
          protocolVersion: legacyRevision,
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        }
        response
          .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
        return
      }
      if (request.method === 'POST' && message.id === undefined) {
        response.writeHead(202).end()
        return
      }
      if (message.id !== undefined) latest = message.id
      answer(request, response, latest)
      if (!response.headersSent) response.writeHead(405, { allow: 'POST' }).end()
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.later(() => server.closeAllConnections())
  opened.later(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
