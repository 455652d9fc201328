import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ProxyProcess, servingHttp } from './_util/proxy-process.ts'
import { startHttpServer, stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 30_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-status-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [command, ...args] = stdioServer('sdk-v1')

/** While this file is there the server does not start. */
const obstacle = join(folder, 'obstacle')
const obstructed = ['sh', '-c', `test ! -e ${obstacle} && exec "$@"`, 'sh', command, ...args] as const

interface Readiness {
  readonly ready: boolean
  readonly servers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

async function readyz(url: string, headers: Record<string, string> = {}): Promise<[number, Readiness]> {
  const answer = await fetch(new URL('/readyz', url), { headers })
  expect(answer.headers.get('content-type')).toBe('application/json')
  return [answer.status, (await answer.json()) as Readiness]
}

/** Runs a command of the binary to its end. */
async function run(...words: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  await using proxy = new ProxyProcess(words)
  const { code } = await proxy.ended
  return { code, stdout: proxy.stdout, stderr: proxy.stderr }
}

async function toolOverHttp(url: string, name: string, args: object = {}): Promise<unknown> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  try {
    return await client.callTool({ name, arguments: { ...args } })
  } finally {
    await client.close()
  }
}

describe('/readyz', () => {
  test('D14: tells of a server that has died, and that it is back', async () => {
    const { proxy, url } = await servingHttp('--', ...obstructed)
    await using _proxy = proxy
    await toolOverHttp(url, 'echo', { text: 'x' })
    const [status, up] = await readyz(url)
    expect([status, up.ready]).toEqual([200, true])
    expect(up.servers?.['sh']).toMatchObject({
      state: 'ready',
      requested: legacyRevision,
      observed: legacyRevision,
      name: 'fixture-v1',
      connections: 1,
      restarts: 0,
    })
    writeFileSync(obstacle, '')
    await expect(toolOverHttp(url, 'crash')).rejects.toThrow(/gone|lost/)
    const [code, down] = await readyz(url)
    expect([code, down.ready]).toEqual([503, false])
    expect(down.servers?.['sh']).toMatchObject({
      state: expect.stringMatching(/^(?:waiting|connecting)$/),
      lastError: { message: expect.stringMatching(/exited with code [17]/) },
    })
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
    rmSync(obstacle)
    await vi.waitFor(async () => expect((await readyz(url))[0]).toBe(200), { timeout: 10_000, interval: 100 })
    expect(await toolOverHttp(url, 'echo', { text: 'again' })).toMatchObject({ content: [{ text: 'again' }] })
    expect((await readyz(url))[1].servers?.['sh']).toMatchObject({ state: 'ready', restarts: 1 })
  })

  test('tells by itself that a server on HTTP is back, though nobody calls any more', async () => {
    const server = await startHttpServer('sdk-v2')
    const port = new URL(server.url).port
    const { proxy, url } = await servingHttp(server.url)
    await using _proxy = proxy
    await toolOverHttp(url, 'echo', { text: 'x' })
    await server[Symbol.asyncDispose]()
    await expect(toolOverHttp(url, 'echo', { text: 'x' })).rejects.toThrow('cannot be reached')
    expect((await readyz(url))[0]).toBe(503)
    await using _again = await startHttpServer('sdk-v2', port)
    await vi.waitFor(async () => expect((await readyz(url))[0]).toBe(200), { timeout: 10_000, interval: 100 })
  })

  test('one dead server among others makes it not ready, and the others stay as they are', async () => {
    const file = join(folder, 'two.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { good: { command, args }, broken: { command: '/no/such' } } }))
    const { proxy, url } = await servingHttp('--config', file)
    await using _proxy = proxy
    await toolOverHttp(url, 'good__echo', { text: 'x' })
    await vi.waitFor(async () => {
      const [status, { servers }] = await readyz(url)
      expect(status).toBe(503)
      expect(servers).toMatchObject({ good: { state: 'ready' }, broken: { state: 'waiting' } })
    })
  })

  test.each([
    ['a flag', ['--unheard-session-ms', '1000', '--', command, ...args]],
    ['the configuration', ['--config', join(folder, 'unheard.json')]],
  ])(
    'a client that is silent and listens to nothing leaves its server after as long as %s says',
    async (_by, words) => {
      const limits = { unheardSessionMs: 1_000 }
      writeFileSync(
        join(folder, 'unheard.json'),
        JSON.stringify({ mcpServers: { files: { command, args } }, atenea: { limits } }),
      )
      const { proxy, url } = await servingHttp(...words)
      await using _proxy = proxy
      const session: Record<string, string> = {}
      const post = async (message: object): Promise<string> => {
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...session,
        }
        const answer = await fetch(url, {
          method: 'POST',
          headers,
          body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        })
        session['mcp-session-id'] ??= answer.headers.get('mcp-session-id') ?? ''
        return await answer.text()
      }
      const hello = { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
      await post({ id: 1, method: 'initialize', params: hello })
      await post({ method: 'notifications/initialized' })
      const pid = async (): Promise<string | undefined> =>
        /"text":"(\d+)"/.exec(await post({ id: 2, method: 'tools/call', params: { name: 'pid', arguments: {} } }))?.[1]
      const first = await pid()
      expect(first).toBeDefined()
      const connections = async (): Promise<unknown> =>
        Object.values((await readyz(url))[1].servers ?? {})[0]?.['connections']
      expect(await connections()).toBe(1)
      await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 15_000, interval: 100 })
      const second = await pid()
      expect(second).toBeDefined()
      expect(second).not.toBe(first)
    },
  )

  test('whoever may not use the proxy learns whether it is ready, and nothing more', async () => {
    const tokens = join(folder, 'tokens.txt')
    writeFileSync(tokens, 'anna secret-of-anna-1234\n')
    const { proxy, url } = await servingHttp('--bearer-token-file', tokens, '--', command, ...args)
    await using _proxy = proxy
    expect((await readyz(url))[1]).toEqual({ ready: true })
    expect((await readyz(url, { authorization: 'Bearer wrong-wrong-wrong' }))[1]).toEqual({ ready: true })
    expect((await readyz(url, { authorization: 'Bearer secret-of-anna-1234' }))[1]).toHaveProperty('servers')
    expect((await readyz(url, { origin: 'https://evil.example' }))[1]).toEqual({ ready: true })
    expect(proxy.stderr).not.toContain('secret-of-anna')
  })
})

