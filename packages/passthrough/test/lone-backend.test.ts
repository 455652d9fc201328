import { type CallContext, type JsonObject, modernRevision, rpcCode } from '@atenea/mcpcompat'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { namesIn, offer, type Offering, type OfferingBackend, tool } from './_util/offering.ts'
import { createRig, endAll, errorOf, type FrontClient, type Kind, type Rig } from './_util/rig.ts'
import type { BackendPolicy } from '../src/index.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

const hour = ',"ttlMs":3600000,"cacheScope":"private"'

async function alone(
  offering: Offering,
  options: Parameters<typeof offer>[2] = {},
  front: Kind = 'modern',
): Promise<{ readonly backend: OfferingBackend; readonly rig: Rig; readonly client: FrontClient }> {
  const backend = offer('a', offering, options)
  const rig = createRig([backend])
  return { backend, rig, client: await rig.client(front) }
}

describe('one backend stays as it is', () => {
  test('BR-104, MC-PAGE-02: pages, cursors, names and bytes', async () => {
    const tools = [tool('a__x', ',"x-1":1.0'), tool('log', ',"big":9007199254740993')]
    const { client } = await alone({ tools, pageSize: 1, around: ', "x-2": [ 1e400 ]' })
    const first = await client.ask('tools/list')
    expect(first.text).toContain(`"tools":[${tools[0]}],"nextCursor":"1", "x-2": [ 1e400 ]`)
    const second = await client.ask('tools/list', { cursor: '1' })
    expect(second.text).toContain(`"tools":[${tools[1]}], "x-2": [ 1e400 ]`)
    const call = await client.ask('tools/call', { name: 'a__x', arguments: {} })
    expect(call.value.result?.['structuredContent']).toMatchObject({ params: { name: 'a__x' } })
  })

  test('MC-CACHE-05: params that nobody here knows reach the backend, and are asked for each by itself', async () => {
    const { client, backend } = await alone({ tools: [tool('x')], around: hour })
    await client.ask('tools/list')
    await turn()
    for (const params of [{}, { 'x-filter': 'a' }, { 'x-filter': 'b' }, { 'x-filter': 'a' }, {}]) {
      await client.ask('tools/list', params)
    }
    const asked = backend.requests.filter(({ method }) => method === 'tools/list')
    expect(asked.map(({ params }) => params?.['x-filter'])).toEqual([undefined, undefined, 'a', 'b'])
  })

  test('BR-112: progress of a list reaches its reader', async () => {
    const { client } = await alone({
      answer: ({ method, params }, wire) => {
        if (method !== 'tools/list') return 'as usual'
        const { progressToken } = (params?.['_meta'] ?? {}) as { progressToken: number }
        wire.write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } })
        return { resultType: 'complete', tools: [] }
      },
    })
    const id = client.send('tools/list', {}, { progressToken: 'mine' })
    const { value } = await client.next(({ method }) => method === 'notifications/progress')
    expect(value.params).toEqual({ progressToken: 'mine', progress: 1 })
    expect((await client.answerTo(id)).value.result?.['tools']).toEqual([])
  })

  test('BR-238, MC-PAGE-07: a refused cursor is the backend’s to refuse', async () => {
    const { client } = await alone({
      answer: ({ method, id }, wire) => {
        if (method !== 'tools/list') return 'as usual'
        wire.write(errorOf(id, -32_602, 'No such cursor', { 'x-1': 1 }))
        return undefined
      },
    })
    const { value } = await client.ask('tools/list', { cursor: '' })
    expect(value.error).toEqual({ code: -32_602, message: 'No such cursor', data: { 'x-1': 1 } })
  })

  test('calls are made without a look at any list', async () => {
    const { client, backend } = await alone({ tools: [] })
    await client.ask('tools/call', { name: 'unlisted', arguments: {} })
    await client.ask('prompts/get', { name: 'unlisted' })
    await client.ask('resources/read', { uri: 'x://unlisted' })
    expect(backend.requests.map(({ method }) => method)).toEqual(['tools/call', 'prompts/get', 'resources/read'])
  })

  test('BR-304: hints pass, and what is kept is good for what is left of its time', async () => {
    const { client, backend } = await alone({ tools: [tool('x')], around: hour })
    expect((await client.ask('tools/list')).value.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'private' })
    await turn() // its changes are followed now, so that what was read before is read once more
    await client.ask('tools/list')
    await new Promise((resolve) => setTimeout(resolve, 20))
    const { value } = await client.ask('tools/list')
    expect(value.result?.['ttlMs']).toBeLessThan(3_599_990)
    expect(value.result?.['ttlMs']).toBeGreaterThan(3_590_000)
    expect(backend.count('tools/list')).toBe(2)
    backend.tell('notifications/tools/list_changed')
    await turn()
    await client.ask('tools/list')
    expect(backend.count('tools/list')).toBe(3)
  })

  test('MC-CACHE-06: other methods are never answered from what is kept', async () => {
    const { client, backend } = await alone({ around: hour })
    for (let i = 0; i < 2; i++) await client.ask('resources/read', { uri: 'x://y' })
    expect(backend.count('resources/read')).toBe(2)
  })

  test('MC-CACHE-11, MC-CACHE-12: nothing is asked for by the clock', async () => {
    const { client, backend } = await alone({ tools: [tool('x')], around: ',"ttlMs":10,"cacheScope":"public"' })
    await client.ask('tools/list')
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(backend.count('tools/list')).toBe(1)
  })

  test('B7: a bad tool is left out alone; everything else stays byte for byte', async () => {
    const bad =
      '{"name":"bad","inputSchema":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"A B"}}}}'
    const { client, rig } = await alone({ tools: [tool('x', ',"e":1e400'), bad, tool('y')], around: ',"x-1": 1.0' })
    expect((await client.ask('tools/list')).text).toContain(
      `"tools":[${tool('x', ',"e":1e400')},${tool('y')}],"x-1": 1.0`,
    )
    expect(rig.events.filter(({ kind }) => kind === 'list')).toMatchObject([{ code: 'tool-dropped', names: ['bad'] }])
  })

  test('one of two readers leaves: the other gets the list, and the backend is not told', async () => {
    const { client, backend, rig } = await alone({
      answer: ({ method }) => (method === 'tools/list' ? undefined : 'as usual'),
    })
    const other = await rig.client('modern')
    const first = client.send('tools/list')
    const second = other.send('tools/list')
    await expect.poll(() => backend.count('tools/list')).toBe(1)
    client.notify('notifications/cancelled', { requestId: first })
    await turn()
    expect((await backend.wire.rest()).map(({ method }) => method)).not.toContain('notifications/cancelled')
    backend.wire.write(
      `{"jsonrpc":"2.0","id":${String(backend.requests[0]?.id)},"result":{"resultType":"complete","tools":[]}}`,
    )
    expect((await other.answerTo(second)).value.result?.['tools']).toEqual([])
  })

  test('B13: the only reader leaves: the backend is told', async () => {
    const { client, backend } = await alone({
      answer: ({ method }) => (method === 'tools/list' ? undefined : 'as usual'),
    })
    const id = client.send('tools/list')
    await expect.poll(() => backend.count('tools/list')).toBe(1)
    client.notify('notifications/cancelled', { requestId: id })
    const cancel = await backend.wire.next(({ method }) => method === 'notifications/cancelled')
    expect(cancel.value.params?.['requestId']).toBe(backend.requests[0]?.id)
  })
})

