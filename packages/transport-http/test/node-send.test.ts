import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect as netConnect, createServer as createNetServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createFetchSend } from '../src/fetch-send.ts'
import { createNodeSend, type NodeSend } from '../src/node/send.ts'
import type { HttpRequest, HttpSend } from '../src/send.ts'
import { failureOf, until } from './_util/client.ts'
import { plain, scriptedServer, stream } from './_util/scripted-server.ts'

const open = new Set<Disposable>()
const closing = new Set<() => void>()

function nodeSend(...options: Parameters<typeof createNodeSend>): NodeSend {
  const send = createNodeSend(...options)
  open.add(send)
  return send
}

afterEach(() => {
  for (const send of open) send[Symbol.dispose]()
  open.clear()
  for (const close of closing) close()
  closing.clear()
  vi.unstubAllEnvs()
})

function post(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: { 'x-a': '1' },
    body: '{"a":"é"}',
    signal: new AbortController().signal,
    repeatable: false,
    ...more,
  }
}

async function textOf({ body }: Awaited<ReturnType<HttpSend>>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('an answer that is compressed though plain bytes were asked for is refused in words that say so', async () => {
  await using server = await scriptedServer((_arrived, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}'))
  })
  expect(await failureOf(nodeSend()(post(server.url)))).toMatchObject({
    kind: 'protocol',
    message: expect.stringMatching(/compressed.*gzip/),
  })
  expect(server.arrived[0]?.headers['accept-encoding']).toBe('identity')
  const answer = await createFetchSend()(post(server.url))
  expect(await textOf(answer)).toBe('{}')
})

describe.each([
  ['connections of our own', (): HttpSend => nodeSend()],
  ['fetch', (): HttpSend => createFetchSend()],
])('requests by %s', (name, makeSend) => {
  test('arrive whole, and their answers come with status, fields and body', async () => {
    await using server = await scriptedServer((arrived, response) =>
      plain(response, 201, JSON.stringify(arrived.body), { 'x-b': '2' }),
    )
    const answer = await makeSend()(post(`${server.url}?q=1`))
    expect(answer).toMatchObject({ status: 201, headers: { 'x-b': '2', 'content-type': 'text/plain' } })
    expect(await textOf(answer)).toBe('{"a":"é"}')
    expect(server.arrived[0]).toMatchObject({
      method: 'POST',
      path: '/mcp?q=1',
      headers: { 'x-a': '1', 'content-length': '10' },
    })
  })

  test('redirects and errors are answers like others', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 307, 'x', { location: '/other' }))
    const answer = await makeSend()(post(server.url))
    expect(answer).toMatchObject({ status: 307, headers: { location: '/other' } })
    await textOf(answer)
    expect(server.arrived).toHaveLength(1)
  })

  test('a signal ends a request before its answer, and the reading of it, with its reason', async () => {
    await using server = await scriptedServer((arrived, response) => {
      if (arrived.path === '/mcp?stream') stream(response)
    })
    const send = makeSend()
    const reason = new Error('enough')
    const stop = new AbortController()
    const failing = failureOf(send(post(server.url, { signal: stop.signal })))
    await until(() => server.arrived.length === 1)
    stop.abort(reason)
    expect(await failing).toBe(reason)
    await server.arrived[0]?.closed
    const again = new AbortController()
    const answer = await send(post(`${server.url}?stream`, { signal: again.signal }))
    const reading = failureOf(textOf(answer))
    again.abort(reason)
    expect(await reading).toBe(reason)
    await server.arrived[1]?.closed
    expect(await failureOf(send(post(server.url, { signal: AbortSignal.abort(reason) })))).toBe(reason)
    expect(server.arrived).toHaveLength(2)
  })

  test('leaving an answer early ends its exchange', async () => {
    await using server = await scriptedServer((_arrived, response) => {
      stream(response)
      response.write(': one\n\n')
    })
    const { body } = await makeSend()(post(server.url))
    for await (const _chunk of body) break
    await server.arrived[0]?.closed
    expect(server.arrived).toHaveLength(1)
  })

  test('an answer that breaks off is an error after what had come', async () => {
    await using server = await scriptedServer((_arrived, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('part', () => response.destroy())
    })
    const { body } = await makeSend()(post(server.url))
    let text = ''
    const reading = async (): Promise<void> => {
      for await (const chunk of body) text += Buffer.from(chunk).toString()
    }
    expect(await failureOf(reading())).toMatchObject({ kind: 'closed' })
    expect(name === 'fetch' || text === 'part').toBe(true)
  })

  test('F11: nobody there is unreachable; a request that was taken and not answered is of unknown outcome', async () => {
    await using server = await scriptedServer((_arrived, _response, request) => void request.socket.destroy())
    const send = makeSend()
    expect(await failureOf(send(post(server.url)))).toMatchObject({ kind: 'unknown-outcome', retryable: false })
    const { url } = server
    await server[Symbol.asyncDispose]()
    expect(await failureOf(send(post(url)))).toMatchObject({ kind: 'unreachable', retryable: true })
  })
})

