import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createRevisionPolicy,
  type Diagnostic,
  type JsonObject,
  legacyRevision,
  method,
  type Outcome,
  TransportError,
  toObject,
} from '@atenea/mcpcompat'
import { type ClientConnection, connectDuplex, createCallerContext } from '@atenea/mcpcompat/transport'
import { type DialHttpSseOptions, dialHttpSse } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type StartedServer, startHttpFixture } from './_util/http-servers.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const peer = { name: 'testkit', version: '1', capabilities: { elicitation: { form: {} } } }

async function connect(url: string, options: DialHttpSseOptions = {}): Promise<ClientConnection> {
  return await connectDuplex(async ({ signal }) => await dialHttpSse(url, { ...options, signal }), {
    mode: 'legacy',
    policy: createRevisionPolicy(),
    info: { name: 'testkit', version: '1' },
    capabilities: peer.capabilities,
    startsProcess: false,
  })
}

async function tool(connection: ClientConnection, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const outcome = await connection.call(
    { method: 'tools/call', params: { name, arguments: args } },
    createCallerContext({ peer }),
  )
  return resultOf(outcome)
}

function resultOf(outcome: Outcome): JsonObject {
  if (outcome.kind !== 'result') throw new Error(outcome.kind)
  return toObject(outcome.value)
}

const send = createNodeSend()
afterAll(() => send[Symbol.dispose]())

