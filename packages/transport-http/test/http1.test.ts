import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { TransportError } from '@atenea/mcpcompat'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CallEnd } from '../src/call-end.ts'
import { createNodeSend, type NodeSend } from '../src/node/send.ts'
import type { HttpAnswer, HttpRequest } from '../src/send.ts'
import { failureOf, until } from './_util/client.ts'
import { faulty, type Sample, sound, stricter } from './_util/http-corpus.ts'
import { json, plain, scriptedServer, stream } from './_util/scripted-server.ts'

const undone: (() => void)[] = []

afterEach(() => {
  for (const undo of undone.splice(0)) undo()
  vi.unstubAllEnvs()
})

function nodeSend(...options: Parameters<typeof createNodeSend>): NodeSend {
  const send = createNodeSend(...options)
  undone.push(() => send[Symbol.dispose]())
  return send
}

function post(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: {},
    body: '{}',
    signal: new AbortController().signal,
    repeatable: false,
    ...more,
  }
}

async function latin1Of({ body }: HttpAnswer): Promise<string> {
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString('latin1')
  return text
}

interface RawServer {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** What came on each connection, as one byte a character. */
  readonly heard: string[]
  /** How many are open. */
  connections(): number
}

/** A server that says what it likes. */
async function rawServer(onRequest: (socket: Socket, heard: string, connection: number) => void): Promise<RawServer> {
  const heard: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const connection = heard.push('') - 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      heard[connection] += chunk.toString('latin1')
      onRequest(socket, heard[connection] ?? '', connection)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  undone.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, port, server, heard, connections: () => sockets.size }
}

describe('beside node:http', () => {
  type Verdict = { status: number; fields: Record<string, string | undefined>; body: string } | 'refused'

  async function ofOurs(url: string): Promise<Verdict> {
    try {
      const answer = await nodeSend()(post(url))
      return { status: answer.status, fields: { ...answer.headers }, body: await latin1Of(answer) }
    } catch (error) {
      if (TransportError.is(error) && (error.kind === 'unknown-outcome' || error.kind === 'closed')) return 'refused'
      throw error
    }
  }

  async function ofNode(url: string): Promise<Verdict> {
    const agent = new Agent({ keepAlive: true })
    undone.push(() => agent.destroy())
    return await new Promise((resolve) => {
      const request = httpRequest(url, { method: 'POST', agent }, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString('latin1')
        })
        response.on('error', () => resolve('refused'))
        const { statusCode: status = 0, headers } = response
        const fields = headers as Record<string, string>
        response.on('end', () => resolve({ status, fields: { ...fields }, body }))
      })
      for (const end of ['error', 'close']) request.on(end, () => resolve('refused'))
      request.end('{}')
    })
  }

  async function serverOf({ bytes, closes }: Sample): Promise<RawServer> {
    return await rawServer((socket) => {
      // Two pieces, so that a head may come alone.
      const half = bytes.indexOf('\r\n\r\n') + 4
      socket.write(bytes.slice(0, half), 'latin1')
      setImmediate(() => {
        if (closes === true) socket.end(bytes.slice(half), 'latin1')
        else socket.write(bytes.slice(half), 'latin1')
      })
    })
  }

  test.each([...sound, ...faulty])('the same is taken and refused, and reads the same: $name', async (sample) => {
    const { url } = await serverOf(sample)
    const [ours, theirs] = await Promise.all([ofOurs(url), ofNode(url)])
    expect(ours).toEqual(theirs)
    expect(ours === 'refused').toBe(faulty.includes(sample))
  })

  test.each(stricter)('only node:http takes: $name', async (sample) => {
    const { url } = await serverOf(sample)
    expect([await ofOurs(url), await ofNode(url)]).toMatchObject(['refused', { status: 200 }])
  })

  test('F11: what is no HTTP is told as an answer that says nothing of what has become of the call', async () => {
    const { url } = await rawServer((socket) => void socket.write('220 mail.example.com ESMTP\r\n'))
    expect(await failureOf(nodeSend()(post(url)))).toMatchObject({
      kind: 'unknown-outcome',
      message: expect.stringMatching(/no HTTP.*may have been carried out/) as string,
    })
  })
})

