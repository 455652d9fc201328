import type { RequestListener } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { Outcome } from '../src/report.ts'
import { deadUrl, hostOf } from './_util/hosts.ts'
import { probed } from './_util/probing.ts'

vi.setConfig({ testTimeout: 30_000 })

const timeoutMs = 700

interface Case {
  readonly answer: RequestListener
  readonly cause: RegExp
  readonly outcome?: Outcome
}

const says =
  (status: number, type: string, body = ''): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': type }).end(body)

/** Writes for ever, so many bytes each time. */
const endless =
  (type: string, bytes: number): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type })
    const timer = setInterval(() => void response.write(`${':'.repeat(bytes)}\n`), 5)
    response.on('close', () => clearInterval(timer))
  }

const cases: Readonly<Record<string, Case>> = {
  'H23: a web page': { answer: says(200, 'text/html', '<h1>hi</h1>'), cause: /^The URL answers 200 with a web page/ },
  'H05: a server that fails': { answer: says(500, 'text/plain', 'oops'), cause: /^The server fails: it answers 500/ },
  'H27: nothing at the path': { answer: says(404, 'text/plain'), cause: /^There is nothing at \/api \(404\)/ },
  'H03: no access': { answer: says(403, 'text/plain'), cause: /^The server refuses access \(403\)/ },
  'H04: too many requests': {
    answer: (_, response) => void response.writeHead(429, { 'retry-after': '30' }).end(),
    cause: /429: too many requests, try again after 30/,
  },
  'H07: a redirect elsewhere': {
    answer: (_, response) => void response.writeHead(302, { location: 'https://example.com/' }).end(),
    cause: /^The URL redirects \(302\) to https:\/\/example\.com/,
  },
  'H22: nothing but a status': {
    answer: says(200, 'application/json'),
    cause: /^The URL answers 200 with nothing/,
  },
  'H28: a status without a message': { answer: says(418, 'text/plain', 'teapot'), cause: /^The server answers 418/ },
  'H26: https behind http, as nginx tells it': {
    answer: says(400, 'text/html', '<h1>400</h1>The plain HTTP request was sent to HTTPS port'),
    cause: /speaks https, and the URL says http/,
  },
  'H26: https behind http, as Go tells it': {
    answer: says(400, 'text/plain', 'Client sent an HTTP request to an HTTPS server.\n'),
    cause: /speaks https, and the URL says http/,
  },
  'H01: headers without measure': {
    answer: (_, response) => void response.writeHead(200, { 'x-cookie': 'y'.repeat(40_000) }).end(),
    cause: /^The headers of the answer are larger/,
  },
  'H24: a body that breaks off': {
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      response.write('{"jsonrpc"', () => response.destroy())
    },
    cause: /^The server breaks off in the middle of an answer/,
  },
  'a web server for pages': { answer: says(501, 'text/html', 'Unsupported'), cause: /^This is a web server for pages/ },
  'H01: a server that breaks the connection': {
    answer: (_, response) => void response.destroy(),
    cause: /^The server closes the connection without an answer/,
  },
  'H01: a silent server': {
    answer: () => undefined,
    cause: /^The server accepts the connection and then says nothing/,
  },
  'H24: a body without end': {
    answer: endless('application/json', 1_000_000),
    cause: /^The answer has no end|does not end it/,
  },
  'H24: a stream of nothing': {
    answer: endless('text/event-stream', 1),
    cause: /^The server begins an answer and does not end it/,
  },
}

test.each(Object.entries(cases))(
  '%s is told apart, within bounds, and never as an era',
  async (_, { answer, cause }) => {
    await using host = await hostOf(answer)
    const started = performance.now()
    const report = await probed({ kind: 'url', url: host.url }, { timeoutMs })
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(report).toMatchObject({ outcome: 'unreachable', verdict: { era: 'none' } })
    expect(report.verdict.cause).toMatch(cause)
    expect(report.verdict.repair).toMatch(/\w/)
  },
)

test('H01: a dead port is told with its port, and nothing is tried on', async () => {
  const url = await deadUrl()
  const report = await probed({ kind: 'url', url })
  expect(report).toMatchObject({
    outcome: 'unreachable',
    modern: { verdict: 'not-tried' },
    legacy: { verdict: 'not-tried' },
    verdict: { cause: `Nothing listens at ${new URL(url).host} (connection refused).` },
  })
  expect(report.steps.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['discover', 'tcp'])
})

test('H01: a proxy of the environment that is not there is told as such', async () => {
  const proxy = new URL(await deadUrl()).host
  vi.stubEnv('HTTP_PROXY', `http://user:zzz@${proxy}`)
  vi.stubEnv('NO_PROXY', '')
  try {
    const report = await probed({ kind: 'url', url: 'http://atenea-probe.invalid/mcp' })
    expect(report.verdict.cause).toMatch(`leads through the proxy http://${proxy}`)
    expect(JSON.stringify(report)).not.toContain('zzz')
  } finally {
    vi.unstubAllEnvs()
  }
})

