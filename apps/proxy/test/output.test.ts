import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { privateHome, ProxyProcess } from './_util/proxy-process.ts'
import { stdioServer } from './_util/servers.ts'

vi.setConfig({ testTimeout: 30_000 })

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-secrets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Every form in which a secret could be read. */
function expectHidden(text: string, secret: string): void {
  const bytes = Buffer.from(secret)
  for (const form of [secret.slice(0, 8), bytes.toString('hex'), bytes.toString('base64').slice(0, 10)]) {
    expect(text).not.toContain(form)
  }
}

describe('F16: at the level debug no output holds a secret', () => {
  test('of a command: its arguments, its environment, and what it says itself', async () => {
    const [command, ...args] = stdioServer('sdk-v1')
    const file = join(folder, 'mcp.json')
    const env = { API_TOKEN: 'zebra-environment-1234' }
    const all = [...args, '--api-key', 'zebra-argument-12345']
    writeFileSync(file, JSON.stringify({ mcpServers: { files: { command, args: all, env } } }))
    await using proxy = new ProxyProcess(['--config', file, '--log-level', 'debug'])
    for (const line of [
      'token is zebra-environment-1234',
      'Authorization: Bearer zebra-other-123',
      'key zebra-argument-12345',
    ]) {
      await proxy.tool(line, 'says', { line })
    }
    await proxy.tool('last', 'says', { line: 'the end' })
    await proxy.says('[files] the end')
    expect((await proxy.ask('crash', 'tools/call', { name: 'crash', arguments: {} })).error).toBeDefined()
    await proxy.says('exited with code 7')
    expect(proxy.stderr).toContain('[files] token is [redacted]')
    for (const secret of ['zebra-environment', 'zebra-argument', 'zebra-other']) expectHidden(proxy.stderr, secret)
  })

  const asText = (told: string): string => told
  const asError = (told: string): string =>
    JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message: told } })

  test.each([
    ['text', 500, 'text/plain', asText],
    ['json', 500, 'text/plain', asText],
    ['text', 400, 'application/json', asError],
  ] as const)(
    'of a server on HTTP that repeats all that it gets in its refusals (log in %s, %i %s)',
    async (format, code, type, write) => {
      const server = createServer((request, response) => {
        response.writeHead(code, { 'content-type': type })
        response.end(write(`no: ${request.url} ${JSON.stringify(request.headers)}`))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const headers = join(folder, 'headers.txt')
      writeFileSync(headers, 'Authorization: Bearer zebra-bearer-12345\n')
      const home = privateHome()
      const socket = join(folder, `${format}-${code}.sock`)
      await using proxy = new ProxyProcess(
        [
          '--stdio',
          '--socket',
          socket,
          '--log-level',
          'debug',
          '--log-format',
          format,
          '--header',
          'X-Anything: zebra-header-123456',
        ].concat([
          '--header-file',
          headers,
          `http://user:zebra-password-1@127.0.0.1:${port}/mcp?key=zebra-query-123456`,
        ]),
        home.environment,
      )
      const { error } = await proxy.ask(1, 'tools/list')
      expect(error?.code).toBe(-32_603)
      await proxy.says('cannot connect')
      await using status = new ProxyProcess(['status', socket])
      await status.ended
      const kept = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' })
        .filter((entry) => entry.isFile() && entry.name === 'verdicts.json')
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      const everything = [proxy.stderr, JSON.stringify(error), status.stdout, status.stderr, ...kept].join('\n')
      for (const secret of ['zebra-bearer', 'zebra-header', 'zebra-password', 'zebra-query'])
        expectHidden(everything, secret)
      server.closeAllConnections()
      server.close()
      home[Symbol.dispose]()
    },
  )
})

test('what a child writes to stderr comes line by line, under the name of its server, and cannot move a terminal', async () => {
  await using proxy = new ProxyProcess(['--', ...stdioServer('sdk-v1')])
  await proxy.tool(1, 'says', { line: 'one\ntwo \u001b[2J' })
  await proxy.says('[sdk-v1] two \\u001b[2J\n')
  expect(proxy.stderr).toContain('[sdk-v1] one\n')
  expect(proxy.stderr).not.toContain('\u001b')
  expect(proxy.noise).toEqual([])
})

test('a client that does not read stderr gets its answers, and the proxy ends with it', async () => {
  await using proxy = new ProxyProcess(['--', ...stdioServer('sdk-v1')])
  await proxy.tool('first', 'says', { line: 'hello' })
  proxy.child.stderr?.pause()
  const line = 'x'.repeat(20_000)
  for (let id = 0; id < 40; id++) await proxy.tool(id, 'says', { line })
  proxy.endInput()
  expect(await once(proxy.child, 'exit')).toEqual([0, null])
})

test('D5: a line on stdout that is no message is told with the name of the server, and changes nothing', async () => {
  const noisy = ['sh', '-c', 'echo loading the model; exec "$@"', 'noisy', ...stdioServer('sdk-v2')]
  await using proxy = new ProxyProcess(['--', ...noisy])
  expect(await proxy.tool(1, 'echo', { text: 'x' })).toBe('x')
  await proxy.says('warning: sh: ')
  expect(proxy.noise).toEqual([])
})

test('and as a field where logs are JSON', async () => {
  await using proxy = new ProxyProcess(['--log-format', 'json', '--', ...stdioServer('sdk-v1')])
  await proxy.tool(1, 'says', { line: 'hello' })
  await proxy.says('"message":"hello"')
  const lines = proxy.stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines).toContainEqual(
    expect.objectContaining({ message: 'hello', server: 'sdk-v1', from: 'stderr', level: 'info' }),
  )
})
