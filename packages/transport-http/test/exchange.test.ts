import { type Call, type JsonObject, modernRevision, RpcError, TransportError } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { HttpAuthError, HttpRedirectError, HttpStatusError } from '../src/http-errors.ts'
import { connect, failureOf, until } from './_util/client.ts'
import {
  type Arrived,
  errorOf,
  event,
  json,
  plain,
  resultOf,
  type Script,
  scriptedServer,
  stream,
} from './_util/scripted-server.ts'
import { discovery, modern } from './_util/servers.ts'

const done = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }
const answersAll: Script = (arrived, response) => json(response, 200, resultOf(arrived, done))

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

function params({ body }: Arrived): JsonObject {
  return body['params'] as JsonObject
}

describe('one POST is one call', () => {
  test('MH-POST-01, MH-POST-03, MH-POST-04, MH-HDR-05, MH-HDR-06, MC-ID-03: with headers made from its body and an id of its own', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url)
    await Promise.all([
      client.tool('a b', { x: 1 }),
      client.call('prompts/get', { name: 'p' }),
      client.call('resources/read', { uri: 'file:///path/to/file%20name.txt' }),
      client.call('tools/list'),
    ])
    const posts = server.arrived.slice(1)
    expect(
      posts
        .map(({ headers }) => [headers['mcp-method'], headers['mcp-name'], headers['mcp-protocol-version']])
        .sort(byText),
    ).toEqual([
      ['prompts/get', 'p', modernRevision],
      ['resources/read', 'file:///path/to/file%20name.txt', modernRevision],
      ['tools/call', 'a b', modernRevision],
      ['tools/list', undefined, modernRevision],
    ])
    expect(new Set(server.arrived.map(({ body }) => body['id'])).size).toBe(5)
    for (const { headers, body } of posts) {
      expect(headers).toMatchObject({
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      })
      expect(Array.isArray(body)).toBe(false)
      expect(headers['mcp-session-id']).toBeUndefined()
    }
  })

  test('B4, MH-HDR-07, MH-ENC-02, MH-ENC-07: a name that looks like the sentinel, or could break a header, is encoded', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url)
    for (const name of ['=?base64?QUJD?=', 'a\r\nX-Evil: 1', 'é']) {
      await client.tool(name)
      const { headers, body } = server.arrived.at(-1) as Arrived
      const [, encoded = ''] = /^=\?base64\?(.*)\?=$/.exec(headers['mcp-name'] ?? '') ?? []
      expect(Buffer.from(encoded, 'base64').toString()).toBe(name)
      expect((body['params'] as JsonObject)['name']).toBe(name)
      expect(headers['x-evil']).toBeUndefined()
    }
  })

  test('A-58: a name that no header can hold is refused here, and nothing is sent', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url)
    expect(await failureOf(client.tool('x'.repeat(9_000)))).toMatchObject({ reason: 'too-long' })
    expect(server.calls('tools/call')).toEqual([])
  })

  test('MH-POST-08: every request may be answered with JSON or a stream', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        if (server.arrived.length % 2 === 0)
          return json(response, 200, resultOf(arrived, done), { 'content-type': 'Application/JSON; charset="UTF-8"' })
        stream(response)
        response.end(event(resultOf(arrived, done)))
      }),
    )
    await using client = await connect(server.url)
    for (let index = 0; index < 4; index++) expect(await client.tool('a')).toMatchObject(done)
  })

  test('A-10: an error of the server counts with any status, and data comes with it', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) =>
        json(response, arrived.rpcId % 2 ? 404 : 200, errorOf(arrived, -32_601, 'no such', { a: 1 })),
      ),
    )
    await using client = await connect(server.url)
    for (let index = 0; index < 2; index++) {
      const failure = await failureOf(client.call('foo/bar'))
      expect(RpcError.is(failure)).toBe(true)
      expect(failure).toMatchObject({ code: -32_601, message: 'no such', data: { a: 1 } })
    }
  })

  test('A-19, MC-MSG-10: a notification carries the headers too; a cancel of another hop is not passed on', async () => {
    await using server = await scriptedServer(modern((_arrived, response) => plain(response, 202)))
    await using client = await connect(server.url)
    const { createCallerContext } = await import('@atenea/mcpcompat/transport')
    await client.connection.notify({ method: 'notifications/custom', params: { a: 1 } }, createCallerContext())
    await client.connection.notify(
      { method: 'notifications/cancelled', params: { requestId: 1 } },
      createCallerContext(),
    )
    expect(server.arrived.slice(1)).toMatchObject([
      {
        headers: { 'mcp-method': 'notifications/custom', 'mcp-protocol-version': modernRevision },
        body: { method: 'notifications/custom', params: { a: 1 } },
      },
    ])
  })

  test('connections are used again', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        if (arrived.body['method'] === 'tools/list')
          return json(response, 200, resultOf(arrived, { resultType: 'complete', tools: [] }))
        stream(response)
        response.write(event(resultOf(arrived, done)))
        response.end()
      }),
    )
    await using client = await connect(server.url)
    for (let index = 0; index < 5; index++) {
      await client.tool('a')
      await client.call('tools/list')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(new Set(server.arrived.map(({ socket }) => socket)).size).toBe(1)
  })

  test('a caller may want the payload as source text, digit by digit', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(
          `{"jsonrpc":"2.0","id":${arrived.rpcId},"result":{"resultType":"complete","n":9007199254740993,"content":[]}}`,
        )
      }),
    )
    await using client = await connect(server.url, { payload: 'text' })
    const outcome = await client.call('tools/call', { name: 'a' })
    if (outcome.kind !== 'result') throw new Error(outcome.kind)
    const { toText } = await import('@atenea/mcpcompat')
    expect(toText(outcome.value)).toContain('9007199254740993')
  })
})

