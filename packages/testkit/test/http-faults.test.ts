import { connect, type Socket } from 'node:net'
import { createRevisionPolicy, type Dispatcher, modernRevision } from '@atenea/mcpcompat'
import { type HttpListener, listenHttp, type ListenHttpOptions } from '@atenea/transport-http/node'
import { describe, expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { modernMeta } from './_util/http-client.ts'
import { until } from './_util/processes.ts'

const policy = createRevisionPolicy()

const patience = { timeout: 26_000 }

async function listening(
  options: Partial<ListenHttpOptions> = {},
  dispatcher: Dispatcher = createServedCore(),
): Promise<HttpListener> {
  return await listenHttp(dispatcher, { policy, ...options })
}

/** A client that writes its own bytes. */
class RawClient {
  readonly socket: Socket
  text = ''
  closed = false
  #wake: (() => void)[] = []

  constructor({ port }: HttpListener) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (chunk: string) => {
      this.text += chunk
      this.#tell()
    })
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => {
      this.closed = true
      this.#tell()
    })
    this.socket.on('end', () => {
      this.closed = true
      this.#tell()
    })
  }

  async until(what: RegExp | 'closed' | ((client: RawClient) => boolean)): Promise<string> {
    while (what === 'closed' ? !this.closed : !(what instanceof RegExp ? what.test(this.text) : what(this))) {
      if (this.closed && what !== 'closed') throw new Error(`closed before ${String(what)}: ${this.text}`)
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
    return this.text
  }

  #tell(): void {
    for (const resolve of this.#wake.splice(0)) resolve()
  }
}

