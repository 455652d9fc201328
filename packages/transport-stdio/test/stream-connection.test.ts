import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { TransportError } from '@atenea/mcpcompat'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStdio } from '../src/serve.ts'
import { drain, request } from './_util/connections.ts'

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

function setUp(options: Parameters<typeof openStdio>[0] = {}): {
  stdin: PassThrough
  stdout: PassThrough
  connection: ReturnType<typeof openStdio>
} {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  return { stdin, stdout, connection: openStdio({ stdin, stdout, ...options }) }
}

/** A stream that takes what it is given only when told to, and notes every write. */
function slowStream(): { stream: Writable; writes: string[]; take: () => void } {
  const writes: string[] = []
  let waiting: (() => void) | undefined
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, callback) {
      writes.push(chunk)
      waiting = callback
    },
  })
  return {
    stream,
    writes,
    take() {
      const callback = waiting
      waiting = undefined
      callback?.()
    },
  }
}

describe('reading', () => {
  test('messages of one chunk come as one batch, with principal and empty hints', async () => {
    const { stdin, connection } = setUp()
    const iterator = connection.inbound[Symbol.asyncIterator]()
    stdin.write(`${ping}\n${ping}\n`)
    const { value } = await iterator.next()
    expect(value).toEqual([
      {
        message: { kind: 'request', id: 1, method: 'ping', params: undefined },
        hints: {},
        principal: { id: 'local', authenticated: true },
      },
      {
        message: { kind: 'request', id: 1, method: 'ping', params: undefined },
        hints: {},
        principal: { id: 'local', authenticated: true },
      },
    ])
    await iterator.return?.()
  })

  test('D5: a garbage line is a reject, and the next message comes', async () => {
    const { stdin, connection } = setUp()
    stdin.end(`{"jsonrpc":"2.0","method":"x","params":\n${ping}\n`)
    const { messages, error } = await drain(connection)
    expect(messages).toMatchObject([
      { kind: 'reject', code: -32_700 },
      { kind: 'request', id: 1 },
    ])
    expect(error).toBeUndefined()
  })

  test('D8: a line over the limit is a reject without id (A-34), and the next message comes', async () => {
    const { stdin, connection } = setUp({ maxLineBytes: 100 })
    stdin.end(`{"jsonrpc":"2.0","id":7,"method":"${'x'.repeat(100)}"}\n${ping}\n`)
    const { messages } = await drain(connection)
    expect(messages).toMatchObject([
      { kind: 'reject', code: -32_600, id: undefined },
      { kind: 'request', id: 1 },
    ])
  })

  test('D19, MC-MSG-02: a line that is not UTF-8 is a parse error, never a message with U+FFFD', async () => {
    const { stdin, connection } = setUp()
    stdin.end(
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('"}\n'),
      ]),
    )
    expect((await drain(connection)).messages).toMatchObject([{ kind: 'reject', code: -32_700, id: undefined }])
  })

  test('D19: of an answer that is not UTF-8 it is told whose it was', async () => {
    const { stdin, connection } = setUp()
    stdin.end(Buffer.concat([Buffer.from('{"result":{"x":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"},"id":1}\n')]))
    expect((await drain(connection)).messages).toMatchObject([
      { kind: 'reject', code: -32_700, reason: 'not UTF-8', id: 1, like: 'response' },
    ])
  })

  test.each([
    ['begins with its id', (text: string) => `{"jsonrpc":"2.0","id":7,"result":{"x":"${text}"}}`, [7]],
    ['ends with its id', (text: string) => `{"result":{"x":"${text}"},"jsonrpc":"2.0","id":7}`, [undefined, 7]],
    ['is a request', (text: string) => `{"jsonrpc":"2.0","id":7,"method":"${text}"}`, [undefined]],
  ] as const)('D8: of an answer over the limit that %s it is told whose it was, at any cut', async (_, line, ids) => {
    const whole = Buffer.from(`${line('x'.repeat(3_000))}\n${ping}\n`)
    for (const size of [1, 7, 500, 4_000]) {
      const { stdin, connection } = setUp({ maxLineBytes: 1_000 })
      for (let start = 0; start < whole.length; start += size) stdin.write(whole.subarray(start, start + size))
      stdin.end()
      const { messages } = await drain(connection)
      const isWhole = size > whole.length - ping.length
      const expected = isWhole ? [ids.at(-1)] : ids
      expect(messages.slice(0, -1).map((message) => message.kind === 'reject' && message.id)).toEqual(expected)
      expect(messages.at(-1)).toMatchObject({ kind: 'request', id: 1 })
    }
  })

  test('D7: Content-Length framing breaks the connection at once, with a diagnosis', async () => {
    const { stdin, connection } = setUp()
    stdin.write(`Content-Length: ${ping.length}\r\n\r\n${ping}`)
    const { messages, error } = await drain(connection)
    expect(messages).toEqual([])
    expect(error).toMatchObject({ kind: 'protocol', message: expect.stringContaining('Content-Length framing') })
  })

  test('D7: the same words from a peer that has spoken the protocol are only a bad line', async () => {
    const { stdin, connection } = setUp()
    stdin.end(`${ping}\nContent-Length: 12\n${ping}\n`)
    const { messages, error } = await drain(connection)
    expect(messages.map((message) => message.kind)).toEqual(['request', 'reject', 'request'])
    expect(error).toBeUndefined()
  })

  test('A-34: an unfinished last line is reported and discarded', async () => {
    const reported: string[] = []
    const { stdin, connection } = setUp({ onDiagnostic: ({ code }) => reported.push(code) })
    stdin.end(`${ping}\n{"jsonrpc":`)
    expect((await drain(connection)).messages).toHaveLength(1)
    expect(reported).toEqual(['partial-line'])
  })

  test('payloads come as text when asked for', async () => {
    const { stdin, connection } = setUp({ payload: 'text' })
    stdin.end('{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":9007199254740993}}\n')
    const { messages } = await drain(connection)
    expect(messages).toMatchObject([{ params: { text: '{"n":9007199254740993}' } }])
  })

  test('reading pauses while nobody takes what came, and goes on after', async () => {
    const { stdin, connection } = setUp()
    const line = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"${'x'.repeat(60_000)}"}}\n`
    let sent = 0
    while (sent < 400 && (stdin.write(line) || (await Promise.race([once(stdin, 'drain'), tick(50)])) !== undefined))
      sent += 1
    expect(sent).toBeLessThan(200) // 12 MB at most: held, in flight, and in the stream
    stdin.end()
    expect((await drain(connection)).messages.length).toBe(sent + 1)
  })

  test('there is one consumer', async () => {
    const { connection } = setUp()
    const iterator = connection.inbound[Symbol.asyncIterator]()
    expect(() => connection.inbound[Symbol.asyncIterator]()).toThrow(TypeError)
    await iterator.return?.()
  })
})

describe('writing', () => {
  test('answers to the messages of one chunk leave in one write', async () => {
    const { stream, writes } = slowStream()
    const stdin = new PassThrough()
    const connection = openStdio({ stdin, stdout: stream, flushTimeoutMs: 0 })
    stdin.write(`${ping}\n`.repeat(64))
    const batch = await connection.inbound[Symbol.asyncIterator]().next()
    if (batch.done === true) throw new Error('no batch came')
    for (const id of batch.value.keys()) void connection.send({ kind: 'result', id, result: {} })
    await new Promise(setImmediate)
    expect(writes).toHaveLength(1)
    expect(writes[0]?.split('\n')).toHaveLength(65)
    await connection[Symbol.asyncDispose]()
  })

  test('D1, MS-FRM-01: every message is one line that ends in a bare LF', async () => {
    const { stdin, stdout, connection } = setUp()
    void connection.send({ kind: 'result', id: 1, result: { text: 'a\r\nb\u2028' } })
    void connection.send({ kind: 'notification', method: 'n', params: undefined })
    await connection[Symbol.asyncDispose]()
    stdin.end()
    const written = String(stdout.read())
    expect(
      written
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { jsonrpc: '2.0', id: 1, result: { text: 'a\r\nb\u2028' } },
      { jsonrpc: '2.0', method: 'n' },
    ])
    expect(written).not.toContain('\r')
    expect(written.endsWith('}\n')).toBe(true)
  })

  test('D19, MC-MSG-02: what we write is UTF-8 of well-formed Unicode', async () => {
    const { stdout, connection } = setUp()
    void connection.send({ kind: 'result', id: 1, result: { text: 'x\ud83d' } })
    await connection[Symbol.asyncDispose]()
    const written = stdout.read() as Buffer
    expect(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(written))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { text: 'x\ufffd' },
    })
  })

  test('a sender is told to wait when the peer does not read, and let go when it does', async () => {
    const { stream, take } = slowStream()
    const connection = openStdio({ stdin: new PassThrough(), stdout: stream, flushTimeoutMs: 0 })
    expect(connection.send({ kind: 'result', id: 1, result: {} })).toBeUndefined()
    let waited = false
    const big = connection.send({ kind: 'result', id: 2, result: { text: 'x'.repeat(300_000) } })
    expect(big).toBeInstanceOf(Promise)
    const settled = Promise.resolve(big).then(() => {
      waited = true
    })
    await tick(20)
    expect(waited).toBe(false)
    for (let turn = 0; turn < 3; turn += 1) {
      take()
      await tick(5)
    }
    await settled
    expect(connection.send({ kind: 'result', id: 3, result: {} })).toBeUndefined()
    await connection[Symbol.asyncDispose]()
  })

  test('a peer that stopped reading does not hold up a close', async () => {
    const { stream } = slowStream()
    const connection = openStdio({ stdin: new PassThrough(), stdout: stream, flushTimeoutMs: 20 })
    void connection.send(request(1))
    await connection[Symbol.asyncDispose]()
    await expect(connection.send(request(2))).rejects.toMatchObject({ kind: 'closed' })
  })

  test('D10: whoever waits for a peer that does not read is let go when the connection closes', async () => {
    const { stream } = slowStream()
    const connection = openStdio({ stdin: new PassThrough(), stdout: stream, flushTimeoutMs: 20 })
    const waiting = connection.send({ kind: 'result', id: 1, result: { text: 'x'.repeat(300_000) } })
    expect(waiting).toBeInstanceOf(Promise)
    await connection[Symbol.asyncDispose]()
    await waiting
  })

  describe('more than may wait', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
    afterEach(() => void vi.useRealTimers())

    const big = { kind: 'result', id: 1, result: { text: 'x'.repeat(300_000) } } as const
    const many = (connection: ReturnType<typeof openStdio>): readonly (void | Promise<void>)[] =>
      [1, 2, 3, 4].map(() => connection.send(big))

    test('D10: a peer that takes none of it is given up after a while, whoever waits for it is let go', async () => {
      const { stream } = slowStream()
      const connection = openStdio({ stdin: new PassThrough(), stdout: stream, maxUnreadBytes: 1_000_000 })
      const read = drain(connection)
      const waiting = many(connection)
      await vi.advanceTimersByTimeAsync(59_000)
      expect(stream.writableLength).toBeGreaterThan(1_000_000)
      await vi.advanceTimersByTimeAsync(2_000)
      expect((await read).error).toMatchObject({ kind: 'closed', message: expect.stringContaining('does not read') })
      await Promise.all(waiting.map((sent) => Promise.resolve(sent)))
      await expect(connection.send(big)).rejects.toMatchObject({ kind: 'closed' })
      await connection[Symbol.asyncDispose]()
    })

    test('one that takes some of it has as long again, and one that takes all of it has no limit', async () => {
      const { stream, take } = slowStream()
      const connection = openStdio({ stdin: new PassThrough(), stdout: stream, maxUnreadBytes: 400_000 })
      for (let round = 0; round < 3; round++) {
        void many(connection)
        for (let left = 4; left > 0; left--) {
          await vi.advanceTimersByTimeAsync(59_000)
          take()
        }
        expect(stream.writableLength).toBe(0)
      }
      await vi.advanceTimersByTimeAsync(600_000)
      expect(connection.send({ kind: 'result', id: 2, result: {} })).toBeUndefined()
    })

    test('less than that may wait for any time', async () => {
      const { stream } = slowStream()
      const connection = openStdio({ stdin: new PassThrough(), stdout: stream, maxUnreadBytes: 2_000_000 })
      void many(connection)
      await vi.advanceTimersByTimeAsync(600_000)
      expect(connection.send(big)).toBeInstanceOf(Promise)
    })
  })

  test.each([
    { when: 'before', early: true },
    { when: 'after', early: false },
  ])(
    'D10: a peer that ends its side $when it stops reading holds up a sender for a bounded time',
    async ({ early }) => {
      const { stream } = slowStream()
      const stdin = new PassThrough()
      const connection = openStdio({ stdin, stdout: stream, flushTimeoutMs: 20 })
      const send = (): void | Promise<void> =>
        connection.send({ kind: 'result', id: 1, result: { text: 'x'.repeat(300_000) } })
      const earlier = early ? undefined : send()
      stdin.end()
      await drain(connection)
      await (earlier ?? send())
      await expect(connection.send(request(2))).rejects.toMatchObject({ kind: 'closed' })
      await connection[Symbol.asyncDispose]()
    },
  )
})

describe('the end', () => {
  test('MS-LIFE-02: the end of the input ends the iteration in order; answers can still be sent', async () => {
    const { stdin, stdout, connection } = setUp()
    stdin.end(`${ping}\n`)
    expect((await drain(connection)).error).toBeUndefined()
    await connection.send({ kind: 'result', id: 1, result: {} })
    await connection[Symbol.asyncDispose]()
    expect(String(stdout.read())).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
  })

  test('a listener of diagnostics that fails does not keep the iteration from ending', async () => {
    const { stdin, stdout, connection } = setUp({
      onDiagnostic: () => {
        throw new Error('a bad listener')
      },
    })
    stdin.write('{"unfinished')
    await tick(5)
    stdout.destroy(new Error('write EPIPE'))
    expect((await drain(connection)).error).toBeUndefined()
  })

  test('a closed peer (EPIPE) ends the iteration in order, is reported, and refuses what is sent', async () => {
    const reported: string[] = []
    const { stdout, connection } = setUp({ onDiagnostic: ({ code }) => reported.push(code) })
    stdout.destroy(new Error('write EPIPE'))
    const { error } = await drain(connection)
    expect(error).toBeUndefined()
    expect(reported).toEqual(['peer-gone'])
    await expect(connection.send(request(1))).rejects.toSatisfy(
      (reason) => TransportError.is(reason) && reason.kind === 'closed',
    )
    await connection[Symbol.asyncDispose]()
  })

  test('break closes the connection, after what was sent has left', async () => {
    const { stdin, stdout, connection } = setUp()
    stdin.write(`${ping}\n`)
    for await (const _batch of connection.inbound) {
      void connection.send({ kind: 'result', id: 1, result: {} })
      break
    }
    expect(String(stdout.read())).toContain('"id":1')
    await expect(connection.send(request(2))).rejects.toMatchObject({ kind: 'closed' })
  })

  test('dispose ends a waiting consumer and may be called again', async () => {
    const { connection } = setUp()
    const drained = drain(connection)
    await connection[Symbol.asyncDispose]()
    await connection[Symbol.asyncDispose]()
    expect(await drained).toEqual({ messages: [], error: undefined })
  })
})

function tick(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms)
  })
}