describe('what comes on a stream', () => {
  test('MC-MSG-09, MC-PROG-04, E8: only what the call asked for reaches its caller; the rest is dropped and the stream goes on', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        const { id } = arrived.body
        const token = (params(arrived)['_meta'] as JsonObject)['progressToken']
        const note = (method: string, noteParams: JsonObject): string =>
          event({ jsonrpc: '2.0', method, params: noteParams })
        stream(response)
        response.write(': keep-alive\n\n')
        response.write(note('notifications/progress', { progressToken: token ?? null, progress: 1 }))
        response.write(note('notifications/progress', { progressToken: token ?? null, progress: 1 }))
        response.write(note('notifications/progress', { progressToken: 'other', progress: 5 }))
        response.write(note('notifications/progress', { progressToken: token ?? null, progress: 2 }))
        response.write(note('notifications/message', { level: 'debug', data: 'quiet' }))
        response.write(note('notifications/message', { level: 'error', data: 'loud' }))
        response.write(note('notifications/tools/list_changed', {}))
        response.write(note('notifications/x.example/own', { a: 1 }))
        response.write('data: {not json\n\n')
        response.write(event({ jsonrpc: '2.0', id: 'q', method: 'roots/list' }))
        response.write(event({ jsonrpc: '2.0', id: 12_345, result: {} }))
        response.end(event({ jsonrpc: '2.0', id: id as number, result: done }))
      }),
    )
    await using client = await connect(server.url)
    const notices: Call[] = []
    const result = await client.tool(
      'a',
      {},
      { progressToken: 'mine', logLevel: 'warning', onNotice: (notice) => void notices.push(notice) },
    )
    expect(result).toMatchObject(done)
    expect(notices).toEqual([
      { method: 'notifications/progress', params: { progress: 1 } },
      { method: 'notifications/progress', params: { progress: 2 } },
      { method: 'notifications/message', params: { level: 'error', data: 'loud' } },
      { method: 'notifications/x.example/own', params: { a: 1 } },
    ])
    // MC-MSG-10: no response went back
    expect(server.arrived).toHaveLength(2)
    expect(client.diagnostics.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['unexpected-request', 'not-a-message', 'unknown-id']),
    )
  })

  test('D19: an answer that is no JSON ends its call, also where the stream stays open', async () => {
    await using server = await scriptedServer(
      modern(({ body }, response) => {
        stream(response)
        const { id } = body as { id: number }
        response.write(`data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"x":NaN}}\n\n`)
      }),
    )
    await using client = await connect(server.url)
    await expect(client.tool('a')).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('unexpected character'),
    })
  })

  test('a caller that is slow to take notices holds the stream up', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        stream(response)
        for (let index = 0; index < 5; index++)
          response.write(
            event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: index } }),
          )
        response.end(event(resultOf(arrived, done)))
      }),
    )
    await using client = await connect(server.url)
    let open = 0
    let most = 0
    const onNotice = async (): Promise<void> => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 5))
      open--
    }
    await client.tool('a', {}, { logLevel: 'error', onNotice })
    expect(most).toBe(1)
  })

  test.each([
    ['ends', (response: Parameters<Script>[1]) => response.end()],
    ['breaks', (response: Parameters<Script>[1]) => response.destroy()],
  ])(
    'MH-SSE-09, MC-ID-04, F11: a stream that %s without an answer fails the call at once, and it is not made again',
    async (_name, endIt) => {
      await using server = await scriptedServer(
        modern((_arrived, response) => {
          stream(response)
          response.write(
            event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 1 } }),
            () => endIt(response),
          )
        }),
      )
      await using client = await connect(server.url)
      const failure = await failureOf(client.tool('counts'))
      expect(failure).toMatchObject({ kind: 'unknown-outcome', retryable: false })
      expect(TransportError.is(failure)).toBe(true)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(server.calls('tools/call')).toHaveLength(1)
    },
  )

  test('C14: a message beyond the limit fails the call; one below passes', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        const text = 'x'.repeat(Number((params(arrived)['arguments'] as JsonObject)['size']))
        const result = { ...done, content: [{ type: 'text', text }] }
        if (params(arrived)['name'] === 'json') return json(response, 200, resultOf(arrived, result))
        stream(response)
        response.end(event(resultOf(arrived, result)))
      }),
    )
    await using client = await connect(server.url, { maxMessageBytes: 10_000 })
    for (const name of ['json', 'stream']) {
      expect(await client.tool(name, { size: 9_000 })).toMatchObject({ resultType: 'complete' })
      expect(await failureOf(client.tool(name, { size: 11_000 }))).toMatchObject({ kind: 'too-large' })
    }
  })
})