describe('status', () => {
  test('tells by the socket how each server is, also while one is down, and by exit code whether all are well', async () => {
    const socket = join(folder, 'front.sock')
    await using proxy = new ProxyProcess(['--socket', socket, '--', ...obstructed])
    await proxy.says('listening')
    const idle = await run('status', socket)
    expect(idle).toMatchObject({ code: 0, stderr: '' })
    expect(idle.stdout).toMatch(/^atenea-proxy \S+ at \S+: ready\n {2}sh {2}idle: 0 connections; 0 open calls\n$/)

    await using client = new ProxyProcess(['connect', socket])
    expect(await client.tool(1, 'echo', { text: 'x' })).toBe('x')
    const up = await run('status', socket)
    expect(up.stdout).toContain(`ready: fixture-v1 1.0.0; speaks ${legacyRevision}; 1 connection; 0 open calls`)

    writeFileSync(obstacle, '')
    expect((await client.ask(2, 'tools/call', { name: 'crash', arguments: {} })).error?.code).toBe(-32_603)
    const down = await run('status', socket)
    expect(down.code).toBe(1)
    expect(down.stdout).toContain(': not ready\n')
    expect(down.stdout).toMatch(/ {2}sh {2}(?:waiting|connecting): .*last error at \S+Z: .*exited with code [17]/)
    const json = await run('status', socket, '--log-format', 'json')
    expect(JSON.parse(json.stdout)).toMatchObject({ ready: false, servers: { sh: { restarts: 0 } } })
    rmSync(obstacle)
  })

  test('and by the URL', async () => {
    const { proxy, url } = await servingHttp('--', ...stdioServer('sdk-v2'))
    await using _proxy = proxy
    await toolOverHttp(url, 'echo', { text: 'x' })
    const { code, stdout } = await run('status', url)
    expect(code).toBe(0)
    expect(stdout).toContain(`ready: fixture-v2 1.0.0; speaks ${modernRevision}`)
  })

  test('a socket of something else is told so', async () => {
    const { createServer } = await import('node:net')
    const socket = join(folder, 'other.sock')
    const server = createServer((connection) => {
      connection.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}\n')
    }).listen(socket)
    const { code, stderr } = await run('status', socket)
    server.close()
    expect(code).toBe(4)
    expect(stderr).toContain(`there is no atenea-proxy at ${socket}`)
  })
})