describe.each([
  ['node:http', { send }],
  ['fetch', {}],
])('the HTTP+SSE server of the official SDK, over %s', (_way, options) => {
  let server: StartedServer
  beforeAll(async () => {
    server = await startHttpFixture('sse-sdk-v1')
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  test('talks, many calls at once', async () => {
    await using connection = await connect(server.url, options)
    expect(connection).toMatchObject({ observed: legacyRevision, server: { info: { name: 'sdk-v1-sse' } } })
    const texts = ['x', '読🎉\u2028', 'a\r\nb', 'y'.repeat(200_000), ...Array.from({ length: 50 }, (_, n) => `${n}`)]
    const answers = await Promise.all(texts.map(async (text) => await tool(connection, 'echo', { text })))
    expect(answers.map(({ content }) => content)).toEqual(texts.map((text) => [{ type: 'text', text }]))
  })

  test('progress comes before the answer, and a cancel arrives', async () => {
    await using connection = await connect(server.url, options)
    const progress: unknown[] = []
    const counted = await connection.call(
      { method: 'tools/call', params: { name: 'counts', arguments: {} } },
      createCallerContext({
        peer,
        progressToken: 7,
        onNotice: (notice) => void progress.push(toObject(notice.params)),
      }),
    )
    expect(resultOf(counted)).toEqual({ content: [] })
    expect(progress).toEqual([{ progress: 1 }, { progress: 2 }, { progress: 3 }])

    const before = await tool(connection, 'cancelled')
    const stop = new AbortController()
    const call = { method: 'tools/call', params: { name: 'waits', arguments: {} } }
    const waiting = Promise.resolve(connection.call(call, createCallerContext({ peer, signal: stop.signal })))
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await vi.waitFor(async () => expect(await tool(connection, 'cancelled')).not.toEqual(before))
  })

  test('a question of the server becomes an ask', async () => {
    await using connection = await connect(server.url, options)
    const call = { method: 'tools/call', params: { name: 'asks', arguments: {} } }
    const asked = await connection.call(call, createCallerContext({ peer }))
    if (asked.kind !== 'ask' || asked.requestState === undefined) throw new Error(asked.kind)
    const [key = ''] = asked.inputRequests?.keys() ?? []
    const resume = { requestState: asked.requestState, inputResponses: { [key]: { action: 'decline' } } }
    const answered = await connection.call(call, createCallerContext({ peer, resume }))
    expect(resultOf(answered)).toMatchObject({ content: [{ text: 'decline' }] })
  })

  test('list changes reach who listens', async () => {
    await using connection = await connect(server.url, options)
    const heard: string[] = []
    const stop = new AbortController()
    const context = createCallerContext({
      peer,
      signal: stop.signal,
      onNotice: (notice) => void heard.push(notice.method),
    })
    const listening = connection.call(
      { method: method.listen, params: { notifications: { toolsListChanged: true } } },
      context,
    )
    await vi.waitFor(() => expect(heard).toHaveLength(1))
    await tool(connection, 'grows')
    await vi.waitFor(() => expect(heard).toContain('notifications/tools/list_changed'))
    stop.abort(new Error('done'))
    await expect(listening).rejects.toThrow('done')
  })

  test('C4: a server that has forgotten the session ends the connection, and the next one works', async () => {
    await using connection = await connect(server.url, options)
    await tool(connection, 'forgets')
    await expect(tool(connection, 'echo', { text: 'x' })).rejects.toMatchObject({ kind: 'closed', retryable: true })
    expect(await connection.ended).toBeInstanceOf(TransportError)
    await using next = await connect(server.url, options)
    expect(await tool(next, 'echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
  })

  test('every open call fails at once when the server dies', async () => {
    const dying = await startHttpFixture('sse-sdk-v1')
    await using connection = await connect(dying.url, options)
    const waiting = tool(connection, 'waits').catch((error: unknown) => error)
    await tool(connection, 'echo', { text: 'x' })
    await dying[Symbol.asyncDispose]()
    expect(await waiting).toMatchObject({ kind: 'unknown-outcome' })
    await expect(connect(dying.url, options)).rejects.toMatchObject({ kind: 'unreachable' })
  })
})

describe('a server that is none, or none to be trusted', () => {
  async function serving(
    listener: RequestListener,
  ): Promise<AsyncDisposable & { readonly url: string; readonly server: Server }> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      server,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      },
    }
  }

  const stream =
    (text: string): RequestListener =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      response.write(text)
    }

  test.each([
    ['another origin', 'event: endpoint\ndata: http://127.0.0.1:1/messages\n\n'],
    ['another host name of the same machine', 'event: endpoint\ndata: //localhost/messages\n\n'],
    ['a scheme that is none of HTTP', 'event: endpoint\ndata: file:///etc/passwd\n\n'],
    ['no URL', 'event: endpoint\ndata: http://[\n\n'],
  ])('messages are never posted to %s', async (_what, text) => {
    await using server = await serving(stream(text))
    await expect(dialHttpSse(server.url, { send })).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('another origin'),
    })
  })

  test('credentials in the address for messages are refused', async () => {
    await using server = await serving((request, response) => {
      const host = request.headers.host ?? ''
      stream(`event: endpoint\ndata: http://user:secret@${host}/messages\n\n`)(request, response)
    })
    await expect(dialHttpSse(server.url, { send })).rejects.toMatchObject({ kind: 'protocol' })
  })

  test('the first address for messages stays', async () => {
    const posted: (string | undefined)[] = []
    await using server = await serving((request, response) => {
      if (request.method === 'GET') {
        stream(
          'event: endpoint\ndata: one?a=1\n\nevent: endpoint\ndata: two\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"m"}\n\n',
        )(request, response)
        return
      }
      posted.push(request.url)
      response.writeHead(202).end()
    })
    const diagnostics: Diagnostic[] = []
    await using connection = await dialHttpSse(server.url, {
      send,
      onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
    })
    const inbound = connection.inbound[Symbol.asyncIterator]()
    expect((await inbound.next()).value).toMatchObject([{ message: { kind: 'notification', method: 'm' } }])
    await connection.send({ kind: 'notification', method: 'x', params: {} })
    expect(posted).toEqual(['/one?a=1'])
    expect(diagnostics.map(({ code }) => code)).toEqual(['second-endpoint'])
  })

  test.each([
    [401, 'auth', 'Bearer'],
    [404, 'protocol', 'Streamable HTTP'],
    [405, 'protocol', 'Streamable HTTP'],
    [503, 'unreachable', 'try again later'],
    [200, 'protocol', 'Streamable HTTP'],
  ])('C16: a GET that is answered with %i is an error of kind %s', async (status, kind, words) => {
    await using server = await serving((_request, response) =>
      response.writeHead(status, { 'www-authenticate': 'Bearer', 'content-type': 'text/html' }).end('<p>no</p>'),
    )
    await expect(dialHttpSse(server.url, { send })).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(new RegExp(words, 'i')),
    })
  })

  test('a stream that names no address is given up, and let go', async () => {
    await using server = await serving(stream(': hello\n\n'))
    const closed = once(server.server, 'connection').then(async ([socket]) => await once(socket as never, 'close'))
    await expect(dialHttpSse(server.url, { send, openTimeoutMs: 100 })).rejects.toMatchObject({ kind: 'timeout' })
    await closed
  })

  test('one that ends before is an error', async () => {
    await using server = await serving((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': bye\n\n'),
    )
    await expect(dialHttpSse(server.url, { send })).rejects.toMatchObject({ kind: 'closed' })
  })

  test('who dials can give up', async () => {
    await using server = await serving(() => undefined)
    const stop = new AbortController()
    const dialling = dialHttpSse(server.url, { send, signal: stop.signal })
    stop.abort(new Error('changed my mind'))
    await expect(dialling).rejects.toThrow('changed my mind')
  })

  test('headers and credentials go with the stream and with every message, and are fresh each time', async () => {
    const seen: unknown[] = []
    await using server = await serving((request, response) => {
      seen.push([request.method, request.headers['x-api-key'], request.headers.authorization])
      if (request.method === 'GET') stream('event: endpoint\ndata: /m\n\n')(request, response)
      else response.writeHead(202).end()
    })
    let tokens = 0
    await using connection = await dialHttpSse(server.url, {
      send,
      headers: { 'X-Api-Key': 'k' },
      authorization: () => `Bearer ${++tokens}`,
    })
    await connection.send({ kind: 'notification', method: 'x', params: {} })
    expect(seen).toEqual([
      ['GET', 'k', 'Bearer 1'],
      ['POST', 'k', 'Bearer 2'],
    ])
  })

  test('a notification is posted after what was sent before it, requests go out together', async () => {
    const order: string[] = []
    const held: (() => void)[] = []
    await using server = await serving((request, response) => {
      if (request.method === 'GET') {
        stream('event: endpoint\ndata: /m\n\n')(request, response)
        return
      }
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.on('end', () => {
        const { method: name } = JSON.parse(body) as { readonly method: string }
        order.push(name)
        if (name.startsWith('slow')) held.push(() => response.writeHead(202).end())
        else response.writeHead(202).end()
      })
    })
    await using connection = await dialHttpSse(server.url, { send })
    const params = {}
    const sent = [
      connection.send({ kind: 'request', id: 1, method: 'slow-1', params }),
      connection.send({ kind: 'request', id: 2, method: 'slow-2', params }),
      connection.send({ kind: 'notification', method: 'cancel', params }),
      connection.send({ kind: 'request', id: 3, method: 'after', params }),
    ]
    await vi.waitFor(() => expect(held).toHaveLength(2))
    expect(new Set(order)).toEqual(new Set(['slow-1', 'slow-2']))
    for (const release of held) release()
    await Promise.all(sent.map(async (taken) => await taken))
    expect(order.slice(2)).toEqual(['cancel', 'after'])
  })

  test('an answer to a POST with an error status that holds the error of the request counts as its answer', async () => {
    await using server = await serving((request, response) => {
      if (request.method === 'GET') stream('event: endpoint\ndata: /m\n\n')(request, response)
      else {
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no"}}')
      }
    })
    await using connection = await dialHttpSse(server.url, { send })
    const inbound = connection.inbound[Symbol.asyncIterator]()
    await connection.send({ kind: 'request', id: 7, method: 'x', params: {} })
    expect((await inbound.next()).value).toMatchObject([
      { message: { kind: 'error', id: 7, error: { code: -32_600 } } },
    ])
    await expect(connection.send({ kind: 'request', id: 8, method: 'x', params: {} })).rejects.toMatchObject({
      status: 400,
    })
  })
})