describe('requests', () => {
  test('reach a server as they were given, in each method, also beyond ASCII', async () => {
    await using server = await scriptedServer((arrived, response) =>
      json(response, 200, { method: arrived.method, path: arrived.path, headers: arrived.headers, body: arrived.body }),
    )
    const send = nodeSend()
    const answer = await send(
      post(`${server.url}/ä b?q=ü#x`, { headers: { 'x-latin': 'caf\xe9', 'x-empty': '' }, body: '{"a":"读🎉é"}' }),
    )
    expect(JSON.parse(await (answer.body.text?.(10_000) ?? ''))).toMatchObject({
      method: 'POST',
      path: '/mcp/%C3%A4%20b?q=%C3%BC',
      headers: {
        host: new URL(server.url).host,
        'x-latin': 'caf\xe9',
        'x-empty': '',
        'accept-encoding': 'identity',
        'content-length': '17',
      },
      body: { a: '读🎉é' },
    })
    for (const method of ['GET', 'DELETE'] as const) {
      const { signal } = new AbortController()
      const bare = await send({ method, url: server.url, headers: {}, signal, repeatable: true })
      const { headers, ...others } = JSON.parse(await (bare.body.text?.(10_000) ?? '')) as Record<string, object>
      expect(others).toEqual({ method, path: '/mcp', body: {} })
      expect(headers).not.toHaveProperty('content-length')
    }
  })

  test.each([
    ['a line end in a value', { 'x-a': 'b\r\nx-c: d' }],
    ['a line feed in a value', { 'x-a': 'b\nx-c: d' }],
    ['a NUL in a value', { 'x-a': 'b\0' }],
    ['what no byte holds', { 'x-a': '读' }],
    ['a line end in a name', { 'x-a: b\r\nx-c': 'd' }],
    ['a blank in a name', { 'x a': 'b' }],
    ['a colon in a name', { 'x-a:': 'b' }],
    ['no name', { '': 'b' }],
    ['another host', { Host: 'example.com' }],
    ['another length', { 'content-length': '0' }],
    ['another encoding', { 'Transfer-Encoding': 'chunked' }],
    ['an upgrade', { connection: 'upgrade' }],
  ])('cannot be made into two: %s', async (_name, headers) => {
    const server = await rawServer((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
    const send = nodeSend()
    expect(await failureOf(send(post(server.url, { headers })))).toBeInstanceOf(TypeError)
    expect(await failureOf(send(post(server.url, { headers })))).toBeInstanceOf(TypeError)
    expect((await send(post(server.url))).status).toBe(200)
    expect(server.heard).toHaveLength(1)
  })

  test('of any length, many at once, to a server that reads slowly, keep what is theirs, and so do their answers', async () => {
    await using server = await scriptedServer(async (arrived, response) => {
      const text = JSON.stringify(arrived.body)
      response.writeHead(200, { 'content-length': String(Buffer.byteLength(text)) })
      response.write(text.slice(0, text.length / 2))
      await new Promise((resolve) => setTimeout(resolve, 1))
      response.end(text.slice(text.length / 2))
    })
    server.server.on('request', (request) => {
      request.pause()
      setTimeout(() => request.resume(), 2)
    })
    const send = nodeSend()
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 24 }, async (_, index) => {
          const piece = index % 2 === 0 ? String.fromCharCode(97 + index) : `${String.fromCharCode(97 + index)}读é🎉`
          const body = JSON.stringify({ text: piece.repeat(3 ** (index % 12) * 2) })
          const answer = await send(post(server.url, { body }))
          expect((await answer.body.text?.(10_000_000)) === body).toBe(true)
        }),
      )
    }
  })

  test('head and body leave in one piece', async () => {
    const pieces: string[] = []
    const server = await rawServer((socket, heard) => {
      pieces.push(heard)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    const send = nodeSend()
    await send(post(server.url, { body: '{"a":"é"}' }))
    await send(post(server.url))
    expect(pieces).toHaveLength(2)
  })

  test('go to IPv6 addresses and to names, and say so', async () => {
    await using server = await scriptedServer((arrived, response) =>
      plain(response, 200, arrived.headers['host'] ?? 'none'),
    )
    expect(await latin1Of(await nodeSend()(post(`http://localhost:${server.port}/mcp`)))).toBe(
      `localhost:${server.port}`,
    )
    const six = createServer((socket) => {
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nv6'))
    })
    const listening = await new Promise<boolean>((resolve) => {
      six.once('error', () => resolve(false))
      six.listen(0, '::1', () => resolve(true))
    })
    undone.push(() => six.close())
    if (!listening) return
    const { port } = six.address() as AddressInfo
    expect(await latin1Of(await nodeSend()(post(`http://[::1]:${port}/mcp`)))).toBe('v6')
  })
})