test('H01: a name that there is not', async () => {
  const report = await probed({ kind: 'url', url: 'http://atenea-probe.invalid/mcp' }, { timeoutMs: 5_000 })
  expect(report).toMatchObject({ outcome: 'unreachable' })
  expect(report.verdict.cause).toMatch(/atenea-probe\.invalid (?:cannot be|is not) resolved/)
})

test('something that is no HTTP', async () => {
  const server = createServer((socket) => void socket.end('SSH-2.0-nothing\r\n'))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const report = await probed({ kind: 'url', url: `http://127.0.0.1:${port}/mcp` })
  server.close()
  expect(report.verdict.cause).toMatch(/does not speak HTTP/)
})

test('TLS to a server without TLS', async () => {
  await using host = await hostOf(says(200, 'text/html'))
  const report = await probed({ kind: 'url', url: host.url.replace('http:', 'https:') })
  expect(report.verdict.cause).toMatch(/does not speak TLS/)
  expect(report.steps.map(({ name, ok }) => `${name} ${ok}`)).toEqual(expect.arrayContaining(['tcp true', 'tls false']))
})

test('H02, A7: 401 is a wall and no era; the challenge is told, and legacy is not tried', async () => {
  const challenge = 'Bearer error="invalid_token", scope="read", resource_metadata="http://127.0.0.1:1/meta?token=abc"'
  await using host = await hostOf(
    (_, response) => void response.writeHead(401, { 'www-authenticate': challenge }).end(),
  )
  const report = await probed(
    { kind: 'url', url: host.url },
    { redact: (text) => text.replaceAll('abc', '[redacted]') },
  )
  expect(report).toMatchObject({
    outcome: 'auth-required',
    verdict: { era: 'none' },
    modern: { verdict: 'not-tried' },
    legacy: { verdict: 'not-tried' },
    auth: {
      status: 401,
      scheme: 'bearer',
      parameters: { error: 'invalid_token', scope: 'read' },
      resourceMetadata: 'http://127.0.0.1:1/meta?token=[redacted]',
    },
  })
  expect(report.verdict.cause).toContain('metadata at http://127.0.0.1:1/meta')
})

test('H02: a proxy that wants credentials is told apart from the server', async () => {
  await using host = await hostOf((_, response) => void response.writeHead(407).end())
  const report = await probed({ kind: 'url', url: host.url })
  expect(report).toMatchObject({
    outcome: 'auth-required',
    verdict: { cause: expect.stringMatching(/^A proxy on the way/) },
  })
})

test('A13: a legacy server that refuses with an error of its own is legacy, whatever its number', async () => {
  await using host = await hostOf((_, response) => {
    const error = { jsonrpc: '2.0', id: null, error: { code: -32_004, message: 'no', data: { supported: [] } } }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(error))
  })
  const report = await probed({ kind: 'url', url: host.url })
  expect(report).toMatchObject({ outcome: 'fine', verdict: { era: 'none' }, modern: { verdict: 'not-spoken' } })
})

test('F16: what the user sends along is not in the report', async () => {
  await using host = await hostOf((request, response) => {
    const body = { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: `no ${String(request.headers['x-key'])}` } }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const report = await probed(
    { kind: 'url', url: `${host.url}?key=zzz`, headers: { 'x-key': 'zzz' } },
    { redact: (text) => text.replaceAll('zzz', '[redacted]') },
  )
  expect(JSON.stringify(report)).not.toContain('zzz')
  expect(report.target.text).toContain('key=[redacted]')
})

test('S11, S12: a socket is spoken of as one, whatever is behind it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-probe-'))
  const path = join(folder, 'x.sock')
  const behind = [
    [(socket: Socket) => void socket.destroy(), /^The server at the socket closes the connection before/],
    [() => undefined, /^The server at the socket accepts the connection, but says nothing within 700 ms/],
    [(socket: Socket) => void socket.write('hello\n'), /^The server at the socket writes what is no MCP message/],
  ] as const
  try {
    for (const [serve, cause] of behind) {
      const server = createServer((socket) => serve(socket.on('error', () => undefined).resume()))
      await new Promise<void>((resolve) => void server.listen(path, resolve))
      const { verdict } = await probed({ kind: 'socket', path }, { timeoutMs })
      await new Promise((resolve) => void server.close(resolve))
      expect(verdict.cause).toMatch(cause)
      expect(verdict.repair).toMatch(/^Check that the path is that of the socket/)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
