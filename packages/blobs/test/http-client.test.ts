import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BlobError } from '../src/blob-error.ts'
import { createEndpointGuard, type CreateEndpointGuardOptions } from '../src/endpoint-guard.ts'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse } from '../src/http-client.ts'
import { eventually } from './_util/eventually.ts'
import { collect } from './_util/bytes.ts'
import { type Handler, httpServer, httpsServer, tcpServer } from './_util/servers.ts'

// The machine may be slow; these bounds only catch a hang.
vi.setConfig({ testTimeout: 30_000 })

/** A client for which the given origins are exempt. */
function clientFor(...origins: string[]): HttpClient {
  const client = createHttpClient({ guard: createEndpointGuard({ allowEndpoints: origins }) })
  onTestFinished(() => client[Symbol.dispose]())
  return client
}

const limits = { maxBytes: 1_000_000, maxRedirects: 3, timeoutMs: 20_000, idleMs: 20_000 }

function get(url: string, options: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'GET', url: new URL(url), ...limits, ...options }
}

async function bodyOf(response: Promise<HttpResponse>): Promise<string> {
  return (await collect((await response).body)).toString()
}

test('a body comes whole, uncompressed, from where it was asked for', async () => {
  const server = await httpServer((request, response) => response.end(request.headers['accept-encoding']))
  const response = await clientFor(server.origin).request(get(`${server.origin}/a?b=c`))
  expect([response.status, response.url.href, response.redirects]).toEqual([200, `${server.origin}/a?b=c`, 0])
  expect((await collect(response.body)).toString()).toBe('identity')
  expect(server.requests).toEqual(['GET /a?b=c'])
})

test('a request says who asks, unless the caller says otherwise', async () => {
  const server = await httpServer((request, response) => response.end(request.headers['user-agent']))
  const client = clientFor(server.origin)
  expect(await bodyOf(client.request(get(server.origin)))).toBe('atenea-blobs')
  expect(await bodyOf(client.request(get(server.origin, { headers: { 'user-agent': 'mine' } })))).toBe('mine')
})

test('a connection is used again, and one that the server closed meanwhile is not taken for a failure', async () => {
  let close: () => void = () => undefined
  const server = await httpServer((request, response) => {
    close = () => request.socket.destroy()
    response.end('ok')
  })
  const client = clientFor(server.origin)
  expect(await bodyOf(client.request(get(server.origin)))).toBe('ok')
  await new Promise(setImmediate)
  expect(await bodyOf(client.request(get(server.origin)))).toBe('ok')
  expect(server.sockets.size).toBe(1)
  // Closed at the very moment at which the next request is sent.
  const next = client.request(get(server.origin))
  close()
  expect(await bodyOf(next)).toBe('ok')
})