describe.each<Kind>(['modern', 'legacy'])('F5: what a %s client may use', (front) => {
  const items = {
    tools: [tool('safe'), tool('danger'), tool('danger2')],
    prompts: ['{"name":"safe"}', '{"name":"danger"}'],
    resources: ['{"uri":"x://safe","name":"n"}', '{"uri":"x://danger","name":"n"}'],
    templates: ['{"uriTemplate":"x://safe/{a}","name":"n"}', '{"uriTemplate":"x://danger/{a}","name":"n"}'],
  }
  const denied = { deny: ['*danger*'] }
  const allow: BackendPolicy = { tools: denied, prompts: denied, resources: denied }

  test('is all that is listed', async () => {
    const { client } = await alone(items, { allow }, front)
    const shown = async (method: string, member: string, key: string): Promise<readonly unknown[]> =>
      namesIn((await client.ask(method)).value.result, member, key)
    expect(await shown('tools/list', 'tools', 'name')).toEqual(['safe'])
    expect(await shown('prompts/list', 'prompts', 'name')).toEqual(['safe'])
    expect(await shown('resources/list', 'resources', 'uri')).toEqual(['x://safe'])
    expect(await shown('resources/templates/list', 'resourceTemplates', 'uriTemplate')).toEqual(['x://safe/{a}'])
  })

  const argument = { name: 'a', value: '' }

  test.each<[string, (name: string) => JsonObject]>([
    ['tools/call', (name) => ({ name, arguments: {} })],
    ['prompts/get', (name) => ({ name })],
    ['resources/read', (name) => ({ uri: `x://${name}` })],
    ['resources/read', (name) => ({ uri: `x://${name}/1` })],
    ['completion/complete', (name) => ({ ref: { type: 'ref/prompt', name }, argument })],
  ])(
    '%s: what is denied is answered word for word like what does not exist, and the backend is not asked',
    async (method, params) => {
      const missing = (message: string) => ({
        answer: (
          { method: called, id, params: sent }: { method: string; id?: unknown; params?: JsonObject },
          wire: { write(line: JsonObject): void },
        ) => {
          if (called !== 'resources/read' || JSON.stringify(sent).includes('safe')) return 'as usual' as const
          wire.write(errorOf(id, -32_602, message, { uri: sent?.['uri'] ?? null }))
          return undefined
        },
      })
      const { client, backend } = await alone({ ...items, ...missing('Nothing of that name here') }, { allow }, front)
      const denial = await client.ask(method, params('danger'))
      const unknown = await client.ask(method, params('nothing'))
      expect(denial.value.error?.code).toBe(front === 'legacy' && method === 'resources/read' ? -32_002 : -32_602)
      const neutral = (text: string): string => text.replaceAll(/danger|nothing/g, 'it').replace(/"id":\d+/, '"id":0')
      expect(neutral(denial.text)).toBe(neutral(unknown.text))
      expect(backend.requests.filter((request) => JSON.stringify(request).includes('danger'))).toEqual([])
      expect((await client.ask(method, params('safe'))).value.result?.['structuredContent']).toMatchObject({ method })
    },
  )

  test('an empty allow-list allows nothing, another case is another name, and deny wins', async () => {
    const none = await alone(items, { allow: { tools: { allow: [] } } }, front)
    expect((await none.client.ask('tools/list')).value.result?.['tools']).toEqual([])
    const some = await alone(items, { allow: { tools: { allow: ['*'], deny: ['danger'] } } }, front)
    expect(namesIn((await some.client.ask('tools/list')).value.result, 'tools')).toEqual(['safe', 'danger2'])
    const call = await some.client.ask('tools/call', { name: 'DANGER' })
    expect(call.value.error?.message).toBe('Unknown tool: DANGER')
  })

  test('E4: a batch is no way around it', async () => {
    const { client, backend } = await alone(items, { allow }, front)
    client.write('[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"}}]')
    expect((await client.next(({ error }) => error !== undefined)).value.error?.code).toBe(-32_600)
    expect(backend.count('tools/call')).toBe(0)
  })

  test('E13: prototype names are unknown as well', async () => {
    const { client } = await alone(items, { allow: { tools: { allow: ['safe'] } } }, front)
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect((await client.ask('tools/call', { name })).value.error?.message).toBe(`Unknown tool: ${name}`)
    }
  })
})