describe('connections', () => {
  test('are used again, also after answers that nobody read to the end in one piece', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 200, 'x'.repeat(200_000)))
    const send = nodeSend()
    for (let index = 0; index < 5; index++) expect(await textOf(await send(post(server.url)))).toHaveLength(200_000)
    expect(new Set(server.arrived.map(({ socket }) => socket)).size).toBe(1)
  })

  test('many at once each get their own', async () => {
    await using server = await scriptedServer((arrived, response) =>
      plain(response, 200, JSON.stringify(arrived.body['n'])),
    )
    const send = nodeSend()
    const numbers = Array.from({ length: 50 }, (_, index) => index)
    const answers = await Promise.all(
      numbers.map(async (n) => await textOf(await send(post(server.url, { body: JSON.stringify({ n }) })))),
    )
    expect(answers).toEqual(numbers.map(String))
  })

  /** A server that answers the first request of each connection, and closes the connection under the second one after reading it. */
  async function closesUnderSecond(): Promise<{ url: string; requests: () => number; connections: () => number }> {
    let [requests, connections] = [0, 0]
    const server = createNetServer((socket) => {
      connections++
      let seen = 0
      socket.on('error', () => undefined)
      socket.on('data', () => {
        requests++
        if (++seen === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok')
        else socket.resetAndDestroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.add(() => server.close())
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/mcp`, requests: () => requests, connections: () => connections }
  }

  test('F11: one that is closed under a request that had left: a tool call is not sent again', async () => {
    const server = await closesUnderSecond()
    const send = nodeSend()
    await textOf(await send(post(server.url)))
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await failureOf(send(post(server.url)))).toMatchObject({ kind: 'unknown-outcome' })
    expect([server.requests(), server.connections()]).toEqual([2, 1])
  })

  test('one that changes nothing is sent again, once, over a new one', async () => {
    const server = await closesUnderSecond()
    const send = nodeSend()
    await textOf(await send(post(server.url)))
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await textOf(await send(post(server.url, { repeatable: true })))).toBe('ok')
    expect([server.requests(), server.connections()]).toEqual([3, 2])
  })

  test('one that the server closed while nobody used it is not used', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 200, 'ok'))
    const send = nodeSend()
    for (let index = 0; index < 3; index++) {
      expect(await textOf(await send(post(server.url)))).toBe('ok')
      server.server.closeIdleConnections()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(server.arrived).toHaveLength(3)
  })

  test('one that nobody used for a while is closed', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 200, 'ok'))
    const send = nodeSend({ idleTimeoutMs: 50 })
    let closed = false
    server.server.on(
      'connection',
      (socket: Socket) =>
        void socket.on('close', () => {
          closed = true
        }),
    )
    await textOf(await send(post(server.url)))
    await until(() => closed)
    expect(await textOf(await send(post(server.url)))).toBe('ok')
  })

  test('one that does not come about in time is given up', async () => {
    // A listener whose queue is full takes no more connections, and says nothing.
    const server = createNetServer(() => undefined)
    await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, resolve))
    closing.add(() => server.close())
    const { port } = server.address() as AddressInfo
    const send = nodeSend({ connectTimeoutMs: 50 })
    // TLS that is never answered is as good.
    const failure = await failureOf(send(post(`https://127.0.0.1:${port}/mcp`)))
    expect(failure).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('50 ms') as string })
  })

  test('one that may take for ever is not given up at once', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 200, 'ok'))
    const send = nodeSend({ connectTimeoutMs: Number.POSITIVE_INFINITY, idleTimeoutMs: Number.POSITIVE_INFINITY })
    expect(await textOf(await send(post(server.url)))).toBe('ok')
    // TLS is not answered here, so that a time limit would be the first to end it
    const giveUp = new AbortController()
    const silent = createNetServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen({ port: 0, host: '127.0.0.1' }, resolve))
    closing.add(() => silent.close())
    const { port } = silent.address() as AddressInfo
    setTimeout(() => giveUp.abort(new Error('patience is over')), 50)
    const failure = await failureOf(send(post(`https://127.0.0.1:${port}/mcp`, { signal: giveUp.signal })))
    expect(failure.message).toBe('patience is over')
  })

  test('a reader that is slow holds the server up, and nothing is lost', async () => {
    let written = 0
    await using server = await scriptedServer((_arrived, response) => {
      stream(response)
      const chunk = Buffer.alloc(65_536, 'x')
      const write = (): void => {
        while (written < 64 && response.write(chunk)) written++
        if (written < 64)
          response.once('drain', () => {
            written++
            write()
          })
        else response.end()
      }
      write()
    })
    const { body } = await nodeSend()(post(server.url))
    await new Promise((resolve) => setTimeout(resolve, 200))
    const early = written
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    expect(early).toBeLessThan(64)
    expect(bytes).toBeGreaterThanOrEqual(64 * 65_536)
  })

  test('one over TLS is read on after an answer that was whole before anybody took it', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const connections = new Set<object>()
    const server = createHttpsServer({ key, cert }, (request, response) => {
      connections.add(request.socket)
      // more than one record, of which only the first one comes before the reading is stopped, and no length
      response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(Buffer.alloc(60_000, 'x'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.add(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const send = nodeSend()
    for (let count = 0; count < 20; count++) {
      const answer = await send(post(url, { signal: AbortSignal.timeout(5_000) }))
      await new Promise((resolve) => setTimeout(resolve, 10))
      expect(await textOf(answer)).toHaveLength(60_000)
    }
    expect(connections.size).toBe(1)
  })

  test('disposing ends what is under way and takes nothing new', async () => {
    await using server = await scriptedServer((_arrived, response) => stream(response))
    const send = nodeSend()
    const { body } = await send(post(server.url))
    const reading = failureOf(textOf({ status: 200, headers: {}, body }))
    send[Symbol.dispose]()
    expect(await reading).toMatchObject({ kind: 'closed' })
    expect(await failureOf(send(post(server.url)))).toMatchObject({ kind: 'closed' })
  })
})

describe('proxies that the environment names', () => {
  interface Proxy {
    readonly url: string
    readonly seen: string[]
  }

  async function proxy(): Promise<Proxy> {
    const seen: string[] = []
    const server: Server = createHttpServer((request: IncomingMessage, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
      const onward = httpRequest(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      request.pipe(onward)
    })
    server.on('connect', (request: IncomingMessage, client: Socket) => {
      seen.push(`CONNECT ${request.url}`)
      const [host = '', port = ''] = (request.url ?? '').split(':')
      const onward = netConnect(Number(port), host, () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        onward.pipe(client).pipe(onward)
      })
      for (const socket of [client, onward]) socket.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.add(() => {
      server.closeAllConnections()
      server.close()
    })
    return { url: `http://user:pass@127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
  }

  test('HTTP_PROXY for http, less what NO_PROXY exempts', async () => {
    const through = await proxy()
    await using server = await scriptedServer((arrived, response) => plain(response, 200, JSON.stringify(arrived.body)))
    vi.stubEnv('HTTP_PROXY', through.url)
    const send = nodeSend()
    for (let index = 0; index < 2; index++) expect(await textOf(await send(post(server.url)))).toBe('{"a":"é"}')
    const credentials = `Basic ${Buffer.from('user:pass').toString('base64')}`
    expect(through.seen).toEqual([`POST ${server.url} ${credentials}`, `POST ${server.url} ${credentials}`])
    vi.stubEnv('NO_PROXY', 'example.com,127.0.0.1')
    await textOf(await nodeSend()(post(server.url)))
    expect(through.seen).toHaveLength(2)
  })

  test('HTTPS_PROXY for https, by a tunnel; certificates that NODE_EXTRA_CA_CERTS names are trusted, others are not', async () => {
    const through = await proxy()
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    })
    const server = createHttpsServer({ key, cert }, (_request, response) => response.end('secret'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const folder = mkdtempSync(join(tmpdir(), 'ca-'))
    closing.add(() => {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    })
    writeFileSync(join(folder, 'ca.pem'), cert)
    const { port } = server.address() as AddressInfo
    const url = `https://127.0.0.1:${port}/mcp`
    expect(await failureOf(nodeSend()(post(url)))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
    })
    // Node reads the variable when it starts.
    const program = `
      import { createNodeSend } from ${JSON.stringify(new URL('../src/node/send.ts', import.meta.url).href)}
      using send = createNodeSend()
      const answer = await send({ method: 'POST', url: ${JSON.stringify(url)}, headers: {}, body: '{}', signal: new AbortController().signal, repeatable: false })
      for await (const chunk of answer.body) process.stdout.write(chunk)`
    const hooks = new URL('../../testkit/fixtures/source-hooks.ts', import.meta.url).href
    const env = { ...process.env, HTTPS_PROXY: through.url, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'), NO_PROXY: '' }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--no-warnings', '--import', hooks, '--input-type=module', '-e', program],
      { env },
    )
    expect(stdout).toBe('secret')
    expect(through.seen).toEqual([`CONNECT 127.0.0.1:${port}`])
  })

  test('a proxy that is none is named in the error', async () => {
    vi.stubEnv('HTTP_PROXY', 'socks5://127.0.0.1:1')
    expect(await failureOf(nodeSend()(post('http://127.0.0.1:9/mcp')))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('socks5://127.0.0.1:1') as string,
    })
  })
})