describe('the guard', () => {
  test('G5: nothing is sent to a host that is refused, by name or by address', async () => {
    const server = await httpServer((_, response) => response.end('secret'))
    const client = clientFor('http://localhost:1')
    for (const host of ['localhost', '127.0.0.1', '127.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]']) {
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}:${server.port}/`
        await expect(client.request(get(url)), url).rejects.toMatchObject({ kind: 'endpoint-refused' })
      }
    }
    expect([server.requests, server.sockets.size]).toEqual([[], 0])
  })

  /** A guard for which 127.0.0.1 is the public internet and all other addresses are not. */
  const closed = (addresses: () => string[]): CreateEndpointGuardOptions => ({
    lookup: () => Promise.resolve(addresses().map((address) => ({ address, family: 4 as const }))),
    isAllowedAddress: (address) => address === '127.0.0.1',
  })

  test('G5: a public name over TLS is dialed at the address that was judged', async () => {
    const server = await httpsServer(['pds.example.com'], (request, response) => response.end(request.headers.host))
    let asked = 0
    const guard = createEndpointGuard(
      closed(() => {
        asked++
        // A resolver that rebinds: whoever asked twice would get the second answer.
        return asked === 1 ? ['127.0.0.1'] : ['127.0.0.2']
      }),
    )
    const connect = () => ({ ca: server.ca, port: server.port })
    using client = createHttpClient({ guard, connect })
    expect(await bodyOf(client.request(get('https://pds.example.com/x')))).toBe('pds.example.com')
    expect(asked).toBe(1)
  })

  test('G5: a name that leads to an address that is not public is refused before anything is sent', async () => {
    const server = await httpsServer(['pds.example.com'], (_, response) => response.end(), '0.0.0.0')
    const connect = () => ({ ca: server.ca, port: server.port })
    for (const addresses of [['127.0.0.2'], ['127.0.0.1', '127.0.0.2']]) {
      using client = createHttpClient({ guard: createEndpointGuard(closed(() => addresses)), connect })
      await expect(client.request(get('https://pds.example.com/'))).rejects.toMatchObject({
        kind: 'endpoint-refused',
        details: { reason: 'private-address' },
      })
    }
    expect([server.requests, server.sockets.size]).toEqual([[], 0])
  })

  test('G5: an address that changes between judgement and connection is noticed before anything is sent', async () => {
    const server = await httpsServer(['pds.example.com'], (_, response) => response.end(), '0.0.0.0')
    const guard = createEndpointGuard(closed(() => ['127.0.0.1']))
    // Whatever dials must not be able to get round the judgement.
    const lying = { ...guard, resolve: () => Promise.resolve([{ address: '127.0.0.3', family: 4 as const }]) }
    using client = createHttpClient({ guard: lying, connect: () => ({ ca: server.ca, port: server.port }) })
    await expect(client.request(get('https://pds.example.com/'))).rejects.toMatchObject({
      kind: 'endpoint-refused',
      details: { reason: 'private-address' },
    })
    expect(server.requests).toEqual([])
  })

  test('the certificate must be that of the name', async () => {
    const server = await httpsServer(['other.example.com'], (_, response) => response.end())
    const guard = createEndpointGuard(closed(() => ['127.0.0.1']))
    using client = createHttpClient({ guard, connect: () => ({ ca: server.ca, port: server.port }) })
    await expect(client.request(get('https://pds.example.com/'))).rejects.toMatchObject({
      kind: 'unreachable',
      retryable: false,
      details: { reason: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    })
    using trusting = createHttpClient({ guard, connect: () => ({ port: server.port }) })
    await expect(trusting.request(get('https://other.example.com/'))).rejects.toMatchObject({
      details: { reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    })
    expect(server.requests).toEqual([])
  })

  test('no proxy of the environment is used', async () => {
    const proxy = await httpServer((_, response) => response.end('from the proxy'))
    const server = await httpServer((_, response) => response.end('from the server'))
    for (const name of ['http_proxy', 'HTTP_PROXY', 'NODE_USE_ENV_PROXY']) {
      vi.stubEnv(name, name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.origin)
    }
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await bodyOf(clientFor(server.origin).request(get(server.origin)))).toBe('from the server')
    expect(proxy.requests).toEqual([])
  })
})

describe('C19, G5: redirects', () => {
  const to =
    (location: string, status = 302): Handler =>
    (_, response) =>
      void response.writeHead(status, { location }).end()

  test.each([301, 302, 303, 307, 308])('%i is followed, and what came tells from where', async (status) => {
    const target = await httpServer((_, response) => response.end('here'))
    const server = await httpServer(to(`${target.origin}/there?x=1#y`, status))
    const response = await clientFor(server.origin, target.origin).request(get(server.origin))
    expect([response.url.href, response.redirects]).toEqual([`${target.origin}/there?x=1`, 1])
    expect((await collect(response.body)).toString()).toBe('here')
  })

  test('at most as many as allowed are followed, a relative one included', async () => {
    let count = 0
    const server = await httpServer((_, response) => response.writeHead(302, { location: `/${++count}` }).end())
    await expect(clientFor(server.origin).request(get(server.origin))).rejects.toMatchObject({ kind: 'bad-redirect' })
    expect(server.requests).toEqual(['GET /', 'GET /1', 'GET /2', 'GET /3'])
  })

  test.each([
    ['loopback by address', (port: number) => `http://127.0.0.1:${port}/`],
    ['mapped loopback', (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['loopback without a scheme', (port: number) => `//127.0.0.1:${port}/`],
    ['loopback by name', (port: number) => `https://localhost:${port}/`],
    ['a name that leads to loopback', (port: number) => `https://inside.example.com:${port}/`],
    ['another scheme', () => 'file:///etc/passwd'],
    ['metadata of clouds', () => 'http://169.254.169.254/latest/meta-data'],
  ])('one to %s is refused', async (_what, location) => {
    const inside = await httpServer((_, response) => response.end('secret'))
    const server = await httpServer(to(location(inside.port)))
    await expect(clientFor(server.origin).request(get(server.origin))).rejects.toMatchObject({
      kind: 'endpoint-refused',
    })
    expect(inside.requests).toEqual([])
  })

  test('one from the public internet to an exempt origin is refused', async () => {
    const inside = await httpServer((_, response) => response.end('secret'))
    const outside = await httpsServer(['pds.example.com'], to(inside.origin))
    const guard = createEndpointGuard({
      allowEndpoints: [inside.origin],
      lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
      isAllowedAddress: () => true,
    })
    using client = createHttpClient({ guard, connect: () => ({ ca: outside.ca, port: outside.port }) })
    await expect(client.request(get('https://pds.example.com/'))).rejects.toMatchObject({ kind: 'endpoint-refused' })
    expect([outside.requests.length, inside.requests]).toEqual([1, []])
  })

  test('none is followed with credentials or a body', async () => {
    const target = await httpServer((_, response) => response.end('here'))
    const server = await httpServer(to(`${target.origin}/`, 307))
    const client = clientFor(server.origin, target.origin)
    const headers = { authorization: 'Bearer secret' }
    await expect(client.request(get(server.origin, { headers }))).rejects.toMatchObject({ kind: 'bad-redirect' })
    const body = { size: 3, chunks: [Buffer.from('abc')] }
    await expect(client.request(get(server.origin, { method: 'POST', body }))).rejects.toMatchObject({
      kind: 'bad-redirect',
    })
    expect(target.requests).toEqual([])
  })

  test('one that leads nowhere is refused, one without a target is an answer like any other', async () => {
    const nowhere = await httpServer(to('http://[nowhere'))
    await expect(clientFor(nowhere.origin).request(get(nowhere.origin))).rejects.toMatchObject({ kind: 'bad-redirect' })
    const without = await httpServer((_, response) => response.writeHead(302).end())
    expect((await clientFor(without.origin).request(get(without.origin))).status).toBe(302)
  })
})

describe('a body', () => {
  test('over the limit by its length is refused before it is read, with its size', async () => {
    const server = await httpServer((_, response) =>
      response.writeHead(200, { 'content-length': 1_000_001 }).write('x'),
    )
    await expect(clientFor(server.origin).request(get(server.origin))).rejects.toMatchObject({
      kind: 'too-large',
      details: { size: 1_000_001, limit: 1_000_000 },
    })
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('C17: without a length and over the limit is left at the limit', async () => {
    const server = await httpServer((_, response) => {
      const chunk = Buffer.alloc(100_000)
      const more = (): void => void (response.destroyed || response.write(chunk, more))
      more()
    })
    const response = await clientFor(server.origin).request(get(server.origin))
    let size = 0
    const reading = (async () => {
      for await (const chunk of response.body) size += chunk.length
    })()
    await expect(reading).rejects.toMatchObject({ kind: 'too-large', details: { limit: 1_000_000 } })
    expect(size).toBeLessThanOrEqual(1_000_000)
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('that is compressed although that was ruled out is refused', async () => {
    const server = await httpServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000))),
    )
    await expect(clientFor(server.origin).request(get(server.origin))).rejects.toMatchObject({ kind: 'encoded' })
  })

  test.each([
    ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this'],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nonly this\r\n'],
    ['in chunks that make no sense', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nonly this\r\nzz\r\n'],
  ])('%s that breaks off is truncated', async (_what, answer) => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.end(answer)))
    const reading = bodyOf(clientFor(server.origin).request(get(server.origin)))
    await expect(reading).rejects.toMatchObject({ kind: 'truncated', retryable: true, details: { size: 9 } })
  })

  test('that is left early closes its connection', async () => {
    const server = await httpServer((_, response) => response.writeHead(200).write('x'))
    const response = await clientFor(server.origin).request(get(server.origin))
    for await (const _ of response.body) break
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('that nobody reads is let go by disposing the answer', async () => {
    const server = await httpServer((_, response) => response.writeHead(200).write('x'))
    const response = await clientFor(server.origin).request(get(server.origin))
    response[Symbol.dispose]()
    await eventually(() => expect(server.sockets.size).toBe(0))
  })
})

describe('a server that takes its time', () => {
  const silent = { idleMs: 150 }
  const slow = { timeoutMs: 400, idleMs: 20_000 }

  test('before it answers is left after the idle time', async () => {
    const server = await httpServer(() => undefined)
    await expect(clientFor(server.origin).request(get(server.origin, silent))).rejects.toMatchObject({
      kind: 'timeout',
      retryable: true,
    })
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('in the middle of a body, a shorter file under a longer length, is left after the idle time', async () => {
    const server = await httpServer((_, response) => response.writeHead(200, { 'content-length': 100 }).write('x'))
    await expect(bodyOf(clientFor(server.origin).request(get(server.origin, silent)))).rejects.toMatchObject({
      kind: 'timeout',
    })
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('and gives one byte now and then is left after the time for all of it', async () => {
    const server = await httpServer((_, response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.once('close', () => clearInterval(timer))
    })
    await expect(bodyOf(clientFor(server.origin).request(get(server.origin, slow)))).rejects.toMatchObject({
      kind: 'timeout',
    })
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('with redirects has the time for all of them together', async () => {
    const server = await httpServer(
      (_, response) => void setTimeout(() => response.writeHead(302, { location: '/' }).end(), 150),
    )
    await expect(
      clientFor(server.origin).request(get(server.origin, { ...slow, maxRedirects: 100 })),
    ).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('is not blamed for the time that the reader takes', async () => {
    const server = await httpServer((_, response) => {
      response.write('a')
      setTimeout(() => response.end('b'), 10)
    })
    const response = await clientFor(server.origin).request(get(server.origin, { idleMs: 700 }))
    const chunks: string[] = []
    for await (const chunk of response.body) {
      chunks.push(String(chunk))
      await new Promise((resolve) => void setTimeout(resolve, 900))
    }
    expect(chunks.join('')).toBe('ab')
  })

  test('when a body that nobody reads runs out of time its connection is closed all the same', async () => {
    const server = await httpServer((_, response) => response.writeHead(200).write('x'))
    await clientFor(server.origin).request(get(server.origin, { timeoutMs: 150 }))
    await eventually(() => expect(server.sockets.size).toBe(0))
  })
})

describe('an abort', () => {
  test.each([new Error('enough'), 'a text', undefined])(
    'ends a wait for an answer with its reason, %s',
    async (reason) => {
      const stop = new AbortController()
      const server = await httpServer(() => stop.abort(reason))
      const request = clientFor(server.origin).request(get(server.origin, { signal: stop.signal }))
      const thrown: unknown = await request.catch((error: unknown) => error)
      expect(thrown).toBe(stop.signal.reason)
      await eventually(() => expect(server.sockets.size).toBe(0))
    },
  )

  test('ends a body with its reason', async () => {
    const stop = new AbortController()
    const server = await httpServer((_, response) => response.writeHead(200).write('x'))
    const response = await clientFor(server.origin).request(get(server.origin, { signal: stop.signal }))
    const reading = collect(response.body)
    setTimeout(() => stop.abort('enough'), 20)
    await expect(reading).rejects.toBe('enough')
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('that came before sends nothing', async () => {
    const server = await httpServer((_, response) => response.end())
    const request = clientFor(server.origin).request(get(server.origin, { signal: AbortSignal.abort('no') }))
    await expect(request).rejects.toBe('no')
    expect(server.requests).toEqual([])
  })
})

describe('a body that is sent', () => {
  const post = (origin: string, size: number, options: Partial<HttpRequest> = {}): HttpRequest =>
    get(origin, { method: 'POST', body: { size, chunks: zeros(size) }, ...options })

  async function* zeros(size: number): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; left -= 65_536) yield await Promise.resolve(new Uint8Array(Math.min(left, 65_536)))
  }

  test('has its length, and a connection of its own that is closed afterwards', async () => {
    const server = await httpServer((request, response) => {
      let size = 0
      request.on('data', (chunk: Buffer) => (size += chunk.length))
      request.on('end', () =>
        response.end(`${request.headers['content-length']} ${request.headers['transfer-encoding']} ${size}`),
      )
    })
    expect(await bodyOf(clientFor(server.origin).request(post(server.origin, 200_000)))).toBe('200000 undefined 200000')
    expect(await bodyOf(clientFor(server.origin).request(post(server.origin, 0)))).toBe('0 undefined 0')
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('goes out on a new connection also when another was kept, which may have become stale', async () => {
    const server = await httpServer((request, response) => {
      request.resume()
      response.end('ok')
    })
    const client = clientFor(server.origin)
    await bodyOf(client.request(get(server.origin)))
    await new Promise(setImmediate)
    const [kept] = server.sockets
    const used: unknown[] = []
    for (const socket of server.sockets) socket.on('data', () => used.push(socket))
    await bodyOf(client.request(post(server.origin, 10)))
    expect([server.sockets.has(kept as never), used]).toEqual([true, []])
  })

  test('C17: an answer that comes before all of it was sent is read, and stops the rest', async () => {
    for (let round = 0; round < 10; round++) {
      const server = await httpServer((_, response) => response.writeHead(413).end('too much'))
      let taken = 0
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const chunk of zeros(50_000_000)) {
          taken += chunk.length
          yield chunk
        }
      }
      const request = get(server.origin, { method: 'POST', body: { size: 50_000_000, chunks: counted() } })
      const response = await clientFor(server.origin).request(request)
      expect([response.status, (await collect(response.body)).toString()]).toEqual([413, 'too much'])
      await eventually(() => expect(server.sockets.size).toBe(0))
      expect(taken).toBeLessThan(50_000_000)
    }
  })

  test('to a server that answers early and then neither reads nor closes is closed from here', async () => {
    const connections = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const server = await tcpServer((socket) => {
      socket.once('data', () => {
        socket.pause()
        // Late enough for all buffers in between to be full.
        setTimeout(() => socket.write('HTTP/1.1 413 Too Much\r\ncontent-length: 3\r\n\r\nno!'), 500)
      })
    })
    // Those of tests before this one are on their way.
    await eventually(() => expect(connections()).toBe(0))
    const response = await clientFor(server.origin).request(post(server.origin, 50_000_000))
    expect((await collect(response.body)).toString()).toBe('no!')
    // What is left is the end of the server.
    await eventually(() => expect(connections()).toBe(1))
  })

  test('to a server that stops reading is given up after the idle time', async () => {
    const server = await tcpServer((socket) => socket.pause())
    const request = clientFor(server.origin).request(post(server.origin, 50_000_000, { idleMs: 300 }))
    await expect(request).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('whose source fails ends the request with that failure', async () => {
    const server = await httpServer(() => undefined)
    const failure = new BlobError('damaged', 'the file went bad')
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(new Uint8Array(10))
      throw failure
    }
    const request = get(server.origin, { method: 'POST', body: { size: 100, chunks: broken() } })
    await expect(clientFor(server.origin).request(request)).rejects.toBe(failure)
    await eventually(() => expect(server.sockets.size).toBe(0))
  })

  test('is not sent again when the connection breaks', async () => {
    let connections = 0
    const server = await tcpServer((socket) => {
      connections++
      socket.once('data', () => socket.resetAndDestroy())
    })
    await expect(clientFor(server.origin).request(post(server.origin, 1_000_000))).rejects.toMatchObject({
      kind: 'unreachable',
    })
    expect(connections).toBe(1)
  })
})

test('whoever does not listen, and whoever does not speak HTTP, is told apart', async () => {
  const gone = await httpServer(() => undefined)
  const client = clientFor('http://localhost:1', gone.origin)
  await expect(client.request(get('http://localhost:1/'))).rejects.toMatchObject({
    kind: 'unreachable',
    retryable: true,
    details: { source: 'http://localhost:1' },
  })
  const other = await tcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'))
  await expect(clientFor(other.origin).request(get(other.origin))).rejects.toMatchObject({ kind: 'bad-answer' })
})

test('disposing the client closes the connections that it kept', async () => {
  const server = await httpServer((_, response) => response.end('ok'))
  const client = createHttpClient({ guard: createEndpointGuard({ allowEndpoints: [server.origin] }) })
  await bodyOf(client.request(get(server.origin)))
  expect(server.sockets.size).toBe(1)
  const [socket] = server.sockets
  client[Symbol.dispose]()
  await eventually(() => expect(socket?.destroyed).toBe(true))
})