describe('cancelling', () => {
  test('B13, MC-CANC-01, MC-CANC-03, MH-SSE-10: closes the stream, at once, and says nothing', async () => {
    await using server = await scriptedServer(modern((_arrived, response) => stream(response)))
    await using client = await connect(server.url)
    const stop = new AbortController()
    const reason = new Error('enough')
    const failing = failureOf(client.tool('slow', {}, { signal: stop.signal }))
    await until(() => server.calls('tools/call').length === 1)
    stop.abort(reason)
    expect(await failing).toBe(reason)
    await server.calls('tools/call')[0]?.closed
    expect(server.arrived).toHaveLength(2)
  })

  test('and works before an answer has begun', async () => {
    await using server = await scriptedServer(modern(() => undefined))
    await using client = await connect(server.url)
    const stop = new AbortController()
    const failing = failureOf(client.tool('slow', {}, { signal: stop.signal }))
    await until(() => server.calls('tools/call').length === 1)
    stop.abort(new Error('enough'))
    expect(await failing).toMatchObject({ message: 'enough' })
    await server.calls('tools/call')[0]?.closed
  })

  test('MC-TMO-01, MC-TMO-02: every call has a limit, subscriptions aside', async () => {
    await using server = await scriptedServer(modern((_arrived, response) => stream(response)))
    await using client = await connect(server.url, { callTimeoutMs: 50 })
    const listening = client.call('subscriptions/listen', { notifications: {} })
    listening.catch(() => undefined)
    expect(await failureOf(client.tool('slow'))).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('50 ms') as string,
    })
    await server.calls('tools/call')[0]?.closed
    expect(await Promise.race([listening.then(() => 'over'), Promise.resolve('open')])).toBe('open')
  })
})

