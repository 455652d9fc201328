import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect, echo } from './_util/connecting.ts'
import { fixture, mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

interface Answer {
  readonly id?: number
  readonly method?: string
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number }
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const initialize = line({
  id: 0,
  method: 'initialize',
  params: { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})
const initialized = line({ method: 'notifications/initialized' })

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

function call(id: number, name: string, args: object, modern = false): string {
  return line({ id, method: 'tools/call', params: { name, arguments: args, ...(modern && { _meta: meta }) } })
}

const children: ChildProcessWithoutNullStreams[] = []

function start(server = fixture('served', String(1024 * 1024))): ChildProcessWithoutNullStreams {
  const { command, args = [] } = server
  const child = spawn(command, args)
  children.push(child)
  return child
}

/** Writes this to a fresh server, closes its stdin, and gives what it answered until it has left. */
async function run(
  input: string | Buffer,
  server?: ReturnType<typeof fixture>,
): Promise<{ answers: Answer[]; raw: string; code: number }> {
  const child = start(server)
  child.stdin.end(input)
  const [raw, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>])
  return {
    raw,
    code,
    answers: raw
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text) as Answer),
  }
}

afterEach(async () => {
  // Those of a test that failed; the others have left by themselves.
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await until(() => processesWith(mark).length === 0)
})

describe('our server on a real pipe', () => {
  test('A8: discovery, twice, does not pin the era: a handshake is served after it', async () => {
    const discover = (id: number): string => line({ id, method: 'server/discover', params: { _meta: meta } })
    const { answers } = await run(
      discover(1) +
        discover(2) +
        initialize +
        initialized +
        call(3, 'echo', { text: 'legacy' }) +
        call(4, 'echo', { text: 'modern' }, true),
    )
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 0, 3, 4])
    expect(answers[2]?.result).toMatchObject({ protocolVersion: legacyRevision })
    expect(answers[3]?.result).not.toHaveProperty('resultType')
    expect(answers[4]?.result).toMatchObject({ resultType: 'complete' })
  })

  test('MC-ERA-08: modern requests are served without a handshake or discovery, and a wrong version is -32022', async () => {
    const future = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
    const { answers } = await run(
      call(1, 'echo', { text: 'x' }, true) + line({ id: 2, method: 'tools/list', params: { _meta: future } }),
    )
    expect(answers[0]).toMatchObject({ id: 1, result: { resultType: 'complete', content: [{ text: 'x' }] } })
    expect(answers[1]).toMatchObject({ id: 2, error: { code: -32_022 } })
  })

  test('MS-MSG-02, MC-MSG-11: a modern client gets responses and notifications only', async () => {
    const noticed = { ...meta, progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' }
    const requests = ['server/discover', 'tools/list', 'tools/call', 'subscriptions/listen', 'nothing/such'].map(
      (method, id) =>
        line({
          id,
          method,
          params: { name: 'echo', arguments: {}, notifications: { toolsListChanged: true }, _meta: noticed },
        }),
    )
    const { answers } = await run(requests.join(''))
    expect(answers.filter((answer) => answer.id !== undefined && answer.method !== undefined)).toEqual([])
    expect(answers.flatMap(({ id }) => id ?? []).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
  })

  test('D11: calls that were accepted before the end of the input are answered, then the server leaves', async () => {
    const { answers, code } = await run(
      initialize + initialized + call(1, 'sleep', { ms: 300 }) + call(2, 'sleep', { ms: 300 }, true),
    )
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2])
    expect(answers[1]?.result).toMatchObject({ content: [{ type: 'text', text: 'slept' }] })
    expect(code).toBe(0)
  })

  test('D11: a call that never ends is refused before the process leaves, also when nothing else holds it', async () => {
    const { answers, code } = await run(call(1, 'stuck', {}, true), fixture('stuck'))
    expect(answers).toMatchObject([{ id: 1, error: { code: -32_603 } }])
    expect(code).toBe(0)
  })

  test('D16: a slow call holds nothing up, and a cancelled one is not answered', async () => {
    const child = start()
    const aborted = once(child.stderr, 'data')
    child.stdin.write(initialize + initialized + call(1, 'sleep', { ms: 60_000 }) + line({ id: 2, method: 'ping' }))
    let raw = ''
    child.stdout.on('data', (chunk: Buffer) => {
      raw += String(chunk)
    })
    await until(() => raw.includes('"id":2'))
    child.stdin.write(
      line({ id: 3, method: 'tools/list' }) + line({ method: 'notifications/cancelled', params: { requestId: 1 } }),
    )
    // The handler hears of it while the input is open, not because the server is leaving.
    expect(String(await aborted)).toBe('aborted\n')
    child.stdin.end()
    await once(child, 'exit')
    const ids = raw
      .split('\n')
      .filter(Boolean)
      .map((text) => (JSON.parse(text) as Answer).id)
    expect(ids).toEqual([0, 2, 3])
  })

  test('D5: a garbage line is answered with a parse error without id (A-11), and the next message is served', async () => {
    const { answers } = await run(`{"jsonrpc":"2.0","method":"x","params":\n${line({ id: 1, method: 'ping' })}`)
    expect(answers).toContainEqual({ jsonrpc: '2.0', error: expect.objectContaining({ code: -32_700 }) as unknown })
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(answers).toHaveLength(2)
  })

  test('D8: a line over the limit is answered with -32600 without id (A-34), and the next message is served', async () => {
    const { answers } = await run(call(1, 'echo', { text: 'x'.repeat(1024 * 1024) }) + line({ id: 2, method: 'ping' }))
    expect(answers).toContainEqual({ jsonrpc: '2.0', error: expect.objectContaining({ code: -32_600 }) as unknown })
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 2, result: {} })
    expect(answers).toHaveLength(2)
  })

  test('D2, D4: a byte order mark and characters of several bytes', async () => {
    const input = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(initialize + call(1, 'echo', { text: '読🎉' })),
    ])
    const { answers } = await run(input)
    expect(answers[0]?.result).toMatchObject({ protocolVersion: legacyRevision })
    expect(answers[1]?.result).toMatchObject({ content: [{ text: '読🎉' }] })
  })

  test('D19: what a tool slices inside a pair is written as well-formed Unicode', async () => {
    const { raw, answers } = await run(call(1, 'sliced', {}, true))
    expect(raw.isWellFormed()).toBe(true)
    expect(answers[0]?.result).toMatchObject({ content: [{ text: 'x\ufffd' }] })
  })

  test('D7: a client that uses Content-Length framing does not hang', async () => {
    const body = line({ id: 1, method: 'ping' }).trim()
    const child = start()
    child.stdin.write(`Content-Length: ${body.length}\r\n\r\n${body}`)
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>])
    expect(stderr).toContain('Content-Length framing')
    expect(code).toBe(0)
  })
})

describe('our client and our server', () => {
  test('speak the modern revision by themselves', async () => {
    await using connection = await connect('served').connecting
    expect(connection).toMatchObject({ observed: modernRevision, server: { info: { name: 'served' } } })
    expect(await echo(connection, { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
  })

  test('speak the legacy revision when told to', async () => {
    await using connection = await connect('served', [], { mode: 'legacy' }).connecting
    expect(connection.observed).toBe(legacyRevision)
    expect(await echo(connection, { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
  })
})