describe('a kept connection', () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

  async function connectionsOf(answer: string, count = 3): Promise<number> {
    const server = await rawServer((socket) => void socket.write(answer))
    const send = nodeSend()
    for (let index = 0; index < count; index++) {
      expect(await latin1Of(await send(post(server.url)))).toBe('ok')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return server.heard.length
  }

  test('carries one request after the other', async () => {
    expect(await connectionsOf(ok)).toBe(1)
    expect(
      await connectionsOf('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n'),
    ).toBe(1)
    expect(await connectionsOf('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok')).toBe(1)
    expect(await connectionsOf('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok')).toBe(1)
  })

  test.each([
    ['the server said that it closes it', 'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok'],
    ['HTTP/1.0 does not say that it keeps it', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['it is not kept any longer', 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok'],
    ['more came than was asked for', `${ok}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nspoof`],
  ])('is not used again where %s', async (_why, answer) => {
    expect(await connectionsOf(answer)).toBe(3)
  })

  test('is closed when the server says something that nobody asked for', async () => {
    const sockets: Socket[] = []
    const server = await rawServer((socket) => {
      if (!sockets.includes(socket)) sockets.push(socket)
      socket.write(ok)
    })
    const send = nodeSend()
    await latin1Of(await send(post(server.url)))
    sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nspoof')
    await until(() => sockets[0]?.destroyed === true)
    expect(await latin1Of(await send(post(server.url)))).toBe('ok')
    expect(server.heard).toHaveLength(2)
  })

  test('is not used again by an answer that came before its request was sent', async () => {
    const server = await rawServer((socket, heard, connection) => {
      if (connection === 0 && heard.length < 70_000) {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')
      } else if (connection > 0) socket.write(ok)
    })
    const send = nodeSend()
    const early = await send(post(server.url, { body: JSON.stringify('x'.repeat(40_000_000)) }))
    expect([early.status, await latin1Of(early)]).toEqual([413, 'no'])
    expect(await latin1Of(await send(post(server.url)))).toBe('ok')
    expect(server.heard).toHaveLength(2)
  })

  test('F11: one that closes as its second request arrives: sent again only when that changes nothing, and once', async () => {
    let requests = 0
    const server = await rawServer((socket) => {
      requests++
      if (requests % 2 === 1) socket.write(ok)
      else socket.end()
    })
    const send = nodeSend()
    await latin1Of(await send(post(server.url)))
    expect(await failureOf(send(post(server.url)))).toMatchObject({ kind: 'unknown-outcome', retryable: false })
    await latin1Of(await send(post(server.url)))
    expect(await latin1Of(await send(post(server.url, { repeatable: true })))).toBe('ok')
    expect([requests, server.heard.length]).toEqual([5, 3])
  })

  test('F11: a new one that closes without a word is not tried again', async () => {
    const server = await rawServer((socket) => void socket.destroy())
    expect(await failureOf(nodeSend()(post(server.url, { repeatable: true })))).toMatchObject({
      kind: 'unknown-outcome',
      retryable: true,
    })
    expect(server.heard).toHaveLength(1)
  })

  test('holds no process that has nothing else to do', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 200, 'ok'))
    const { loaded, ms } = await run(server.url)
    expect(ms).toBeLessThan(2_000)
    // A proxy in front of HTTP servers is so much sooner there.
    expect(loaded).toEqual(['net'])
  })

  /** Makes one request in a process of its own; tells what of Node's network it has loaded, and how long it was still there afterwards. */
  async function run(url: string): Promise<{ loaded: readonly string[]; ms: number }> {
    const source = JSON.stringify(new URL('../src/node/send.ts', import.meta.url).href)
    const program = `
      const { createNodeSend } = await import(${source})
      const answer = await createNodeSend()({ method: 'POST', url: ${JSON.stringify(url)}, headers: {}, body: '{}', signal: new AbortController().signal, repeatable: false })
      for await (const _ of answer.body);
      const loaded = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''))
      const at = Date.now()
      process.once('exit', () => console.log(JSON.stringify({ ms: Date.now() - at, loaded: ['http', 'https', 'http2', 'tls', 'net'].filter((name) => loaded.includes(name)) })))`
    const hooks = new URL('../../testkit/fixtures/source-hooks.ts', import.meta.url).href
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--no-warnings',
      '--import',
      hooks,
      '--input-type=module',
      '-e',
      program,
    ])
    return JSON.parse(stdout) as { loaded: readonly string[]; ms: number }
  }
})