test('F5: a resource that is denied is left out of a subscription', async () => {
  const { client } = await alone({}, { allow: { resources: { deny: ['x://danger'] } } })
  const id = client.send('subscriptions/listen', {
    notifications: { toolsListChanged: true, resourceSubscriptions: ['x://safe', 'x://danger'] },
  })
  const { value } = await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
  expect(value.params?.['notifications']).toEqual({ toolsListChanged: true, resourceSubscriptions: ['x://safe'] })
  expect(id).toBeGreaterThan(0)
})

test('a tool that is renamed is listed and called by its new name, and the name that it took is not lost', async () => {
  const rename = { tools: new Map([['log', 'status']]) }
  const { client } = await alone({ tools: [tool('log'), tool('status'), tool('other')] }, { rename })
  const names = namesIn((await client.ask('tools/list')).value.result, 'tools') as readonly string[]
  expect(names).toEqual(['status', expect.stringMatching(/^status_[0-9a-f]{10}$/), 'other'])
  const called = async (name: string): Promise<unknown> =>
    ((await client.ask('tools/call', { name })).value.result?.['structuredContent'] as JsonObject | undefined)?.[
      'params'
    ]
  expect(await called('status')).toEqual({ name: 'log' })
  expect(await called(names[1] as string)).toEqual({ name: 'status' })
  expect((await client.ask('tools/call', { name: 'log' })).value.error?.message).toBe('Unknown tool: log')
})