describe('subscriptions', () => {
  const listen = { notifications: { toolsListChanged: true } }
  const note = (method: string, noteParams: JsonObject, id: unknown): string =>
    event({
      jsonrpc: '2.0',
      method,
      params: { ...noteParams, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
    })

  test('MC-SUB-03, MC-SUB-10, MC-SUB-13: acknowledged first, ended by closing the stream; a stream that ends may be opened again', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        const { id } = arrived.body
        stream(response)
        response.write(note('notifications/tools/list_changed', {}, id))
        response.write(note('notifications/subscriptions/acknowledged', listen, id))
        response.write(note('notifications/tools/list_changed', {}, 'another'))
        response.write(note('notifications/tools/list_changed', {}, id))
        if (server.calls('subscriptions/listen').length === 2) response.end()
      }),
    )
    await using client = await connect(server.url)
    const notices: Call[] = []
    const stop = new AbortController()
    const failing = failureOf(
      client.call('subscriptions/listen', listen, {
        signal: stop.signal,
        onNotice: (notice) => void notices.push(notice),
      }),
    )
    await until(() => notices.length === 2)
    expect(notices.map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
    stop.abort(new Error('enough'))
    expect(await failing).toMatchObject({ message: 'enough' })
    await server.calls('subscriptions/listen')[0]?.closed
    expect(await failureOf(client.call('subscriptions/listen', listen))).toMatchObject({
      kind: 'closed',
      retryable: true,
    })
  })

  test('MC-SUB-11: its result, or the notice of its end, ends it in order', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        stream(response)
        response.write(note('notifications/subscriptions/acknowledged', listen, arrived.body['id']))
        if (server.calls('subscriptions/listen').length === 1)
          response.end(event(resultOf(arrived, { resultType: 'complete' })))
        else
          response.write(
            event({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: arrived.body['id'] } }),
          )
      }),
    )
    await using client = await connect(server.url)
    expect(await client.call('subscriptions/listen', listen)).toMatchObject({ kind: 'result' })
    expect(await client.call('subscriptions/listen', listen)).toMatchObject({ kind: 'result' })
  })
})