describe('giving up', () => {
  test('at any moment leaves nothing of one answer to the next request', async () => {
    await using server = await scriptedServer(async (arrived, response) => {
      const text = JSON.stringify(arrived.body['n']).repeat(200)
      response.writeHead(200, { 'content-length': String(text.length) })
      for (let at = 0; at < text.length; at += 100) {
        response.write(text.slice(at, at + 100))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    const send = nodeSend()
    let given = 0
    const one = async (n: number): Promise<void> => {
      const end = new CallEnd()
      const request = post(server.url, { ending: end, signal: end.signal, body: JSON.stringify({ n }) })
      const reason = new Error(`enough of ${n}`)
      const timer = n % 3 === 0 ? undefined : setTimeout(() => end.abort(reason), (n * 7) % 23)
      try {
        const answer = await send(request)
        const text = n % 2 === 0 ? await answer.body.text?.(1_000_000) : await latin1Of(answer)
        expect(text).toBe(String(n).repeat(200))
      } catch (error) {
        if (error !== reason) throw error
        given++
      }
      clearTimeout(timer)
    }
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 20 }, async (_, index) => await one(1_000 + round * 20 + index)))
    }
    expect(given).toBeGreaterThan(10)
    expect(given).toBeLessThan(200)
  })

  test('while the connection comes about closes it', async () => {
    const silent = await rawServer(() => undefined)
    const stop = new AbortController()
    const url = `https://127.0.0.1:${silent.port}/mcp`
    const failing = failureOf(nodeSend()(post(url, { signal: stop.signal })))
    await until(() => silent.heard.length === 1)
    const reason = new Error('enough')
    stop.abort(reason)
    expect(await failing).toBe(reason)
    await until(() => silent.connections() === 0)
  })

  test('an answer of which too much comes is refused, and its connection closed', async () => {
    await using server = await scriptedServer((arrived, response) => {
      if (arrived.path === '/mcp?chunks') response.write('x'.repeat(10))
      response.end('x'.repeat(1_000_000))
    })
    const send = nodeSend()
    for (const url of [server.url, `${server.url}?chunks`]) {
      const { body } = await send(post(url))
      expect(await failureOf(Promise.resolve(body.text?.(1_000)))).toMatchObject({ kind: 'too-large' })
    }
    await server.arrived[1]?.closed
    const { body } = await send(post(`${server.url}?chunks`))
    expect(await body.text?.(1_000_010)).toHaveLength(1_000_010)
  })
})

