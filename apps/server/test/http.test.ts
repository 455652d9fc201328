import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, describe, expect, test } from 'vitest'
import { modernMeta, ServerProcess } from './_util/server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-http-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the server and gives the URLs that it says it listens on. */
async function serving(count: number, ...args: string[]): Promise<{ server: ServerProcess; urls: readonly string[] }> {
  const server = new ServerProcess(args)
  const urls = await server.until('it listens', () => {
    const found = [...server.stderr.matchAll(/listening url=(\S+)/g)].map(([, url]) => url ?? '')
    return found.length === count ? found : undefined
  })
  return { server, urls }
}

async function post(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': modernRevision,
      'mcp-method': 'tools/list',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: modernMeta } }),
  })
}

describe('atenea-server --http', () => {
  test('MH-EP-04: listens on this machine alone, beside a socket and more than once', async () => {
    const socket = join(folder, 'beside')
    const { server, urls } = await serving(2, '--http', '0', '--http', '127.0.0.1:0', '--socket', socket)
    await using _server = server
    for (const url of urls) {
      expect(new URL(url)).toMatchObject({ hostname: '127.0.0.1', pathname: '/mcp' })
      const answer = await post(url)
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { result: { tools: expect.any(Array) as object } },
      ])
    }
    expect((await fetch(new URL('/healthz', urls[0]))).status).toBe(200)
    await using status = new ServerProcess(['status', urls[0] ?? ''])
    expect(await status.ended).toEqual({ code: 0, signal: null })
    expect(status.stdout).toContain(`answers at ${urls[0] ?? ''}`)
  })

  test('SIGTERM: an open subscription gets its result, and the server ends with 0', async () => {
    const { server, urls } = await serving(1, '--http', '0')
    await using _server = server
    const answer = await fetch(urls[0] ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': modernRevision,
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 's',
        method: 'subscriptions/listen',
        params: { notifications: {}, _meta: modernMeta },
      }),
    })
    server.child.kill('SIGTERM')
    expect(await answer.text()).toMatch(/acknowledged[^]*"id":"s","result"/)
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  test('a port that is in use is told with exit code 4', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    await using server = new ServerProcess(['--http', String(port)])
    expect(await server.ended).toEqual({ code: 4, signal: null })
    expect(server.stderr).toContain(`cannot listen on 127.0.0.1:${port}: the port is in use`)
    taken.close()
  })

  test.each(['0.0.0.0:0', '[::]:0'])('MH-EP-05: %s is refused when nothing says who may use it', async (address) => {
    await using server = new ServerProcess(['--http', address])
    expect(await server.ended).toEqual({ code: 2, signal: null })
    expect(server.stderr).toContain('--bearer-token-file')
    const { server: open, urls } = await serving(1, '--http', '0.0.0.0:0', '--allow-unauthenticated')
    await using _open = open
    expect((await post(urls[0] ?? '')).status).toBe(200)
  })

  test.each([
    ['x', '--http must be'],
    ['70000', '--http must be'],
    ['::1:80', '--http must be'],
  ])('--http %s is a usage error', async (address, message) => {
    await using server = new ServerProcess(['--http', address])
    expect(await server.ended).toEqual({ code: 2, signal: null })
    expect(server.stderr).toContain(message)
  })

  test('MH-EP-05: only who sends a token of the file is let in, and no token is ever logged', async () => {
    const tokens = join(folder, 'tokens.txt')
    writeFileSync(tokens, '# who may\nanna secret-of-anna-1234\nunnamed-secret-5678\n')
    const { server, urls } = await serving(1, '--http', '0', '--bearer-token-file', tokens, '--log-level', 'debug')
    await using _server = server
    const url = urls[0] ?? ''
    const refused = await post(url)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="mcp"'])
    const wrong = await post(url, { authorization: 'Bearer secret-of-anna-1235' })
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ])
    for (const token of ['secret-of-anna-1234', 'unnamed-secret-5678']) {
      expect((await post(url, { authorization: `Bearer ${token}` })).status).toBe(200)
    }
    expect(server.stderr).not.toMatch(/secret-of-anna|unnamed-secret/)
  })

  test('status of a server that wants a token sends the headers of a file, and shows none', async () => {
    const [tokens, headers] = [join(folder, 'of-status.txt'), join(folder, 'headers.txt')]
    writeFileSync(tokens, 'anna secret-of-anna-1234\n')
    writeFileSync(headers, '# for status\nAuthorization: Bearer secret-of-anna-1234\n')
    const { server, urls } = await serving(1, '--http', '0', '--bearer-token-file', tokens)
    await using _server = server
    const [url = ''] = urls
    await using refused = new ServerProcess(['status', url])
    expect(await refused.ended).toEqual({ code: 4, signal: null })
    await using status = new ServerProcess(['status', url, '--header-file', headers])
    expect(await status.ended).toEqual({ code: 0, signal: null })
    expect(status.stdout).toContain(`answers at ${url}`)
    expect(status.stdout + status.stderr).not.toContain('secret-of-anna')
    for (const args of [['status', 'unix.sock'], ['connect'], []]) {
      await using wrong = new ServerProcess([...args, '--header-file', headers])
      expect(await wrong.ended).toEqual({ code: 2, signal: null })
      expect(wrong.stderr).toContain('--header-file is for status URL')
    }
  })

  test.each([
    ['', 'holds no token'],
    ['short\n', 'line 1'],
    ['# fine\nanna b c\n', 'line 2'],
    ['anna sécret-of-anna-1234\n', 'line 1'],
  ])('a file of tokens that is no good (%j) is a usage error that tells no token', async (text, message) => {
    const file = join(folder, 'bad.txt')
    writeFileSync(file, text)
    await using server = new ServerProcess(['--http', '0', '--bearer-token-file', file])
    expect(await server.ended).toEqual({ code: 2, signal: null })
    expect(server.stderr).toContain(message)
    expect(server.stderr).not.toContain('cret-of')
  })

  test('what flags say can stand in the configuration', async () => {
    const config = join(folder, 'atenea.json')
    writeFileSync(join(folder, 'mine.txt'), 'token-in-the-folder-of-the-file')
    writeFileSync(
      config,
      JSON.stringify({
        http: ['0'],
        bearerTokenFile: 'mine.txt',
        allowedOrigins: ['https://example.com'],
        limits: { maxBodyBytes: 1024 },
      }),
    )
    const { server, urls } = await serving(1, '--config', config)
    await using _server = server
    const headers = { authorization: 'Bearer token-in-the-folder-of-the-file', origin: 'https://example.com' }
    const answer = await post(urls[0] ?? '', headers)
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://example.com'])
    expect((await post(urls[0] ?? '', { ...headers, origin: 'https://example.org' })).status).toBe(403)
    const large = await fetch(urls[0] ?? '', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: ' '.repeat(2000),
    })
    expect(large.status).toBe(413)
  })
})

describe('clients from npm over HTTP', () => {
  test('SDK 1: the legacy handshake, a call, a session that ends', async () => {
    const { server, urls } = await serving(1, '--http', '0')
    await using _server = server
    const transport = new LegacyTransport(new URL(urls[0] ?? ''))
    const client = new LegacyClient({ name: 'sdk-1', version: '1' })
    await client.connect(transport)
    expect(transport.protocolVersion).toBe(legacyRevision)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('create_record_cid')
    await transport.terminateSession()
    await client.close()
  })

  test.each(['legacy', 'auto', 'modern'] as const)('SDK 2, %s', async (mode) => {
    const { server, urls } = await serving(1, '--http', '0')
    await using _server = server
    const versionNegotiation = { mode: mode === 'modern' ? { pin: modernRevision } : mode } as const
    const client = new Client({ name: 'sdk-2', version: '1' }, { versionNegotiation })
    await client.connect(new StreamableHTTPClientTransport(new URL(urls[0] ?? '')))
    expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern')
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('create_record_cid')
    await client.close()
  })
})