describe('headers of tools', () => {
  const schema = (properties: JsonObject): JsonObject => ({ type: 'object', properties })
  const region = schema({
    region: { type: 'string', 'x-mcp-header': 'Region' },
    deep: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
  })
  const listing = (tools: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    resultType: 'complete',
    tools,
    ttlMs: 0,
    cacheScope: 'private',
    ...more,
  })

  /** Offers one tool whose arguments are mirrored. */
  const oneTool = modern((arrived, response) => {
    const lists = arrived.body['method'] === 'tools/list'
    json(response, 200, resultOf(arrived, lists ? listing([{ name: 'a', inputSchema: region }]) : done))
  })

  test('MH-VAL-09, MH-VAL-06, MH-XMH-02, MH-XMH-10: a list that passes by teaches how arguments are mirrored', async () => {
    await using server = await scriptedServer(oneTool)
    await using client = await connect(server.url)
    await client.call('tools/list')
    expect(client.connection.view({ id: 'x', authenticated: true })).toMatchObject({
      capabilities: discovery['capabilities'],
    })
    const view = await client.connection.view({ id: 'x', authenticated: true })
    expect(view.headerPlan('a')?.declarations).toHaveLength(2)
    await client.tool('a', { region: 'zürich', deep: { n: -0 } })
    await client.tool('a', { region: null, deep: {} })
    const [first, second] = server.calls('tools/call')
    expect(first?.headers).toMatchObject({
      'mcp-param-region': `=?base64?${Buffer.from('zürich').toString('base64')}?=`,
      'mcp-param-n': '0',
    })
    expect(Object.keys(second?.headers ?? {}).filter((name) => name.startsWith('mcp-param'))).toEqual([])
  })

  test('B7, MH-XMH-11, MH-XMH-12: a bad annotation drops its tool, with a warning, and no other', async () => {
    const bad: readonly JsonObject[] = [
      { v: { type: 'string', 'x-mcp-header': '' } },
      { v: { type: 'string', 'x-mcp-header': 'A B' } },
      { v: { type: 'string', 'x-mcp-header': 'Ré' } },
      { v: { type: 'string', 'x-mcp-header': 'X\r\nY' } },
      { v: { type: 'number', 'x-mcp-header': 'V' } },
      { v: { type: 'array', items: { type: 'string', 'x-mcp-header': 'V' } } },
      { v: { oneOf: [{ type: 'string', 'x-mcp-header': 'V' }] } },
      { v: { type: 'string', 'x-mcp-header': 'Region' }, w: { type: 'string', 'x-mcp-header': 'REGION' } },
    ]
    const tools = [
      ...bad.map((properties, index) => ({ name: `bad-${index}`, inputSchema: schema(properties) })),
      { name: 'good', 'x-1': 1, inputSchema: region },
    ]
    await using server = await scriptedServer(
      modern((arrived, response) =>
        json(response, 200, resultOf(arrived, listing(tools, { nextCursor: 'c', _meta: { a: 1 } }))),
      ),
    )
    for (const payload of ['parsed', 'text'] as const) {
      await using client = await connect(server.url, { payload })
      const outcome = await client.call('tools/list')
      if (outcome.kind !== 'result') throw new Error(outcome.kind)
      const { toObject } = await import('@atenea/mcpcompat')
      expect(toObject(outcome.value)).toMatchObject({ tools: [tools.at(-1)], nextCursor: 'c', _meta: { a: 1 } })
      const dropped = client.diagnostics.filter(({ code }) => code === 'tool-dropped')
      expect(dropped.map(({ message }) => /"bad-\d"/.exec(message)?.[0])).toEqual(
        bad.map((_, index) => `"bad-${index}"`),
      )
    }
  })

  test('B8, A-17, MH-VAL-10: an unknown plan is not asked for; -32020 leads to a look at all pages and one retry under a new id', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        if (arrived.body['method'] === 'tools/list') {
          const second = params(arrived)['cursor'] === 'p2'
          return json(
            response,
            200,
            resultOf(
              arrived,
              second ? listing([{ name: 'a', inputSchema: region }]) : listing([], { nextCursor: 'p2' }),
            ),
          )
        }
        if (arrived.headers['mcp-param-region'] === 'eu') json(response, 200, resultOf(arrived, done))
        else json(response, 400, errorOf(arrived, -32_020, 'The Mcp-Param-Region header is missing.'))
      }),
    )
    await using client = await connect(server.url)
    const both = await Promise.all([client.tool('a', { region: 'eu' }), client.tool('a', { region: 'eu' })])
    expect(both).toMatchObject([done, done])
    expect(server.calls('tools/list')).toHaveLength(2) // two pages, once for both
    const ids = server.calls('tools/call').map(({ body }) => body['id'])
    expect([ids.length, new Set(ids).size]).toEqual([4, 4])
  })

  test('A-17: when the tool is in no list, or its headers were right, the first error stands', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        if (arrived.body['method'] === 'tools/list')
          json(response, 200, resultOf(arrived, listing([{ name: 'b', inputSchema: region }])))
        else json(response, 400, errorOf(arrived, -32_020, 'mismatch'))
      }),
    )
    await using client = await connect(server.url)
    expect(await failureOf(client.tool('a', { region: 'eu' }))).toMatchObject({ code: -32_020, message: 'mismatch' })
    expect(server.calls('tools/call')).toHaveLength(1)
  })

  test('MH-INT-01, A20: what the hop before us sent for parameters that are not planned follows the call; nothing else of it does', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url)
    await client.tool(
      'a',
      {},
      {
        hints: {
          'mcp-param-other': 'x',
          'mcp-name': 'wrong',
          'mcp-session-id': 's',
          authorization: 'Bearer front',
          'x-foreign': '1',
        },
      },
    )
    const [call] = server.calls('tools/call')
    expect(call?.headers).toMatchObject({ 'mcp-param-other': 'x', 'mcp-name': 'a' })
    expect([call?.headers['authorization'], call?.headers['x-foreign'], call?.headers['mcp-session-id']]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('A-18: an integer that no header can hold is refused here', async () => {
    await using server = await scriptedServer(oneTool)
    await using client = await connect(server.url)
    await client.call('tools/list')
    expect(await failureOf(client.tool('a', { deep: { n: 2 ** 53 } }))).toMatchObject({ reason: 'unsafe-integer' })
    expect(server.calls('tools/call')).toEqual([])
  })
})

