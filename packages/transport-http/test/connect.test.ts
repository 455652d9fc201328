import { createRevisionPolicy, legacyRevision, modernRevision, RpcError, TransportError } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { HttpAuthError } from '../src/http-errors.ts'
import { createVerdictStore, type StoredVerdict, type VerdictStore } from '../src/verdicts.ts'
import { connect, failureOf, until } from './_util/client.ts'
import { errorOf, json, plain, resultOf, type Script, scriptedServer, stream } from './_util/scripted-server.ts'
import { discovery, legacy, modern } from './_util/servers.ts'

const serverOnly: Script = (arrived, response) => json(response, 404, errorOf(arrived, -32_601, 'Method not found'))

/** A server that answers the probe in one way, and shakes hands. */
function answering(probe: Script): Script {
  const { script } = legacy()
  return async (arrived, response, request) => {
    await (arrived.body['method'] === 'server/discover' ? probe : script)(arrived, response, request)
  }
}

describe('a modern server', () => {
  test('H16, MC-ERA-10, MC-DISC-09, MC-DISC-02: is found by discovery, and initialize is never sent', async () => {
    await using server = await scriptedServer(modern(serverOnly))
    await using client = await connect(server.url)
    expect(client.connection).toMatchObject({
      requested: modernRevision,
      observed: modernRevision,
      row: 'H16',
      verdict: { era: 'modern', revision: modernRevision },
      server: { info: { name: 'scripted' }, capabilities: discovery['capabilities'] },
    })
    expect(server.calls('initialize')).toEqual([])
    expect(client.connection.view({ id: 'x', authenticated: true })).toMatchObject({ info: { name: 'scripted' } })
  })

  test('MH-POST-02, MH-POST-03, MH-HDR-01, MH-HDR-05, MC-REQ-01, MC-REQ-03, MC-VER-04, MH-ERA-01: the probe is a whole modern request', async () => {
    await using server = await scriptedServer(modern(serverOnly))
    await using _client = await connect(server.url)
    const [probe] = server.arrived
    expect(probe).toMatchObject({
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': modernRevision,
        'mcp-method': 'server/discover',
      },
      body: {
        jsonrpc: '2.0',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': modernRevision,
            'io.modelcontextprotocol/clientInfo': { name: 'me', version: '2.0.0' },
            'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
          },
        },
      },
    })
  })

  test('MH-POST-08, C2: discovery may come as a stream, whatever the case and parameters of its type', async () => {
    await using server = await scriptedServer((arrived, response) => {
      response.writeHead(200, { 'content-type': 'Text/Event-Stream;charset=utf-8' })
      response.end(
        `: hello\r\n\r\nevent: other\r\ndata: {}\r\n\r\ndata: ${JSON.stringify(resultOf(arrived, discovery))}\r\n\r\n`,
      )
    })
    await using client = await connect(server.url)
    expect(client.connection.observed).toBe(modernRevision)
  })

  test('H09, MC-VER-02: a version that is refused although it is listed is tried once more, with a new id', async () => {
    await using server = await scriptedServer((arrived, response) => {
      if (server.arrived.length > 1) json(response, 200, resultOf(arrived, discovery))
      else
        json(response, 400, errorOf(arrived, -32_022, 'no', { supported: [modernRevision], requested: modernRevision }))
    })
    await using client = await connect(server.url)
    expect(client.connection.observed).toBe(modernRevision)
    expect(new Set(server.arrived.map(({ body }) => body['id'])).size).toBe(2)
  })

  test('H08: and an endless refusal is an error', async () => {
    await using server = await scriptedServer((arrived, response) => {
      json(response, 400, errorOf(arrived, -32_022, 'no', { supported: [modernRevision], requested: modernRevision }))
    })
    expect(await failureOf(connect(server.url))).toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('H09') as string,
    })
    expect(server.arrived).toHaveLength(2)
  })

  test('H13, MC-ERA-04, MH-ERA-02, MH-ERA-03: a recognised modern error is never answered with initialize', async () => {
    await using server = await scriptedServer(
      answering((arrived, response) => json(response, 400, errorOf(arrived, -32_020, 'mismatch'))),
    )
    const failure = await failureOf(connect(server.url))
    expect(failure).toMatchObject({ kind: 'protocol' })
    expect(RpcError.is(failure['cause']) && failure['cause'].code).toBe(-32_020)
    expect(server.calls('initialize')).toEqual([])
  })

  test('A11, H19: a defect of discovery is told, and a malformed one is an error', async () => {
    await using lax = await scriptedServer((arrived, response) =>
      json(response, 200, resultOf(arrived, { supportedVersions: [modernRevision], capabilities: {} })),
    )
    await using client = await connect(lax.url)
    expect(client.connection.observed).toBe(modernRevision)
    expect(client.diagnostics.map(({ code }) => code)).toContain('discovery-defect')
    await using broken = await scriptedServer(
      answering((arrived, response) => json(response, 200, resultOf(arrived, { resultType: 'complete' }))),
    )
    expect(await failureOf(connect(broken.url))).toMatchObject({ kind: 'protocol' })
    expect(broken.calls('initialize')).toEqual([])
  })
})