describe('BR-211: headers of the front', () => {
  const region = tool('go').replace(
    '{"type":"object"}',
    '{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}',
  )
  const context = (more: Record<string, string> = {}): CallContext =>
    createCallerContext({ hints: { 'mcp-method': 'tools/call', 'mcp-protocol-version': modernRevision, ...more } })
  const go = { method: 'tools/call', params: { name: 'go', arguments: { region: 'eu' } } }

  test('are compared with the arguments as soon as the tool is known, which is read once for each connection', async () => {
    const { rig, backend } = await alone({ tools: [region] })
    const { passthrough } = rig
    const good = context({ 'mcp-param-region': 'eu' })
    await passthrough.call(go, good)
    await expect(passthrough.call(go, context())).resolves.toMatchObject({ kind: 'result' }) // the carrier looks from now on
    expect(backend.count('tools/list')).toBe(1)
    const view = await passthrough.view(good.principal, good)
    expect(view.headerPlan('go')?.declarations).toMatchObject([{ header: 'Mcp-Param-Region', path: ['region'] }])
    backend.wire.break()
    await turn()
    await passthrough.call(go, good)
    expect(backend.count('tools/list')).toBe(2)
  })

  test('MH-VAL-01: a call that came before the tool was known is refused here', async () => {
    const { rig, backend } = await alone({ tools: [region] })
    await expect(rig.passthrough.call(go, context({ 'mcp-param-region': 'us' }))).rejects.toMatchObject({
      code: rpcCode.headerMismatch,
    })
    expect(backend.count('tools/call')).toBe(0)
  })

  test('of several backends are known by the names that clients use', async () => {
    const rig = createRig([offer('a', { tools: [region] }), offer('b', {})])
    const renamed = { ...go, params: { ...go.params, name: 'a__go' } }
    await expect(rig.passthrough.call(renamed, context({ 'mcp-param-region': 'us' }))).rejects.toMatchObject({
      code: rpcCode.headerMismatch,
    })
    const { principal } = context()
    const view = await rig.passthrough.view(principal)
    expect(view.headerPlan('a__go')?.declarations).toHaveLength(1)
    expect(view.headerPlan('go')).toBeUndefined()
  })
})