describe('answers that are none', () => {
  test.each<readonly [string, Script, object]>([
    ['C16: other JSON', (_arrived, response) => json(response, 200, { Output: 1 }), { kind: 'protocol' }],
    [
      'C16: an error page',
      (_arrived, response) => plain(response, 502, `<html>${'x'.repeat(10_000)}`, { 'content-type': 'text/html' }),
      { kind: 'unknown-outcome', status: 502 },
    ],
    [
      'C16: a page with 200',
      (_arrived, response) => plain(response, 200, 'hello'),
      { kind: 'protocol', status: 200, message: expect.stringContaining('"hello"') as string },
    ],
    ['nothing', (_arrived, response) => plain(response, 202), { kind: 'unknown-outcome' }],
    ['an empty body', (_arrived, response) => json(response, 200, ''), { kind: 'protocol' }],
    ['C17: 413', (_arrived, response) => plain(response, 413), { kind: 'too-large', status: 413 }],
    [
      '404 without a message',
      (_arrived, response) => plain(response, 404),
      { kind: 'protocol', status: 404, message: expect.stringContaining('check the path') as string },
    ],
    [
      '429',
      (_arrived, response) => plain(response, 429, '', { 'retry-after': '7' }),
      { kind: 'unreachable', status: 429, retryAfterMs: 7_000, retryable: true },
    ],
    [
      '503 that says when',
      (_arrived, response) => plain(response, 503, '', { 'retry-after': '1' }),
      { kind: 'unreachable', status: 503, retryAfterMs: 1_000 },
    ],
    [
      '503 that does not',
      (_arrived, response) => plain(response, 503),
      { kind: 'unknown-outcome', status: 503, retryable: false },
    ],
    [
      'an answer to something else',
      (_arrived, response) => json(response, 200, { jsonrpc: '2.0', id: 'x', result: done }),
      { kind: 'protocol' },
    ],
  ])('%s', async (_name, script, expected) => {
    await using server = await scriptedServer(modern(script))
    await using client = await connect(server.url)
    const failure = await failureOf(client.tool('a'))
    expect(failure).toMatchObject(expected)
    expect(failure.message.length).toBeLessThan(500)
    expect(server.calls('tools/call')).toHaveLength(1)
  })

  test('A7: 401 and 403 on a call are for whoever has the credentials', async () => {
    await using server = await scriptedServer(
      modern((_arrived, response) => plain(response, 401, 'who are you', { 'www-authenticate': 'Bearer realm="x"' })),
    )
    await using client = await connect(server.url)
    const failure = await failureOf(client.tool('a'))
    expect(HttpAuthError.is(failure) && failure.challenges.map(({ scheme }) => scheme)).toEqual(['bearer'])
    expect(client.connection.verdict).toMatchObject({ era: 'modern' })
  })

  test('Retry-After: what changes nothing is asked again once, anything else is not', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) => {
        const count = server.calls(arrived.rpcMethod).length
        if (count === 1) plain(response, 503, '', { 'retry-after': '0' })
        else json(response, 200, resultOf(arrived, { resultType: 'complete', tools: [] }))
      }),
    )
    await using client = await connect(server.url)
    expect(await client.call('tools/list')).toMatchObject({ kind: 'result' })
    const failure = await failureOf(client.tool('a'))
    expect(HttpStatusError.is(failure) && failure.retryAfterMs).toBe(0)
    expect(server.calls('tools/call')).toHaveLength(1)
  })
})