describe('a legacy server', () => {
  test.each<readonly [string, Script]>([
    ['A1: H25 -32602', (arrived, response) => json(response, 400, errorOf(arrived, -32_602, 'initialize first'))],
    ['A1: H25 -32000', (arrived, response) => json(response, 400, errorOf(arrived, -32_000, 'no'))],
    [
      'A13: H25 a pre-release number',
      (arrived, response) => json(response, 400, errorOf(arrived, -32_004, 'no', { supported: [modernRevision] })),
    ],
    ['A1, MH-ERA-04: H26 plain text', (_arrived, response) => plain(response, 400, 'Unsupported protocol version')],
    ['A1, MH-ERA-04: H26 nothing', (_arrived, response) => plain(response, 400)],
    ['A1: H27 a page', (_arrived, response) => plain(response, 404, '<html>', { 'content-type': 'text/html' })],
    ['MC-ERA-11: H27 405', (_arrived, response) => plain(response, 405)],
    [
      'A4: H21 -32601 in band',
      (arrived, response) => json(response, 200, errorOf(arrived, -32_601, 'Method not found')),
    ],
    ['MH-ERA-05: H15 -32601 with 404, for what every modern server has', serverOnly],
    [
      'A5: H25 an error with id null',
      (_arrived, response) =>
        json(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Missing ID field' } }),
    ],
    ['MC-ERA-05: H20 another result', (arrived, response) => json(response, 200, resultOf(arrived, {}))],
    ['H22 nothing with 202', (_arrived, response) => plain(response, 202)],
    ['H28 406', (_arrived, response) => plain(response, 406)],
  ])('%s', async (_name, probe) => {
    await using server = await scriptedServer(answering(probe))
    await using client = await connect(server.url)
    expect(client.connection).toMatchObject({
      observed: legacyRevision,
      verdict: { era: 'legacy', revision: legacyRevision },
    })
  })

  test('A-61, LG-LIFE-01, LG-LIFE-06: gets a handshake in which nothing hints at another era', async () => {
    await using server = await scriptedServer(legacy().script)
    await using _client = await connect(server.url)
    const [request] = server.calls('initialize')
    expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('mcp-'))).toEqual([])
    expect(request?.body['params']).toEqual({
      protocolVersion: legacyRevision,
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      clientInfo: { name: 'me', version: '2.0.0' },
    })
  })

  test('LG-LIFE-08: one that insists on a revision which is not accepted is left, and told so', async () => {
    const { script, state } = legacy({ revision: '2024-10-07' })
    await using server = await scriptedServer(script)
    expect(await failureOf(connect(server.url))).toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('2024-10-07') as string,
    })
    await until(() => state.sessions.size === 0)
  })

  test('LG-HTTP-12, MH-ERA-09: where nothing speaks, the deprecated transport is named as a guess', async () => {
    await using server = await scriptedServer((_arrived, response) => plain(response, 404))
    expect(await failureOf(connect(server.url))).toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('HTTP+SSE') as string,
    })
  })

  test('a handshake that is refused with a modern error is an error, and there is no loop', async () => {
    await using server = await scriptedServer((arrived, response) => {
      if (arrived.body['method'] === 'initialize')
        json(response, 400, errorOf(arrived, -32_022, 'no', { supported: [modernRevision] }))
      else plain(response, 400)
    })
    expect(await failureOf(connect(server.url))).toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('modern server after all') as string,
    })
    expect(server.arrived).toHaveLength(2)
  })
})

