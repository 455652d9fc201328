import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRevisionPolicy, type JsonObject, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { type BackendOptions, createPassthrough, type Passthrough } from '@atenea/passthrough'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend, type HttpListener, listenHttp } from '@atenea/transport-http/node'
import { afterEach, expect, test } from 'vitest'
import { modernMeta, postFields } from './_util/http-client.ts'

interface Seen {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly params: JsonObject
}

interface RawBackend extends AsyncDisposable {
  readonly options: BackendOptions
  readonly seen: Seen[]
  tools: JsonObject[]
  /** Answers a request in place of what is usual. */
  answer: ((seen: Seen) => { readonly status: number; readonly body: JsonObject } | undefined) | undefined
}

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]()
})

/** A server over HTTP that shows which headers reach it. */
async function backend(
  name: string,
  era: 'modern' | 'legacy',
  options: Partial<BackendOptions> = {},
): Promise<RawBackend> {
  const server: Server = createServer()
  const send = createNodeSend()
  const raw: RawBackend = {
    seen: [],
    tools: [],
    answer: undefined,
    options: {
      name,
      ...options,
      connect: (given) =>
        connectHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, {
          ...given,
          send,
          payload: 'text',
        }),
    },
    async [Symbol.asyncDispose]() {
      send[Symbol.dispose]()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  server.on('request', (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const write = (status: number, body?: JsonObject): void => {
        const session = era === 'legacy' ? { 'mcp-session-id': `secret-of-${name}` } : {}
        response.writeHead(status, { 'content-type': 'application/json', ...session })
        response.end(body === undefined ? undefined : JSON.stringify(body))
      }
      if (request.method !== 'POST') return write(405)
      const { id, method, params = {} } = JSON.parse(text) as { id?: number; method: string; params?: JsonObject }
      if (id === undefined) return write(202)
      const error = (status: number, code: number): void =>
        write(status, { jsonrpc: '2.0', id, error: { code, message: 'm' } })
      const result = (value: JsonObject): void => write(200, { jsonrpc: '2.0', id, result: value })
      const one: Seen = { method, headers: request.headers, params }
      raw.seen.push(one)
      if (method === 'server/discover') {
        if (era === 'legacy') return error(404, -32_601)
        return result({
          resultType: 'complete',
          supportedVersions: [modernRevision],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: 'private',
        })
      }
      if (method === 'initialize') {
        return result({
          protocolVersion: legacyRevision,
          capabilities: { tools: {} },
          serverInfo: { name, version: '1' },
        })
      }
      const own = raw.answer?.(one)
      if (own !== undefined) return write(own.status, { jsonrpc: '2.0', id, ...own.body })
      if (method === 'tools/list') return result({ resultType: 'complete', tools: raw.tools })
      return result({ resultType: 'complete', content: [] })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push(raw)
  return raw
}

async function proxied(
  backends: readonly RawBackend[],
): Promise<{ readonly listener: HttpListener; readonly passthrough: Passthrough }> {
  const passthrough = createPassthrough({
    backends: backends.map(({ options }) => options),
    policy: createRevisionPolicy(),
    info: { name: 'proxy', version: '0' },
  })
  const listener = await listenHttp(passthrough, { policy: createRevisionPolicy(), payload: 'text' })
  opened.push(passthrough, { [Symbol.asyncDispose]: () => listener.close({ timeoutMs: 0 }) })
  return { listener, passthrough }
}

async function call(
  { url }: HttpListener,
  method: string,
  params: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Promise<{
  readonly status: number
  readonly body: { readonly result?: JsonObject; readonly error?: JsonObject }
  readonly headers: Headers
}> {
  const name = params['name']
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...postFields,
      'mcp-protocol-version': modernRevision,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modernMeta } }),
  })
  return {
    status: response.status,
    body: (await response.json()) as { result?: JsonObject },
    headers: response.headers,
  }
}

const toolWith = (name: string, properties: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: 'object', properties },
})
const region = { region: { type: 'string', 'x-mcp-header': 'Region' } }