describe('an answer', () => {
  test('of 50 MB that is read slowly holds its server up, and never much memory', async () => {
    const total = 50 * 1_048_576
    let written = 0
    const server = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
      const piece = Buffer.alloc(262_144, 'x')
      const more = (): void => {
        while (written < total) {
          written += piece.length
          if (!socket.write(piece)) {
            socket.once('drain', more)
            return
          }
        }
      }
      more()
    })
    const { body } = await nodeSend()(post(server.url))
    let bytes = 0
    let mostAhead = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes < total / 4) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        mostAhead = Math.max(mostAhead, written - bytes)
      }
    }
    expect(bytes).toBe(total)
    // What the system holds for a connection, and what waits in it here.
    expect(mostAhead).toBeLessThan(16 * 1_048_576)
  })

  test('is text without its byte order mark, whole in whatever pieces it came', async () => {
    const text = '读🎉é'.repeat(1_000)
    await using server = await scriptedServer(async (_arrived, response) => {
      response.write(Buffer.of(0xef, 0xbb, 0xbf))
      for (const byte of Buffer.from(text).subarray(0, 40)) {
        response.write(Buffer.of(byte))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end(Buffer.from(text).subarray(40))
    })
    const { body } = await nodeSend()(post(server.url))
    expect(await body.text?.(1_000_000)).toBe(text)
  })

  test('that breaks off is an error for who waits for its text, before and after', async () => {
    await using server = await scriptedServer((_arrived, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('part', () => response.destroy())
    })
    const send = nodeSend()
    const { body } = await send(post(server.url))
    expect(await failureOf(Promise.resolve(body.text?.(1_000)))).toMatchObject({
      kind: 'closed',
      message: expect.stringContaining('broke off') as string,
    })
    const late = await send(post(server.url))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(() => late.body.text?.(1_000)).toThrow(/broke off/)
  })

  test('of events reaches its reader as each of them is said', async () => {
    let response: Parameters<typeof stream>[0] | undefined
    await using server = await scriptedServer((_arrived, begun) => {
      response = begun
      stream(begun)
    })
    const { body } = await nodeSend()(post(server.url))
    const events = body[Symbol.asyncIterator]()
    for (const said of ['one', 'two', 'three']) {
      response?.write(`data: ${said}\n\n`)
      const next = await events.next()
      expect(Buffer.from(next.value as Uint8Array).toString()).toBe(`data: ${said}\n\n`)
    }
    response?.end()
    expect(await events.next()).toMatchObject({ done: true })
    // The connection goes on to the next request.
    const second = await nodeSend()(post(server.url))
    await second.body[Symbol.asyncIterator]().return?.()
  })
})

describe('TLS', () => {
  test('connections are kept, and what is read slowly waits', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    })
    let connections = 0
    const server = createHttpsServer({ key, cert }, (request, response) => {
      request.resume()
      request.on('end', () => response.end('x'.repeat(3_000_000)))
    })
    server.on('secureConnection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    undone.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const url = `https://localhost:${port}/mcp`
    expect(await failureOf(nodeSend()(post(url)))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('certificate') as string,
    })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const send = nodeSend()
    connections = 0
    for (let index = 0; index < 3; index++) {
      const { body } = await send(post(url))
      let bytes = 0
      for await (const chunk of body) {
        bytes += chunk.length
        if (bytes % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
      }
      expect(bytes).toBe(3_000_000)
    }
    const { body } = await send(post(url))
    expect(await body.text?.(3_000_000)).toHaveLength(3_000_000)
    expect(connections).toBe(1)
  })
})

describe('a proxy of the environment that lets nobody through', () => {
  async function through(said: string): Promise<{ answering: Promise<HttpAnswer>; proxy: RawServer }> {
    const proxy = await rawServer((socket) => void socket.end(said))
    vi.stubEnv('HTTPS_PROXY', `http://user:p%40ss@127.0.0.1:${proxy.port}`)
    return { answering: nodeSend()(post('https://server.example/mcp')), proxy }
  }

  test('for want of credentials: its user can mend that, so it is told as an answer', async () => {
    const { answering, proxy } = await through(
      'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="p"\r\nContent-Length: 3\r\n\r\nwho',
    )
    const answer = await answering
    expect(answer).toMatchObject({ status: 407, headers: { 'proxy-authenticate': 'Basic realm="p"' } })
    expect(await latin1Of(answer)).toBe('')
    const credentials = Buffer.from('user:p@ss').toString('base64')
    expect(proxy.heard[0]).toBe(
      `CONNECT server.example:443 HTTP/1.1\r\nhost: server.example:443\r\nproxy-authorization: Basic ${credentials}\r\n\r\n`,
    )
  })

  test.each([
    ['502', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\nbroken'],
    ['nothing', ''],
    ['something else', 'SSH-2.0-x\r\n'],
    ['an answer in place of the server', 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nspoof'],
  ])('with %s: nothing has reached the server', async (_name, said) => {
    const { answering } = await through(said)
    expect(await failureOf(answering)).toMatchObject({ kind: 'unreachable', retryable: true })
  })
})