describe('no downgrade', () => {
  test.each<readonly [string, Script, object]>([
    [
      'H05: 500 with a JSON-RPC error',
      (arrived, response) => json(response, 500, errorOf(arrived, -32_601, 'x')),
      { kind: 'unreachable', retryable: true },
    ],
    [
      'H05: 502 of a gateway',
      (_arrived, response) => plain(response, 502, '<html>bad gateway'),
      { kind: 'unreachable', retryable: true },
    ],
    [
      'H04: 429',
      (_arrived, response) => plain(response, 429, '', { 'retry-after': '3600' }),
      { kind: 'unreachable', retryable: true },
    ],
    ['H03: 403', (_arrived, response) => plain(response, 403), { kind: 'protocol' }],
    [
      'H23, C16: a page',
      (_arrived, response) => plain(response, 200, '<html>Log in'),
      { kind: 'protocol', message: expect.stringContaining('<html>Log in') as string },
    ],
    [
      'H24, C16: JSON that is no answer',
      (_arrived, response) => json(response, 200, { Output: 1 }),
      { kind: 'protocol' },
    ],
    [
      'H24: a stream that ends',
      (_arrived, response) => {
        stream(response)
        response.end(': bye\n\n')
      },
      { kind: 'protocol' },
    ],
    [
      'H01: a connection that breaks',
      (_arrived, _response, request) => void request.socket.destroy(),
      { kind: 'closed', retryable: true },
    ],
  ])('%s', async (_name, probe, expected) => {
    const verdicts = createVerdictStore()
    await using server = await scriptedServer(answering(probe))
    expect(await failureOf(connect(server.url, { verdicts }))).toMatchObject(expected)
    expect(server.calls('initialize')).toEqual([])
    expect(await verdicts.get(server.url)).toBeUndefined()
  })

  test.each([401, 407])(
    'A7, H02: %i is for the one who has the credentials, whatever the body says',
    async (status) => {
      const verdicts = createVerdictStore()
      await using server = await scriptedServer(
        answering((arrived, response) =>
          json(response, status, errorOf(arrived, -32_601, 'Method not found'), {
            'www-authenticate': 'Bearer resource_metadata="https://a.example/meta", scope="a b", error="invalid_token"',
          }),
        ),
      )
      const failure = await failureOf(connect(server.url, { verdicts }))
      if (!HttpAuthError.is(failure)) throw failure
      expect(failure).toMatchObject({ kind: 'auth', status })
      expect(failure.challenges[0]?.scheme).toBe('bearer')
      expect(failure.challenges[0]?.parameters.get('resource_metadata')).toBe('https://a.example/meta')
      expect(server.calls('initialize')).toEqual([])
      expect(await verdicts.get(server.url)).toBeUndefined()
    },
  )

  test('A7, H03: 403 for a scope says which', async () => {
    await using server = await scriptedServer((_arrived, response) =>
      plain(response, 403, '', { 'www-authenticate': 'Bearer error="insufficient_scope", scope="mcp:write"' }),
    )
    expect(await failureOf(connect(server.url))).toMatchObject({
      kind: 'auth',
      message: expect.stringContaining('mcp:write') as string,
    })
  })

  test('A7: a pin is the way out', async () => {
    await using server = await scriptedServer(answering((_arrived, response) => plain(response, 401)))
    await using client = await connect(server.url, { mode: 'legacy' })
    expect(client.connection.observed).toBe(legacyRevision)
    expect(server.calls('server/discover')).toEqual([])
  })

  test('MC-TMO-01: silence is a timeout, and no era', async () => {
    await using server = await scriptedServer(() => undefined)
    const verdicts = createVerdictStore()
    expect(await failureOf(connect(server.url, { probeTimeoutMs: 50, verdicts }))).toMatchObject({
      kind: 'timeout',
      retryable: true,
    })
    expect(await verdicts.get(server.url)).toBeUndefined()
  })

  test('H01: nobody there', async () => {
    const server = await scriptedServer(() => undefined)
    await server[Symbol.asyncDispose]()
    expect(await failureOf(connect(server.url))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    })
  })

  test('a signal ends it with its reason', async () => {
    await using server = await scriptedServer(() => undefined)
    const reason = new Error('enough')
    const stop = new AbortController()
    const failing = failureOf(connect(server.url, { signal: stop.signal }))
    await until(() => server.arrived.length === 1)
    stop.abort(reason)
    expect(await failing).toBe(reason)
  })
})

