import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { hostOf } from './_util/hosts.ts'
import { probed, setupOf } from './_util/probing.ts'
import { type RunningServer, serveFlawed } from './flawed/http.ts'

interface Sent {
  readonly method: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** What the probe sends to a server that does everything right, in order. */
async function requestsTo(
  server: RunningServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly Sent[]> {
  const sent: Sent[] = []
  const target = new URL(server.url)
  const relay = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      sent.push({ method: request.method, headers: request.headers, text: body.toString() })
      const { host: _, connection: __, ...rest } = request.headers
      const init = { method: request.method ?? 'GET', headers: rest as Record<string, string> }
      const answer = await fetch(target, body.length > 0 ? { ...init, body } : init)
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of answer.body ?? []) response.write(chunk)
      response.end()
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = relay.address() as AddressInfo
    await probed({ kind: 'url', url: `http://127.0.0.1:${port}/mcp`, headers })
    return sent
  } finally {
    relay.closeAllConnections()
    relay.close()
  }
}

const messageIn = ({ text }: Sent): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>

describe('what the probe sends', () => {
  test('MH-ERA-01, MS-ERA-01, MC-DISC-03: discovery comes first, with nothing but its metadata', async () => {
    await using server = await serveFlawed(setupOf('none'))
    const [first] = await requestsTo(server)
    if (first === undefined) throw new Error('nothing was sent')
    expect(messageIn(first)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'server/discover',
      params: {
        _meta: {
          [metaKey.protocolVersion]: modernRevision,
          [metaKey.clientInfo]: { name: 'atenea-probe', version: expect.any(String) as string },
          [metaKey.clientCapabilities]: {},
        },
      },
    })
    expect(first.headers).toMatchObject({ 'mcp-protocol-version': modernRevision, 'mcp-method': 'server/discover' })
  })

  test('A-61, LG-LIFE-01: the handshake is purely legacy', async () => {
    await using server = await serveFlawed(setupOf('none'))
    const sent = await requestsTo(server)
    const handshake = sent.find(({ text }) => text.includes('"initialize"'))
    if (handshake === undefined) throw new Error('there was no handshake')
    expect(messageIn(handshake)['params']).toEqual({
      protocolVersion: legacyRevision,
      capabilities: {},
      clientInfo: { name: 'atenea-probe', version: expect.any(String) as string },
    })
    expect(Object.keys(handshake.headers).filter((name) => name.startsWith('mcp-'))).toEqual([])
  })

  test('LG-SESS-07: the session that was opened is ended', async () => {
    await using server = await serveFlawed(setupOf('none'))
    const sent = await requestsTo(server)
    const opened = sent.flatMap(({ headers }) => headers['mcp-session-id'] ?? [])
    const ended = sent.filter(({ method }) => method === 'DELETE').map(({ headers }) => headers['mcp-session-id'])
    expect(ended).toHaveLength(2)
    expect(ended.every((id) => typeof id === 'string' && opened.includes(id))).toBe(true)
  })

  test('the headers of the user go with every request', async () => {
    await using server = await serveFlawed(setupOf('none'))
    const sent = await requestsTo(server, { Authorization: 'Bearer abc' })
    expect(sent.length).toBeGreaterThan(40)
    expect(sent.filter(({ headers }) => headers['authorization'] !== 'Bearer abc')).toEqual([])
  })

  test('no tool that there is gets called, and nothing is read that there is', async () => {
    await using server = await serveFlawed(setupOf('none'))
    const sent = await requestsTo(server)
    const named = sent.filter(({ text }) => /"(?:tools\/call|prompts\/get|resources\/read)"/.test(text))
    expect(named.length).toBeGreaterThan(5)
    expect(
      named.filter(({ text }) => !/"(?:name|uri)":"atenea-probe(?:-no-such-name|:\/\/no-such-resource)/.test(text)),
    ).toEqual([])
  })
})

test('MH-POST-08: a server that answers everything as a stream is as good as one that answers JSON', async () => {
  await using server = await serveFlawed(setupOf('streams'))
  const report = await probed({ kind: 'url', url: server.url })
  expect(report.findings).toEqual([])
  expect(report).toMatchObject({ verdict: { era: 'dual' }, modern: { verdict: 'works', counts: { tools: 3 } } })
})

/** A server that answers everything with one error. */
async function verdictOfError(status: number, error: object): Promise<Awaited<ReturnType<typeof probed>>> {
  await using host = await hostOf((_, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
  })
  return await probed({ kind: 'url', url: host.url })
}

test.each([
  ['H11', -32_022, { supported: ['2099-01-01'], requested: modernRevision }],
  ['H12', -32_022, {}],
  ['H13', -32_020, undefined],
  ['H14', -32_021, { requiredCapabilities: { sampling: {} } }],
])(
  'MC-ERA-04, MH-ERA-02 (%s): the modern error %i is read as modern, and the body of a 400 before its status',
  async (_, code, data) => {
    const report = await verdictOfError(400, { code, message: 'no', data })
    expect(report).toMatchObject({ modern: { verdict: 'refuses' }, verdict: { era: 'none' } })
  },
)

test.each([
  [400, -32_600],
  [200, -32_601],
  [404, -32_601],
  [400, -32_602],
  [400, -32_004],
])('MC-ERA-05, A1: status %i with the error %i is no modern server', async (status, code) => {
  const report = await verdictOfError(status, { code, message: 'initialize first' })
  expect(report.modern.verdict).toBe('not-spoken')
})

test('MC-MSG-01: an answer to discovery without "jsonrpc" is reported for what it is, and is no modern server', async () => {
  await using host = await hostOf((_, response) => {
    const result = { resultType: 'complete', supportedVersions: [modernRevision], capabilities: {} }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 1, result }))
  })
  const report = await probed({ kind: 'url', url: host.url })
  expect(report.modern.verdict).toBe('refuses')
  expect(report.findings.map(({ id, subject }) => `${id} ${subject}`)).toContain('response-malformed server/discover')
})
