import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createRevisionPolicy, type Dispatcher, isJsonObject, modernRevision, type Principal } from '@atenea/mcpcompat'
import { memberOf } from '@atenea/mcpcompat/transport'
import { type CreateHttpHandlerOptions, createHttpHandler } from '@atenea/transport-http'
import { listenHttp } from '@atenea/transport-http/node'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createServedCore } from '../src/served-core.ts'
import { modernMeta } from './_util/http-client.ts'
import { until } from './_util/processes.ts'

/*
 * The listener takes bodies and writes streams by a shorter way than a server that somebody else made. Both have to be the same to clients.
 */

/** Tells each text by the way, and answers at once or a turn later. */
function talking(): Dispatcher {
  const core = createServedCore()
  return {
    notify: (notice, context) => core.notify(notice, context),
    view: (principal) => core.view(principal),
    drain: async () => await core.drain(),
    call(call, context) {
      const given = memberOf(call.params, 'arguments')
      const { texts, later } = isJsonObject(given) ? given : {}
      for (const data of Array.isArray(texts) ? texts : []) {
        void context.emit({ method: 'notifications/message', params: { level: 'error', data } })
      }
      return later === true
        ? new Promise((resolve) => setImmediate(resolve)).then(() => core.call(call, context))
        : core.call(call, context)
    },
  }
}

interface Request {
  readonly texts: readonly string[]
  readonly later: boolean
  readonly chunked: boolean
  readonly type: string
  readonly damage: 'none' | 'json' | 'utf-8'
  /** Where the bytes of the request are cut. */
  readonly cuts: readonly number[]
}

const request: fc.Arbitrary<Request> = fc.record({
  texts: fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 3 }),
  later: fc.boolean(),
  chunked: fc.boolean(),
  type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain'),
  damage: fc.constantFrom('none', 'none', 'none', 'json', 'utf-8'),
  cuts: fc.array(fc.nat(2_000), { maxLength: 4 }),
})

function bodyOf({ texts, later, damage }: Request, id: number): Buffer {
  const meta = { ...modernMeta, 'io.modelcontextprotocol/logLevel': 'debug' }
  const params = { name: 'echo', arguments: { text: texts.join(), texts, later }, _meta: meta }
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }))
  if (damage === 'json') return body.subarray(0, -1)
  return damage === 'utf-8' ? Buffer.concat([body, Buffer.of(0xff)]) : body
}

function bytesOf(asked: Request, id: number): Buffer {
  const body = bodyOf(asked, id)
  const half = body.length >> 1
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    `Content-Type: ${asked.type}`,
    'Accept: application/json, text/event-stream',
    `MCP-Protocol-Version: ${modernRevision}`,
    'Mcp-Method: tools/call',
    'Mcp-Name: echo',
    asked.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ]
  const pieces = asked.chunked
    ? [body.subarray(0, half), body.subarray(half)].flatMap((piece) => [
        Buffer.from(`${piece.length.toString(16)}\r\n`),
        piece,
        Buffer.from('\r\n'),
      ])
    : [body]
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    ...pieces,
    Buffer.from(asked.chunked ? '0\r\n\r\n' : ''),
  ])
}

/** Ends the connection once all before it is answered. */
const farewell = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'