describe('C19: redirects', () => {
  const elsewhere =
    (status: number, location: string): Script =>
    (arrived, response) => {
      if (arrived.path === '/mcp/')
        json(response, 200, resultOf(arrived, arrived.body['method'] === 'server/discover' ? discovery : done))
      else plain(response, status, '', { location })
    }

  test.each([307, 308])('H06: %i within the origin is followed with the request whole', async (status) => {
    await using server = await scriptedServer(elsewhere(status, '/mcp/'))
    await using client = await connect(server.url, { authorization: () => 'Bearer abc' })
    expect(await client.tool('a', { x: 1 })).toMatchObject(done)
    const last = server.arrived.at(-1)
    expect(last).toMatchObject({
      path: '/mcp/',
      method: 'POST',
      headers: { authorization: 'Bearer abc', 'mcp-name': 'a' },
      body: { params: { arguments: { x: 1 } } },
    })
    // the connection knows the way by then
    expect(server.arrived.filter(({ path }) => path === '/mcp')).toHaveLength(1)
  })

  test.each([
    [301, '/mcp/', /slash at its end/],
    [302, 'https://127.0.0.1/mcp', /https where http|another origin/],
    [303, '/other', /POST would become a GET/],
    [307, '/mcp', /circles/],
  ])('H07: %i to %s is an error that says what to configure', async (status, location, words) => {
    await using server = await scriptedServer((_arrived, response) => plain(response, status, '', { location }))
    const failure = await failureOf(connect(server.url))
    if (!HttpRedirectError.is(failure)) throw failure
    expect(failure).toMatchObject({ kind: 'protocol', status, message: expect.stringMatching(words) as string })
  })

  test('MC-AUTH-05: nothing goes to another origin, least of all the credentials', async () => {
    await using other = await scriptedServer(answersAll)
    await using server = await scriptedServer((_arrived, response) => plain(response, 308, '', { location: other.url }))
    const failure = await failureOf(connect(server.url, { authorization: () => 'Bearer abc' }))
    expect(HttpRedirectError.is(failure)).toBe(true)
    expect(other.arrived).toEqual([])
    await using later = await scriptedServer(
      modern((_arrived, response) => plain(response, 307, '', { location: other.url })),
    )
    await using client = await connect(later.url, { authorization: () => 'Bearer abc' })
    expect(HttpRedirectError.is(await failureOf(client.tool('a')))).toBe(true)
    expect(other.arrived).toEqual([])
  })

  test('a loop within the origin ends after one step', async () => {
    await using server = await scriptedServer(
      modern((_arrived, response) => plain(response, 307, '', { location: '/mcp' })),
    )
    await using client = await connect(server.url)
    expect(HttpRedirectError.is(await failureOf(client.tool('a')))).toBe(true)
    expect(server.calls('tools/call')).toHaveLength(2)
  })
})