function rawPost(method: string, params: object, id: number | string = 1, meta: object = {}): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...modernMeta, ...meta } } })
  const name = (params as { name?: string }).name
  return [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${modernRevision}`,
    `Mcp-Method: ${method}`,
    ...(name === undefined ? [] : [`Mcp-Name: ${name}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

const echo = rawPost('tools/call', { name: 'echo', arguments: { text: 'hi' } })
const listen = rawPost('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub')

/** Whether the server still answers others at once. */
async function answers(listener: HttpListener): Promise<boolean> {
  const client = new RawClient(listener)
  client.socket.write(echo)
  const text = await client.until(/"text":"hi"/)
  client.socket.destroy()
  return text.startsWith('HTTP/1.1 200')
}

describe('faults of clients', () => {
  test('A-58: a head that is too large is 431, and slow ones are cut off', async () => {
    await using listener = await listening({ headersTimeoutMs: 300 })
    const large = new RawClient(listener)
    large.socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Name: ${'x'.repeat(40_000)}\r\n\r\n`)
    expect(await large.until('closed')).toContain('431')
    const slow = new RawClient(listener)
    slow.socket.write('POST /mcp HTTP/1.1\r\nHost')
    expect(await slow.until('closed')).toContain('408')
    const garbage = new RawClient(listener)
    garbage.socket.write('\u0016\u0003\u0001\u0002\u0000')
    expect(await garbage.until('closed')).toContain('400')
    expect(await answers(listener)).toBe(true)
  })

  test('requests that come one after the other on one connection, also at once, are answered in their order', async () => {
    await using listener = await listening()
    const client = new RawClient(listener)
    client.socket.write(rawPost('tools/call', { name: 'sleep', arguments: { ms: 50 } }, 'a') + echo + echo)
    expect(await client.until(/"hi"[^]*"hi"/)).toMatch(/slept[^]*"hi"[^]*"hi"/)
    client.socket.write(echo)
    expect(await client.until(/(?:"hi"[^]*){3}/)).not.toMatch(/(?:"hi"[^]*){4}/)
    client.socket.destroy()
  })

  test('a client that goes in the middle of its body leaves nothing behind', async () => {
    await using listener = await listening()
    for (let count = 0; count < 20; count++) {
      const client = new RawClient(listener)
      client.socket.write(echo.slice(0, -20))
      await new Promise((resolve) => setTimeout(resolve, 5))
      client.socket.destroy()
    }
    expect(await answers(listener)).toBe(true)
    expect(listener.handler.openCalls).toBe(0)
  })

  test('MH-SSE-10: a client that resets its connection cancels its call', async () => {
    let aborted = 0
    await using listener = await listening({}, createServedCore({ onAborted: () => (aborted += 1) }))
    const client = new RawClient(listener)
    client.socket.write(rawPost('tools/call', { name: 'sleep', arguments: { ms: 60_000 } }))
    await until(() => listener.handler.openCalls === 1)
    client.socket.resetAndDestroy()
    await until(() => aborted === 1)
    expect(listener.handler.openCalls).toBe(0)
  })

  test('bodies that arrive slowly keep nobody waiting, and are 408 after their time', patience, async () => {
    await using listener = await listening({ bodyTimeoutMs: 1_000 })
    const slow = Array.from({ length: 20 }, () => {
      const client = new RawClient(listener)
      client.socket.write(echo.slice(0, -20))
      return client
    })
    for (let count = 0; count < 50; count++) expect(await answers(listener)).toBe(true)
    for (const client of slow) expect(await client.until('closed')).toMatch(/^HTTP\/1\.1 408 [^]*"error"/)
  })

  test('a body without end is refused before it is kept, and the connection is cut off', async () => {
    await using listener = await listening({ maxBodyBytes: 10_000 })
    const client = new RawClient(listener)
    client.socket.write(
      'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    const feed = setInterval(() => client.socket.write(`${(8_000).toString(16)}\r\n${' '.repeat(8_000)}\r\n`), 2)
    expect(await client.until(/"error"/)).toMatch(/^HTTP\/1\.1 413 /)
    await client.until('closed')
    clearInterval(feed)
    expect(await answers(listener)).toBe(true)
  })

  test('a client that never reads its stream is cut off, and its call is cancelled', async () => {
    let aborted = false
    const text = 'x'.repeat(100_000)
    // a handler that does not wait for whoever reads
    const chatty: Dispatcher = {
      ...wrapped(createServedCore()),
      call: async (_call, context) => {
        while (!context.signal.aborted) {
          void context.emit({ method: 'notifications/message', params: { level: 'error', data: text } })
          await new Promise((resolve) => setImmediate(resolve))
        }
        aborted = true
        throw context.signal.reason
      },
    }
    await using listener = await listening({ maxUnsentBytes: 256 * 1024 }, chatty)
    const client = new RawClient(listener)
    client.socket.pause()
    const meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
    client.socket.write(rawPost('tools/call', { name: 'echo', arguments: {} }, 1, meta))
    await until(() => aborted)
    expect(listener.handler.openCalls).toBe(0)
    client.socket.destroy()
  })

  test('a client that reads nothing while its stream lives is cut off in the end', async () => {
    await using listener = await listening({ keepAliveMs: 48, maxUnsentBytes: 64 * 1024 * 1024 })
    const client = new RawClient(listener)
    client.socket.write(listen)
    await client.until(/acknowledged/)
    client.socket.pause()
    const changing = rawPost('tools/call', { name: 'changes', arguments: {} })
    const other = new RawClient(listener)
    // until the system keeps no more for the one that does not read
    const feed = setInterval(() => other.socket.write(changing.repeat(200)), 5)
    await until(() => listener.handler.openCalls === 0)
    expect(client.text).not.toContain('"result"')
    clearInterval(feed)
    client.socket.destroy()
    other.socket.destroy()
    expect(await answers(listener)).toBe(true)
  })

  test('a large answer that nobody reads is given up', async () => {
    await using listener = await listening({ bodyTimeoutMs: 160 })
    const client = new RawClient(listener)
    client.socket.pause()
    client.socket.write(rawPost('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(15_000_000) } }))
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    client.socket.resume()
    // the rest does not come any more
    expect((await client.until('closed')).length).toBeLessThan(15_000_000)
  })
})

describe('load', () => {
  test('100 open subscriptions while calls go on, and each hears of a change', patience, async () => {
    await using listener = await listening()
    const clients = Array.from({ length: 100 }, () => new RawClient(listener))
    for (const { socket } of clients) socket.write(listen)
    await Promise.all(clients.map((client) => client.until(/acknowledged/)))
    for (let count = 0; count < 100; count++) expect(await answers(listener)).toBe(true)
    const changer = new RawClient(listener)
    changer.socket.write(rawPost('tools/call', { name: 'changes', arguments: {} }))
    await Promise.all(clients.map((client) => client.until(/tools\/list_changed/)))
    const closing = listener.close()
    // each gets its result, and the connection ends
    for (const client of clients) expect(await client.until(/"id":"sub","result"/)).toContain('subscriptionId')
    await closing
    changer.socket.destroy()
  })

  test(
    '1,000 sessions that are opened and abandoned: no more are kept than may be, others are served',
    patience,
    async () => {
      await using listener = await listening({ maxSessions: 100 })
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: policy.legacy[0], capabilities: {}, clientInfo: { name: 'n', version: '1' } },
      })
      const request = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const ids = new Set<string>()
      for (let batch = 0; batch < 10; batch++) {
        const client = new RawClient(listener)
        client.socket.write(request.repeat(100))
        await client.until(({ text }) => text.split('"protocolVersion"').length === 101)
        for (const [id] of client.text.matchAll(/Mcp-Session-Id: \S+/g)) ids.add(id)
        client.socket.destroy()
      }
      expect(ids.size).toBe(1_000)
      expect(listener.handler.sessions).toBe(100)
      expect(await answers(listener)).toBe(true)
    },
  )
})

function wrapped(core: Dispatcher): Dispatcher {
  return {
    call: (call, context) => core.call(call, context),
    notify: (notice, context) => core.notify(notice, context),
    view: (principal) => core.view(principal),
    drain: async () => await core.drain(),
  }
}