/** Sends all on one connection, cut as wanted, and gives what came until that closes. */
async function exchange(port: number, requests: readonly Request[]): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const came: Buffer[] = []
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => came.push(chunk))
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve())
    socket.on('error', reject)
  })
  for (const [index, asked] of requests.entries()) {
    const bytes = bytesOf(asked, index)
    let from = 0
    for (const cut of [...asked.cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length]) {
      if (cut === from) continue
      socket.write(bytes.subarray(from, cut))
      from = cut
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  socket.write(farewell)
  await closed
  return Buffer.concat(came)
}

interface Answer {
  readonly head: readonly string[]
  readonly text: string
}

/** The body that begins there in chunks, and where it ends. */
function dechunked(bytes: Buffer, start: number): readonly [body: Buffer, end: number] {
  const chunks: Buffer[] = []
  for (let at = start, size = -1; ; ) {
    const line = /^([\da-f]+)\r\n/.exec(bytes.toString('latin1', at, at + 20))
    if (line === null) throw new Error(`no chunk at ${at}`)
    size = Number.parseInt(line[1] as string, 16)
    at += line[0].length
    chunks.push(bytes.subarray(at, at + size))
    at += size
    if (bytes.toString('latin1', at, at + 2) !== '\r\n') throw new Error(`a chunk does not end at ${at}`)
    at += 2
    if (size === 0) return [Buffer.concat(chunks), at]
  }
}

/** Reads answers as strictly as the protocol has them. */
function answersIn(bytes: Buffer): Answer[] {
  const answers: Answer[] = []
  for (let at = 0; at < bytes.length; ) {
    const endOfHead = bytes.indexOf('\r\n\r\n', at)
    const head = bytes.toString('latin1', at, endOfHead).split('\r\n')
    at = endOfHead + 4
    const length = head.map((field) => /^content-length: (\d+)$/i.exec(field)?.[1]).find((value) => value !== undefined)
    let body: Buffer
    if (length === undefined) [body, at] = dechunked(bytes, at)
    else body = bytes.subarray(at, (at += Number(length)))
    // these are of the server and not of the handler
    answers.push({ head: head.filter((field) => !/^(date|keep-alive): /i.test(field)), text: body.toString('utf8') })
  }
  return answers
}

const options: CreateHttpHandlerOptions = { policy: createRevisionPolicy(), maxBodyBytes: 700 }

test('bodies and streams of a listener are those of a handler on a server of somebody else, however the bytes come', async () => {
  await using listener = await listenHttp(talking(), options)
  await using handler = createHttpHandler(talking(), options)
  const server = createServer((req, res) => handler.node(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    let streams = 0
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), async (requests) => {
        const [ours, theirs] = await Promise.all([exchange(listener.port, requests), exchange(port, requests)])
        const answers = answersIn(ours)
        expect(answers).toHaveLength(requests.length + 1)
        expect(answers).toEqual(answersIn(theirs))
        streams += answers.filter(({ head }) => head.includes('Transfer-Encoding: chunked')).length
      }),
      { numRuns: 150 },
    )
    expect(streams).toBeGreaterThan(20)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

const asked: Request = {
  texts: ['é'],
  later: false,
  chunked: false,
  type: 'application/json',
  damage: 'none',
  cuts: [],
}

test.each([
  ['known at once', (): Principal => ({ id: 'p', authenticated: true })],
  [
    'known later, when the body is there',
    async (): Promise<Principal> =>
      await new Promise((resolve) => setTimeout(resolve, 20, { id: 'p', authenticated: true })),
  ],
])('MH-SSE-10: who stays gets the answer to a slow call, who goes ends it, %s', async (_when, authenticate) => {
  const core = createServedCore()
  const reasons: unknown[] = []
  const slow: Dispatcher = {
    notify: (notice, context) => core.notify(notice, context),
    view: (principal) => core.view(principal),
    drain: async () => await core.drain(),
    call: async (call, context) => {
      context.signal.addEventListener('abort', () => reasons.push(context.signal.reason))
      await new Promise((resolve) => setTimeout(resolve, 60))
      return await core.call(call, context)
    },
  }
  await using listener = await listenHttp(slow, { ...options, authenticate })
  for (const chunked of [false, true]) {
    const [answer] = answersIn(await exchange(listener.port, [{ ...asked, chunked }]))
    expect(answer?.text).toMatch(/"é"/)
  }
  expect(reasons).toEqual([])
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  socket.on('error', () => undefined).write(bytesOf(asked, 1))
  await until(() => listener.handler.openCalls === 1)
  socket.destroy()
  await until(() => listener.handler.openCalls === 0)
  expect(reasons).toEqual([expect.objectContaining({ name: 'AbortError' })])
})

test('a client of HTTP/1.0, which knows no chunks, gets a stream that ends with its connection', async () => {
  await using listener = await listenHttp(talking(), options)
  const socket = connect({ port: listener.port, host: '127.0.0.1' })
  socket.write(bytesOf(asked, 1).toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'), 'latin1')
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += chunk as string
  const [head, body] = text.split('\r\n\r\n', 2) as [string, string]
  expect(head).not.toMatch(/transfer-encoding/i)
  expect(body).toMatch(/^data: \{[^\n]*"é"[^\n]*\}\n\ndata: \{[^\n]*"result":[^\n]*\}\n\n$/)
})