describe('what a caller adds', () => {
  test('MC-AUTH-02: the token is asked for with each request and goes into its header', async () => {
    await using server = await scriptedServer(modern(answersAll))
    let count = 0
    await using client = await connect(server.url, {
      authorization: async () => await Promise.resolve(`Bearer t${++count}`),
    })
    await client.tool('a')
    await client.tool('a')
    expect(server.arrived.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer t1',
      'Bearer t2',
      'Bearer t3',
    ])
    expect(server.arrived.every(({ path }) => path === '/mcp')).toBe(true)
  })

  test('MC-REQ-03: a caller that does not say who it is goes by our name', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url)
    await client.tool('a', {}, { peer: { capabilities: { roots: {} } } })
    expect(params(server.arrived.at(-1) as Arrived)['_meta']).toMatchObject({
      'io.modelcontextprotocol/clientInfo': { name: 'me', version: '2.0.0' },
      'io.modelcontextprotocol/clientCapabilities': { roots: {} },
    })
  })

  test('credentials of the URL become a field, and leave the URL', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url.replace('http://', 'http://us%65r:p%C3%A9@'))
    await client.tool('a')
    expect(server.arrived.map(({ headers }) => headers['authorization'])).toEqual(
      Array.from({ length: 2 }, () => `Basic ${Buffer.from('user:pé').toString('base64')}`),
    )
  })

  test('credentials that are not UTF-8, or hold a percent sign that begins nothing, are sent byte by byte', async () => {
    await using server = await scriptedServer(modern(answersAll))
    await using client = await connect(server.url.replace('http://', 'http://50%:%FF%zz@'))
    await client.tool('a')
    const bytes = Buffer.concat([Buffer.from('50%:'), Buffer.from([0xff]), Buffer.from('%zz')])
    expect(server.arrived.at(-1)?.headers['authorization']).toBe(`Basic ${bytes.toString('base64')}`)
  })

  test('its fields are sent, but never in place of those of the protocol', async () => {
    await using server = await scriptedServer(modern(answersAll))
    const headers = {
      'X-Api-Key': 'k',
      'Mcp-Method': 'evil',
      'MCP-Protocol-Version': 'x',
      Accept: '*/*',
      'Content-Type': 'text/plain',
      'Mcp-Param-A': 'x',
      Host: 'evil',
      'Content-Length': '1',
    }
    await using client = await connect(server.url, { headers })
    await client.tool('a')
    expect(server.arrived.at(-1)?.headers).toMatchObject({
      'x-api-key': 'k',
      'mcp-method': 'tools/call',
      'mcp-protocol-version': modernRevision,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      host: `127.0.0.1:${server.port}`,
    })
    expect(server.arrived.at(-1)?.headers['mcp-param-a']).toBeUndefined()
    expect(client.diagnostics.filter(({ code }) => code === 'header-ignored')).toHaveLength(7)
  })

  test('a field that would break out of its line is refused before anything is sent', async () => {
    await using server = await scriptedServer(modern(answersAll))
    expect(await failureOf(connect(server.url, { headers: { 'x-a': 'b\r\nx-c: d' } }))).toBeInstanceOf(TypeError)
    expect(server.arrived).toEqual([])
  })

  test('F16: no secret of ours is in a message, even when the server repeats it', async () => {
    await using server = await scriptedServer(
      modern((arrived, response) =>
        plain(response, 500, `bad token ${arrived.headers['authorization']} and ${arrived.headers['x-api-key']}`),
      ),
    )
    const url = `${server.origin.replace('http://', 'http://user:pass-zzz@')}/mcp?key=zzz-query`
    await using client = await connect(url, {
      headers: { 'x-api-key': 'zzz-api-key' },
      authorization: () => 'Bearer zzz-token',
    })
    const failure = await failureOf(client.tool('a'))
    expect(failure.message).toContain('[redacted]')
    expect(failure.message).not.toContain('zzz')
  })
})
