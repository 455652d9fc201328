import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createHttpGenerator } from '../src/http/http-generator.ts'
import { createResponseReader, type HttpAnswer } from '../src/http/response-reader.ts'
import { revisionOf } from '../src/revision-of.ts'
import { createWire, echoExchange } from '../src/wire.ts'

const wire = createWire('modern', revisionOf('modern'))
const echo = echoExchange(wire, 100)
const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

interface Request {
  readonly id: number
  readonly params: { readonly arguments: { readonly text: string } }
}

/** A generator whose server answers as `respond` does. */
async function generatorFor(respond: (request: Request, res: ServerResponse) => void): Promise<typeof generator> {
  const server = createServer((req, res) => {
    let text = ''
    req.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    req.on('end', () => respond(JSON.parse(text) as Request, res))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const generator = createHttpGenerator({ port: (server.address() as AddressInfo).port, wire })
  cleanups.push(() => {
    generator.close()
    server.close()
  })
  return generator
}

function answerText({ id, params }: Request, text = params.arguments.text): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text }] } })
}

test('every call on every connection is answered and counted once', async () => {
  const ids = new Set<number>()
  const generator = await generatorFor((request, res) => {
    ids.add(request.id)
    res.end(answerText(request))
  })
  const { calls, latenciesMs } = await generator.pump(echo, { count: 2_100, connections: 7, deadlineMs: 20_000 })
  expect(calls).toBe(2_099)
  expect(ids.size).toBe(2_100)
  expect(latenciesMs.every((ms) => ms > 0)).toBe(true)
})

test('answers may come as events, in chunks of any size', async () => {
  const generator = await generatorFor((request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('event: message\nda')
    setImmediate(() => res.end(`ta: ${answerText(request)}\n\n`))
  })
  const { calls } = await generator.pump(echo, { count: 50, connections: 3, deadlineMs: 20_000 })
  expect(calls).toBe(49)
})

test.each<readonly [string, (request: Request, res: ServerResponse) => void, string]>([
  ['a wrong text', (request, res) => res.end(answerText(request, 'wrong')), 'wrong answer (text)'],
  ['the answer of another', (request, res) => res.end(answerText({ ...request, id: 7 })), 'wrong answer (tools/call)'],
  ['another status', (request, res) => res.writeHead(500).end(answerText(request)), 'status 500'],
  ['a closed connection', (_, res) => res.destroy(), 'closed a connection'],
])('%s ends a pump with an error, however late it comes', async (_, spoil, message) => {
  let calls = 0
  const generator = await generatorFor((request, res) => {
    if (++calls === 150) spoil(request, res)
    else res.end(answerText(request))
  })
  await expect(generator.pump(echo, { count: 300, connections: 4, deadlineMs: 20_000 })).rejects.toThrow(message)
})

test('a reader finds the same responses wherever the bytes are cut', () => {
  const bytes = Buffer.from(
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nMcp-Session-Id: abc\r\n\r\nfirst' +
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n' +
      'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n',
  )
  for (let size = 1; size <= bytes.length; size++) {
    const seen: string[] = []
    const reader = createResponseReader(({ status, head, body }: HttpAnswer) => {
      seen.push(`${status} ${head.sessionId ?? '-'} ${body.toString()}`)
    })
    for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size))
    expect(seen).toEqual(['200 abc first', '200 - second', '202 - '])
  }
})