test('A20, BR-302, MH-INT-01: headers are made anew for each hop, by the names that it knows; unknown ones follow the arguments', async () => {
  const a = await backend('a', 'modern')
  const b = await backend('b', 'modern', { rename: { tools: new Map([['go', 'travel']]) } })
  a.tools = [toolWith('go', region)]
  b.tools = [toolWith('go')]
  const { listener } = await proxied([a, b])
  const hop = {
    'mcp-session-id': 'theirs',
    'last-event-id': '7',
    forwarded: 'for=1.2.3.4',
    'x-forwarded-for': '1.2.3.4',
    authorization: 'Bearer theirs',
  }
  const first = { name: 'a__go', arguments: { region: 'eu' } }
  expect(
    (await call(listener, 'tools/call', first, { ...hop, 'mcp-param-region': 'eu', 'mcp-param-else': 'x' })).status,
  ).toBe(200)
  expect((await call(listener, 'tools/call', { name: 'travel', arguments: {} }, hop)).status).toBe(200)
  const [toA, toB] = [a, b].map(({ seen }) => seen.find(({ method }) => method === 'tools/call'))
  expect(toA?.params['name']).toBe('go')
  expect(toA?.headers).toMatchObject({
    'mcp-name': 'go',
    'mcp-method': 'tools/call',
    'mcp-param-region': 'eu',
    'mcp-param-else': 'x',
  })
  expect(toB?.headers).toMatchObject({ 'mcp-name': 'go', 'mcp-protocol-version': modernRevision })
  for (const seen of [toA, toB]) for (const name of Object.keys(hop)) expect(seen?.headers).not.toHaveProperty(name)
})

test('A20, A19, BR-213, F13: nothing of a modern client’s hop reaches the handshake of a legacy backend beside a modern one, nor back', async () => {
  const old = await backend('old', 'legacy')
  const young = await backend('young', 'modern')
  old.tools = [toolWith('go')]
  young.tools = [toolWith('go')]
  const { listener } = await proxied([old, young])
  const { body, headers } = await call(
    listener,
    'tools/call',
    { name: 'old__go', arguments: {} },
    { authorization: 'Bearer theirs' },
  )
  expect(body.result).toMatchObject({ resultType: 'complete' })
  expect(headers.get('mcp-session-id')).toBeNull()
  expect((await call(listener, 'tools/call', { name: 'young__go', arguments: {} })).body.result).toBeDefined()
  const handshake = old.seen.find(({ method }) => method === 'initialize')
  expect(
    Object.keys(handshake?.headers ?? {}).filter((name) => name.startsWith('mcp-') || name === 'authorization'),
  ).toEqual([])
  const called = old.seen.find(({ method }) => method === 'tools/call')
  expect(called?.headers).toMatchObject({ 'mcp-protocol-version': legacyRevision, 'mcp-session-id': 'secret-of-old' })
  expect(called?.headers).not.toHaveProperty('mcp-name')
  expect(JSON.stringify(young.seen)).not.toContain('secret-of-old')
})

test('B8: a backend that mirrors more than it did is read again and called once more', async () => {
  const a = await backend('a', 'modern')
  a.tools = [toolWith('go')]
  const { listener } = await proxied([a, await backend('b', 'modern')])
  const params = { name: 'a__go', arguments: { region: 'eu' } }
  expect((await call(listener, 'tools/call', params)).status).toBe(200)
  a.tools = [toolWith('go', region)]
  a.answer = ({ method, headers }) =>
    method === 'tools/call' && headers['mcp-param-region'] === undefined
      ? { status: 400, body: { error: { code: -32_020, message: 'The Mcp-Param-Region header is missing.' } } }
      : undefined
  expect((await call(listener, 'tools/call', params)).body.result).toMatchObject({ resultType: 'complete' })
  expect(a.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(3)
})

test('MH-VAL-01, MH-INT-02: a header that contradicts its argument is refused by the proxy, under the name that the client uses', async () => {
  const a = await backend('a', 'modern')
  a.tools = [toolWith('go', region)]
  const { listener } = await proxied([a, await backend('b', 'modern')])
  const params = { name: 'a__go', arguments: { region: 'eu' } }
  for (const headers of [{ 'mcp-param-region': 'us' }, {}, { 'mcp-param-region': 'us' }] as Record<string, string>[]) {
    const { status, body } = await call(listener, 'tools/call', params, headers)
    expect([status, body.error?.['code']]).toEqual([400, -32_020])
  }
  expect(a.seen.filter(({ method }) => method === 'tools/call')).toEqual([])
  // a name that is not the one in the body is refused before anything else
  const { status } = await call(listener, 'tools/call', params, { 'mcp-name': 'go', 'mcp-param-region': 'eu' })
  expect(status).toBe(400)
})

test.each([
  ['too long for a header', 'x'.repeat(9_000), 'at most 8192 are sent'],
  ['half of a surrogate pair', '\ud800', 'half of a surrogate pair'],
])(
  'A-58, MH-ENC-07: a name that no header of the backend can hold (%s) is the caller’s to mend',
  async (_what, value, reason) => {
    const a = await backend('a', 'modern')
    a.tools = [toolWith('go', region)]
    const { passthrough } = await proxied([a])
    const params = { name: value, arguments: {} }
    const called = async (): Promise<unknown> =>
      await passthrough.call({ method: 'tools/call', params }, createCallerContext())
    await expect(called()).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining(reason),
    })
    expect(a.seen.filter(({ method }) => method === 'tools/call')).toEqual([])
  },
)