describe('pins', () => {
  test('modern: discovery is done all the same, and a legacy server is an error', async () => {
    await using server = await scriptedServer(legacy().script)
    expect(await failureOf(connect(server.url, { mode: 'modern' }))).toMatchObject({ kind: 'protocol' })
    expect(server.calls('initialize')).toEqual([])
    await using good = await scriptedServer(modern(serverOnly))
    await using client = await connect(good.url, { mode: 'modern' })
    expect(client.connection.row).toBe('H16')
  })

  test('a policy without modern revisions shakes hands at once', async () => {
    await using server = await scriptedServer(legacy().script)
    await using client = await connect(server.url, { policy: createRevisionPolicy({ modern: [] }) })
    expect(client.connection.row).toBeUndefined()
    expect(server.calls('server/discover')).toEqual([])
  })
})

describe('what is remembered (decisions 1.5)', () => {
  test('A-37: a legacy verdict for a day, by URL, and it is not renewed by being used', async () => {
    const kept = new Map<string, StoredVerdict>()
    const verdicts: VerdictStore = {
      get: (url) => kept.get(url),
      set: (url, verdict) => void kept.set(url, verdict),
      delete: (url) => void kept.delete(url),
    }
    await using server = await scriptedServer(legacy().script)
    for (const probes of [1, 1]) {
      await using client = await connect(server.url, { verdicts })
      expect(client.connection.observed).toBe(legacyRevision)
      expect(server.calls('server/discover')).toHaveLength(probes)
    }
    const stored = kept.get(server.url)
    expect(stored).toMatchObject({ era: 'legacy', revision: legacyRevision })
    const hours = ((stored?.expiresAt ?? 0) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThanOrEqual(24)
    kept.set(server.url, { era: 'legacy', revision: legacyRevision, expiresAt: Date.now() - 1 })
    await using _again = await connect(server.url, { verdicts })
    expect(server.calls('server/discover')).toHaveLength(2)
  })

  test('a server that was legacy and refuses the handshake is looked at anew', async () => {
    const verdicts = createVerdictStore()
    await using server = await scriptedServer(modern(serverOnly))
    await verdicts.set(server.url, { era: 'legacy', revision: legacyRevision, expiresAt: undefined })
    await using client = await connect(server.url, { verdicts })
    expect(client.connection.observed).toBe(modernRevision)
    expect(await verdicts.get(server.url)).toMatchObject({ era: 'modern' })
  })

  test('a server that was modern is asked twice before it is taken for legacy, and that is told', async () => {
    const verdicts = createVerdictStore()
    await using server = await scriptedServer(legacy().script)
    await verdicts.set(server.url, { era: 'modern', revision: modernRevision, expiresAt: undefined })
    await using client = await connect(server.url, { verdicts })
    expect(server.calls('server/discover')).toHaveLength(2)
    expect(client.diagnostics.map(({ code }) => code)).toContain('verdict-changed')
    expect(await verdicts.get(server.url)).toMatchObject({ era: 'legacy' })
  })

  test('a modern verdict is dropped when a later answer is one of a legacy server: probed again once, told, never demoted inside a request', async () => {
    const verdicts = createVerdictStore()
    let isModern = true
    const { script } = legacy()
    await using server = await scriptedServer(async (arrived, response, request) => {
      await (isModern ? modern(serverOnly) : script)(arrived, response, request)
    })
    await using client = await connect(server.url, { verdicts })
    isModern = false
    const failures = await Promise.all([failureOf(client.tool('a')), failureOf(client.tool('b'))])
    expect(failures.every((failure) => TransportError.is(failure))).toBe(true)
    expect(await client.connection.ended).toMatchObject({
      kind: 'closed',
      message: expect.stringContaining('Connect again') as string,
    })
    expect(client.connection.verdict).toBeUndefined()
    expect(await verdicts.get(server.url)).toBeUndefined()
    expect(server.calls('server/discover')).toHaveLength(2)
    expect(server.calls('initialize')).toEqual([])
    expect(await failureOf(client.tool('c'))).toMatchObject({ kind: 'closed' })
  })

  test('and stays when the second look says modern', async () => {
    await using server = await scriptedServer(modern((_arrived, response) => plain(response, 400, 'gateway hiccup')))
    await using client = await connect(server.url)
    expect(await failureOf(client.tool('a'))).toMatchObject({ kind: 'protocol' })
    await until(() => server.calls('server/discover').length === 2)
    expect(client.connection.verdict).toMatchObject({ era: 'modern' })
  })
})
