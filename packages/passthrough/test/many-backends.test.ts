import { modernRevision } from '@atenea/mcpcompat'
import { createCallerContext, metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { sha256 } from '../src/sha256.ts'
import { namesIn, offer, type OfferingBackend, tool } from './_util/offering.ts'
import {
  createBackend,
  createRig,
  endAll,
  errorOf,
  type FakeBackend,
  type FrontClient,
  type Kind,
  type Rig,
} from './_util/rig.ts'
import type { CreatePassthroughOptions } from '../src/passthrough.ts'
import { turn } from './_util/wire.ts'

afterEach(endAll)

async function merged(
  backends: readonly OfferingBackend[],
  options: Partial<CreatePassthroughOptions> = {},
  front: Kind = 'modern',
): Promise<{ readonly rig: Rig; readonly client: FrontClient }> {
  const rig = createRig(backends, { waitMs: 200, ...options })
  const client = await rig.client(front)
  return { rig, client }
}

const codesIn = (rig: Rig): readonly string[] =>
  rig.events.flatMap((event) => (event.kind === 'list' ? [event.code] : []))

describe.each<Kind>(['modern', 'legacy'])('BR-306: a %s client of two backends', (front) => {
  const both = (): [OfferingBackend, OfferingBackend] => [
    offer('git', {
      tools: [tool('log', ',"x-1":9007199254740993'), tool('status')],
      prompts: ['{"name":"blame"}'],
      resources: ['{"uri":"git://head","name":"head"}'],
      templates: ['{"uriTemplate":"git://commit/{id}","name":"commit"}'],
    }),
    offer(
      'web',
      { tools: [tool('log')], prompts: ['{"name":"blame"}'], resources: ['{"uri":"web://page","name":"page"}'] },
      { kind: 'legacy' },
    ),
  ]

  test('E11: lists are those of all, in the order of the configuration, each item byte for byte but for its name', async () => {
    const { client } = await merged(both(), {}, front)
    const answer = await client.ask('tools/list')
    expect(namesIn(answer.value.result, 'tools')).toEqual(['git__log', 'git__status', 'web__log'])
    expect(answer.text).toContain('{"name":"git__log","x-1":9007199254740993,"inputSchema":{"type":"object"}}')
    expect(namesIn((await client.ask('prompts/list')).value.result, 'prompts')).toEqual(['git__blame', 'web__blame'])
    expect(namesIn((await client.ask('resources/list')).value.result, 'resources', 'uri')).toEqual([
      'git://head',
      'web://page',
    ])
    expect(
      namesIn((await client.ask('resources/templates/list')).value.result, 'resourceTemplates', 'uriTemplate'),
    ).toEqual(['git://commit/{id}'])
  })

  test.each([
    ['tools/call', { name: 'web__log', arguments: { id: 1 } }, 'web', { name: 'log', arguments: { id: 1 } }],
    ['tools/call', { name: 'git__log' }, 'git', { name: 'log' }],
    ['prompts/get', { name: 'git__blame' }, 'git', { name: 'blame' }],
    ['resources/read', { uri: 'web://page' }, 'web', { uri: 'web://page' }],
    ['resources/read', { uri: 'git://commit/1' }, 'git', { uri: 'git://commit/1' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'web__blame' }, argument: { name: 'a', value: '' } },
      'web',
      { ref: { type: 'ref/prompt', name: 'blame' }, argument: { name: 'a', value: '' } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'git://commit/{id}' }, argument: { name: 'id', value: '' } },
      'git',
      { ref: { type: 'ref/resource', uri: 'git://commit/{id}' }, argument: { name: 'id', value: '' } },
    ],
  ])('%s %j goes to the one it belongs to, by its own name', async (method, params, backend, seen) => {
    const [git, web] = both()
    const { client } = await merged([git, web], {}, front)
    const { value } = await client.ask(method, params)
    expect(value.result?.['structuredContent']).toEqual({ backend, method, params: seen })
    // and again, now that everything is known
    expect((await client.ask(method, params)).value.result).toEqual(value.result)
    const other = backend === 'git' ? web : git
    expect(other.count(method)).toBe(0)
  })

  test('F5: what nobody has is unknown, and no backend is asked', async () => {
    const [git, web] = both()
    const { client } = await merged([git, web], {}, front)
    for (const name of ['git__nothing', 'nothing', 'git_log', 'log', 'GIT__LOG', '__proto__', 'constructor']) {
      const { value } = await client.ask('tools/call', { name, arguments: {} })
      expect(value.error).toEqual({ code: -32_602, message: `Unknown tool: ${name}` })
    }
    const prompt = await client.ask('prompts/get', { name: 'git__nothing' })
    expect(prompt.value.error).toEqual({ code: -32_602, message: 'Unknown prompt: git__nothing' })
    const resource = await client.ask('resources/read', { uri: 'x://y' })
    expect(resource.value.error).toMatchObject({ message: 'Resource not found', data: { uri: 'x://y' } })
    expect([git.count('tools/call'), web.count('tools/call'), git.count('resources/read')]).toEqual([0, 0, 0])
  })
})

describe('BR-306, MC-TOOL-10: names', () => {
  /** A backend whose lines the test sees as they are. */
  const raw = (): FakeBackend => createBackend({ kind: 'modern', name: 'git', capabilities: { tools: {} } })
  const listTools = async (backend: FakeBackend): Promise<void> => {
    const { id } = (await backend.request('tools/list')).value
    backend.wire.write(
      `{"jsonrpc":"2.0","id":${String(id)},"result":{"resultType":"complete","tools":[${tool('log')}]}}`,
    )
  }

  test('E11: of a call no byte changes but its name', async () => {
    const git = raw()
    const rig = createRig([git, offer('web', {})])
    const client = await rig.client('legacy')
    client.write(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"id":9007199254740993,"x":1.0, "e":1e400},"name":"git__log","x-1":[ ]}}',
    )
    await listTools(git)
    const { text } = await git.request('tools/call')
    expect(text).toContain('"arguments":{"id":9007199254740993,"x":1.0, "e":1e400},"name":"log","x-1":[ ]')
  })

  test('E14: a name that is given twice is refused', async () => {
    const rig = createRig([offer('git', { tools: [tool('log')] }), offer('web', { tools: [tool('x')] })])
    const params = '"name":"web__x","arguments":{},"name":"git__log"'
    const legacy = await rig.client('legacy')
    legacy.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params}}}`)
    expect((await legacy.answerTo(1)).value.error?.code).toBe(-32_602)
    const modern = await rig.client('modern')
    const meta = JSON.stringify({
      [metaKey.protocolVersion]: modernRevision,
      [metaKey.clientInfo]: { name: 'c', version: '1' },
      [metaKey.clientCapabilities]: {},
    })
    modern.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params},"_meta":${meta}}}`)
    expect((await modern.answerTo(1)).value.error?.code).toBe(-32_602)
  })

  test('F10: schemas of any dialect, with references of any kind, stand in the list as they came; nothing is fetched or checked', async () => {
    const odd = (schema: string): string => `{"name":"odd","inputSchema":${schema},"outputSchema":${schema}}`
    const draft = odd(
      '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"n":{"properties":{"n":{"$ref":"#/definitions/n"}}}},"properties":{"n":{"$ref":"#/definitions/n"},"far":{"$ref":"http://169.254.169.254/"}}}',
    )
    const { client } = await merged([offer('a', { tools: [draft] }), offer('b', {})])
    expect((await client.ask('tools/list')).text).toContain(draft.replace('"odd"', '"a__odd"'))
    expect((await client.ask('tools/call', { name: 'a__odd', arguments: { n: 1 } })).value.result).toBeDefined()
  })

  test('F8: start order makes no difference, and a real collision belongs to nobody', async () => {
    const names = (backends: readonly OfferingBackend[]) => async (): Promise<readonly unknown[]> => {
      const { client } = await merged(backends)
      return namesIn((await client.ask('tools/list')).value.result, 'tools')
    }
    const a = (): OfferingBackend => offer('a', { tools: [tool('b__c')] })
    const ab = (): OfferingBackend => offer('a__b', { tools: [tool('c')] })
    const hashed = `a__b__c_${sha256('a\nb__c').slice(0, 10)}`
    expect(await names([a(), ab()])()).toEqual([hashed, 'a__b__c'])
    expect(await names([ab(), a()])()).toEqual(['a__b__c', hashed])
  })

  test('F8: long names stay apart and are called by their short ones', async () => {
    const long = 'x'.repeat(64)
    const { client } = await merged([offer('a', { tools: [tool(`${long}1`), tool(`${long}2`)] }), offer('b', {})])
    const shown = namesIn((await client.ask('tools/list')).value.result, 'tools') as readonly string[]
    expect(shown.map((name) => name.length)).toEqual([64, 64])
    const { value } = await client.ask('tools/call', { name: shown[1] as string, arguments: {} })
    expect(value.result?.['structuredContent']).toMatchObject({ params: { name: `${long}2` } })
  })

  test('renames and another separator', async () => {
    const git = offer(
      'git',
      { tools: [tool('log'), tool('status')] },
      { rename: { tools: new Map([['log', 'history']]) } },
    )
    const { client } = await merged([git, offer('web', { tools: [tool('get')] })], { names: { separator: '-' } })
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual([
      'history',
      'git-status',
      'web-get',
    ])
    const { value } = await client.ask('tools/call', { name: 'history', arguments: {} })
    expect(value.result?.['structuredContent']).toMatchObject({ backend: 'git', params: { name: 'log' } })
    expect((await client.ask('tools/call', { name: 'git-log' })).value.error?.message).toBe('Unknown tool: git-log')
  })

  test('a tool that appeared without a word is found when it is called', async () => {
    const git = offer('git', { tools: [tool('log')] })
    const { client } = await merged([git, offer('web', {})])
    await client.ask('tools/list')
    git.offering.tools = [tool('log'), tool('new')]
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    const { value } = await client.ask('tools/call', { name: 'git__new', arguments: {} })
    expect(value.result?.['structuredContent']).toMatchObject({ params: { name: 'new' } })
  })

  test('a resource that two list is listed once, reported, and asked of the first that has it', async () => {
    const item = '{"uri":"x://1","name":"n"}'
    const a = offer('a', {
      resources: [item],
      answer: ({ method, id }, wire) => {
        if (method !== 'resources/read') return 'as usual'
        wire.write(errorOf(id, -32_602, 'not here any more', { uri: 'x://1' }))
        return undefined
      },
    })
    const { client, rig } = await merged([a, offer('b', { resources: [item] })])
    expect(namesIn((await client.ask('resources/list')).value.result, 'resources', 'uri')).toEqual(['x://1'])
    expect(codesIn(rig)).toContain('resource-collision')
    const { value } = await client.ask('resources/read', { uri: 'x://1' })
    expect(value.result?.['structuredContent']).toMatchObject({ backend: 'b' })
    expect(a.count('resources/read')).toBe(1)
  })
})

describe('one backend never hides the others', () => {
  const good = (): OfferingBackend => offer('good', { tools: [tool('fine')] })

  test('F7: capabilities are those that backends really have', async () => {
    const a = offer('a', { tools: [tool('x')] }, { capabilities: { tools: {} } })
    const b = offer('b', {}, { kind: 'legacy', capabilities: { tools: { listChanged: true }, logging: {} } })
    const { client } = await merged([a, b])
    const { value } = await client.ask('server/discover')
    expect(value.result?.['capabilities']).toEqual({ tools: { listChanged: true }, logging: {} })
    expect(value.result?.['instructions']).toBe('# a\n\nUse it well.\n\n# b\n\nUse it well.')
    expect((await client.ask('prompts/list')).value.error?.code).toBe(-32_601)
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['a__x'])
  })

  test('F7: a backend that says it has a list and refuses it has an empty one', async () => {
    const odd = offer('odd', {
      answer: ({ id, method }, wire) => {
        if (method !== 'tools/list') return 'as usual'
        wire.write(errorOf(id, -32_601, 'Method not found'))
        return undefined
      },
    })
    const { client } = await merged([odd, good()])
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['good__fine'])
  })

  test('one that is down is left out and reported once, and its calls fail at once', async () => {
    const down = offer('down', { tools: [tool('x')] })
    const { client, rig } = await merged([down, good()])
    const refused = (backend: OfferingBackend, error: Error | undefined): void => {
      ;(Object.getPrototypeOf(backend) as OfferingBackend).refuses = error
    }
    refused(down, new Error('no such file'))
    for (let i = 0; i < 3; i++) {
      const { value } = await client.ask('tools/list')
      expect(namesIn(value.result, 'tools')).toEqual(['good__fine'])
      expect(value.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    }
    expect(codesIn(rig).filter((code) => code === 'backend-missing')).toHaveLength(1)
    const call = await client.ask('tools/call', { name: 'down__x', arguments: {} })
    expect(call.value.error?.code).toBe(-32_603)
    expect((await client.ask('tools/call', { name: 'good__fine' })).value.result).toBeDefined()
  })

  test('one that is slow is waited for a while, once; its list comes with a change', async () => {
    let release: (() => void) | undefined
    const slow = offer('slow', {
      tools: [tool('x')],
      answer: ({ method, id }, wire) => {
        if (method !== 'tools/list' || release !== undefined) return 'as usual'
        release = () =>
          wire.write(`{"jsonrpc":"2.0","id":${String(id)},"result":{"resultType":"complete","tools":[${tool('x')}]}}`)
        return undefined
      },
    })
    const { client, rig } = await merged([slow, good()], { waitMs: 500 })
    const listen = client.send('subscriptions/listen', { notifications: { toolsListChanged: true } })
    await client.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    const started = performance.now()
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['good__fine'])
    expect(performance.now() - started).toBeGreaterThan(450)
    const again = performance.now()
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['good__fine'])
    expect(performance.now() - again).toBeLessThan(450)
    expect(codesIn(rig)).toEqual(['backend-missing'])
    release?.()
    const change = await client.next(({ method }) => method === 'notifications/tools/list_changed')
    expect(change.value.params?.['_meta']).toEqual({ 'io.modelcontextprotocol/subscriptionId': listen })
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['slow__x', 'good__fine'])
  })

  test('when none is there the client is told so, in place of an empty list', async () => {
    const [a, b] = [offer('a', {}), offer('b', {})]
    for (const backend of [a, b]) (Object.getPrototypeOf(backend) as OfferingBackend).refuses = new Error('down')
    const { client } = await merged([a, b])
    expect((await client.ask('tools/list')).value.error?.code).toBe(-32_603)
  })

  test('B7: one bad tool is left out alone, with its reason', async () => {
    const tools = [
      tool('good'),
      '{"name":"header","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}',
      '{"inputSchema":{"type":"object"}}',
      '{"name":"root","inputSchema":{"type":"array"}}',
      '{"name":"none","inputSchema":null}',
      '"text"',
      '{"name":"twice","name":"good","inputSchema":{"type":"object"}}',
      tool('good'),
      tool('last'),
    ]
    const { client, rig } = await merged([offer('a', { tools }), good()])
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual([
      'a__good',
      'a__last',
      'good__fine',
    ])
    await client.ask('tools/list')
    const dropped = rig.events.flatMap((event) => (event.kind === 'list' ? [event.message] : []))
    expect(dropped).toHaveLength(7)
    expect(dropped).toContainEqual(
      expect.stringContaining('"header" of "a" is left out: x-mcp-header "A" of property "a" needs the type'),
    )
    expect((await client.ask('tools/call', { name: 'a__root' })).value.error?.message).toBe('Unknown tool: a__root')
  })
})

describe('F4: pages', () => {
  test('all pages of a backend become one list', async () => {
    const tools = Array.from({ length: 7 }, (_, index) => tool(`t${index}`))
    const { client } = await merged([offer('a', { tools, pageSize: 2 }), offer('b', { tools, pageSize: 3 })])
    const { value } = await client.ask('tools/list')
    expect(namesIn(value.result, 'tools')).toHaveLength(14)
    expect(value.result?.['nextCursor']).toBeUndefined()
  })

  const trap = (cursors: (cursor: string | undefined, page: number) => string): OfferingBackend => {
    let page = 0
    return offer('trap', {
      answer: ({ method, params }) => {
        if (method !== 'tools/list') return 'as usual'
        const nextCursor = cursors(params?.['cursor'] as string | undefined, page)
        return { resultType: 'complete', tools: [JSON.parse(tool(`t${page++}`)) as never], nextCursor }
      },
    })
  }

  test.each([
    ['the same cursor for ever', () => 'x', 2],
    ['two in turn', (_cursor: string | undefined, page: number) => (page % 2 === 0 ? 'a' : 'b'), 3],
    ['an empty one for ever', () => '', 2],
    ['a new one for ever', (_cursor: string | undefined, page: number) => String(page), 5],
  ])('%s: reading ends, what was read is used, and it is reported', async (_what, cursors, pages) => {
    const backend = trap(cursors)
    const { client, rig } = await merged([backend, offer('b', {})], { listLimits: { maxPages: 5 } })
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toHaveLength(pages)
    expect(backend.count('tools/list')).toBe(pages)
    expect(codesIn(rig)).toContain('list-cut-short')
  })

  test('MC-CACHE-19: a cursor that is refused on the way starts the list again, once', async () => {
    let refusals = 1
    const backend = offer('a', {
      tools: [tool('x'), tool('y')],
      pageSize: 1,
      answer: ({ method, params, id }, wire) => {
        if (method !== 'tools/list' || params?.['cursor'] === undefined || refusals-- <= 0) return 'as usual'
        wire.write(errorOf(id, -32_602, 'Unknown cursor'))
        return undefined
      },
    })
    const { client } = await merged([backend, offer('b', {})])
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['a__x', 'a__y'])
    expect(backend.count('tools/list')).toBe(4)
  })

  test('MC-PAGE-01, MC-PAGE-07: a long list has pages of its own, and other cursors are refused', async () => {
    const tools = Array.from({ length: 5 }, (_, index) => tool(`t${index}`))
    const a = offer('a', { tools })
    const { client } = await merged([a, offer('b', { tools: tools.slice(0, 2) })], { pageLimits: { maxItems: 3 } })
    const seen: unknown[] = []
    let cursor: unknown
    let first: unknown
    do {
      const { value } = await client.ask('tools/list', cursor === undefined ? {} : { cursor: cursor as string })
      seen.push(namesIn(value.result, 'tools'))
      cursor = value.result?.['nextCursor']
      first ??= cursor
    } while (cursor !== undefined)
    expect(seen).toEqual([['a__t0', 'a__t1', 'a__t2'], ['a__t3', 'a__t4', 'b__t0'], ['b__t1']])
    for (const bad of ['', '3', 'x', 'm1.1.0000000000000000', `${String(first)}x`]) {
      expect((await client.ask('tools/list', { cursor: bad })).value.error?.code).toBe(-32_602)
    }
    a.offering.tools = [tool('other')]
    a.tell('notifications/tools/list_changed')
    await turn()
    const stale = await client.ask('tools/list', { cursor: first as string })
    expect(stale.value.error).toMatchObject({ code: -32_602, message: expect.stringContaining('has changed') })
  })

  test('MC-CACHE-17, BR-304: a merged list is good for the shortest time, and private if any part is', async () => {
    const hints = (ttlMs: number, cacheScope: string): string => `,"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`
    const of = async (a: string, b: string): Promise<unknown> => {
      const { client } = await merged([
        offer('a', { tools: [tool('x')], around: a }, { capabilities: { tools: {} } }),
        offer('b', { tools: [tool('x')], around: b }, { capabilities: { tools: {} } }),
      ])
      const { ttlMs, cacheScope } = (await client.ask('tools/list')).value.result ?? {}
      return [Math.round((ttlMs as number) / 1_000), cacheScope]
    }
    expect(await of(hints(60_000, 'public'), hints(30_000, 'public'))).toEqual([30, 'public'])
    expect(await of(hints(60_000, 'private'), hints(90_000, 'public'))).toEqual([60, 'private'])
    expect(await of(hints(60_000, 'public'), hints(-5, 'public'))).toEqual([0, 'public'])
    expect(await of(hints(60_000, 'public'), '')).toEqual([0, 'private'])
  })
})

describe('BR-301: questions of several backends', () => {
  const form = { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties: {} }, 'x-2': 2 }
  const asking = (name: string): OfferingBackend =>
    offer(name, {
      tools: [tool('ask')],
      answer: ({ method, params }) => {
        if (method !== 'tools/call') return 'as usual'
        if (params?.['requestState'] !== undefined || params?.['inputResponses'] !== undefined) {
          return { resultType: 'complete', content: [], structuredContent: { name, params } }
        }
        return {
          resultType: 'input_required',
          'x-1': 1,
          requestState: `state of ${name}`,
          inputRequests: { who: { method: 'elicitation/create', params: form } },
        }
      },
    })
  const capabilities = { elicitation: { form: {} } }

  test('state goes sealed to the client and comes back to its own backend as it was', async () => {
    const rig = createRig([asking('a'), asking('b')])
    const client = await rig.client('modern', { capabilities })
    const call = { name: 'b__ask', arguments: { n: 1 } }
    const { value } = await client.ask('tools/call', call)
    const { requestState, inputRequests } = value.result ?? {}
    expect(value.result).toMatchObject({ resultType: 'input_required', 'x-1': 1 })
    expect(inputRequests).toEqual({
      who: { method: 'elicitation/create', params: form },
    })
    expect(requestState).not.toContain('state of')
    const answers = { inputResponses: { who: { action: 'accept', content: {} } }, requestState: requestState as string }
    const done = await client.ask('tools/call', { ...call, ...answers })
    expect(done.value.result?.['structuredContent']).toMatchObject({
      name: 'b',
      params: { name: 'ask', arguments: { n: 1 }, requestState: 'state of b', inputResponses: answers.inputResponses },
    })
    for (const [params, principal] of [
      [{ ...call, name: 'a__ask' }, undefined],
      [{ ...call, arguments: { n: 2 } }, undefined],
      [call, { id: 'somebody else', authenticated: true }],
    ] as const) {
      const other = await rig.client('modern', { capabilities, ...(principal && { principal }) })
      const refused = await other.ask('tools/call', { ...params, ...answers })
      expect(refused.value.error).toMatchObject({ code: -32_602, message: expect.stringContaining('requestState') })
    }
    const forged = await client.ask('tools/call', { ...call, ...answers, requestState: 'state of b' })
    expect(forged.value.error?.code).toBe(-32_602)
  })
})

test('BR-301: a question about a resource goes back to the one of several owners that asked it', async () => {
  const owner = (name: string, hasIt: boolean): OfferingBackend =>
    offer(name, {
      resources: ['{"uri":"x://1","name":"n"}'],
      answer: ({ method, params, id }, wire) => {
        if (method !== 'resources/read') return 'as usual'
        if (!hasIt) {
          wire.write(errorOf(id, -32_602, 'not here', { uri: 'x://1' }))
          return undefined
        }
        if (params?.['requestState'] === undefined) return { resultType: 'input_required', requestState: 'its own' }
        return { resultType: 'complete', contents: [], from: name, state: params['requestState'] }
      },
    })
  const first = owner('a', false)
  const { client } = await merged([first, owner('b', true)])
  const asked = await client.ask('resources/read', { uri: 'x://1' })
  const requestState = asked.value.result?.['requestState'] as string
  const { value } = await client.ask('resources/read', { uri: 'x://1', requestState })
  expect(value.result).toMatchObject({ from: 'b', state: 'its own' })
  expect(first.count('resources/read')).toBe(1)
  const forged = await client.ask('resources/read', { uri: 'x://1', requestState: 'its own' })
  expect(forged.value.error?.code).toBe(-32_602)
})

describe('MC-CACHE-14: what is private', () => {
  test('BR-304: stays with its principal, and what is public is shared', async () => {
    const private_ = offer('a', { tools: [tool('x')], around: ',"ttlMs":60000,"cacheScope":"private"' })
    const public_ = offer('b', { tools: [tool('x')], around: ',"ttlMs":60000,"cacheScope":"public"' })
    const rig = createRig([private_, public_])
    const one = await rig.client('modern', { principal: { id: 'one', authenticated: true } })
    const two = await rig.client('modern', { principal: { id: 'two', authenticated: true } })
    await one.ask('tools/list')
    await one.ask('tools/list')
    expect([private_.count('tools/list'), public_.count('tools/list')]).toEqual([1, 1])
    await two.ask('tools/list')
    expect([private_.count('tools/list'), public_.count('tools/list')]).toEqual([2, 1])
  })

  test('BR-231, MC-CACHE-16: a change is heard of though no client listens', async () => {
    const a = offer('a', { tools: [tool('x')], around: ',"ttlMs":60000,"cacheScope":"public"' })
    const { client } = await merged([a, offer('b', {})])
    await client.ask('tools/list')
    a.offering.tools = [tool('y')]
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['a__x'])
    a.tell('notifications/tools/list_changed')
    await turn()
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['a__y'])
  })

  test('readers that come together share one request', async () => {
    const a = offer('a', { tools: [tool('x')] })
    const { client } = await merged([a, offer('b', {})])
    await client.ask('server/discover')
    const ids = [1, 2, 3].map(() => client.send('tools/list'))
    for (const id of ids) expect(namesIn((await client.answerTo(id)).value.result, 'tools')).toEqual(['a__x'])
    expect(a.count('tools/list')).toBe(1)
  })
})

describe('drift', () => {
  test('what appeared, vanished and changed is reported', async () => {
    const a = offer('a', { tools: [tool('x'), tool('y'), tool('z')] })
    const { client, rig } = await merged([a, offer('b', {})])
    await client.ask('tools/list')
    a.offering.tools = [tool('y'), tool('z', ',"description":"now send everything"'), tool('new')]
    await client.ask('tools/list')
    expect(rig.events.filter(({ kind }) => kind === 'list')).toMatchObject([
      { code: 'tools-appeared', level: 'info', backend: 'a', names: ['new'] },
      { code: 'tools-vanished', level: 'info', names: ['x'] },
      { code: 'tools-changed', level: 'warning', names: ['z'] },
    ])
  })

  test('mcp.lock: what is pinned is used; what has changed or is new is neither listed nor called', async () => {
    const first = createRig([offer('a', { tools: [tool('x'), tool('y')] }), offer('b', { tools: [tool('x')] })])
    const { lock, missing } = await first.passthrough.pin(undefined, createCallerContext())
    expect(missing).toEqual([])
    const a = offer('a', { tools: [tool('x'), tool('y', ',"description":"poison"'), tool('new')] })
    const { client, rig } = await merged([a, offer('b', { tools: [tool('x')] })], { lock })
    expect(namesIn((await client.ask('tools/list')).value.result, 'tools')).toEqual(['a__x', 'b__x'])
    expect((await client.ask('tools/call', { name: 'a__x' })).value.result).toBeDefined()
    expect((await client.ask('tools/call', { name: 'a__y' })).value.error).toEqual({
      code: -32_602,
      message: 'The tool "a__y" is refused by mcp.lock: its definition is not the one that is pinned',
    })
    expect((await client.ask('tools/call', { name: 'a__new' })).value.error?.message).toBe(
      'The tool "a__new" is refused by mcp.lock: it is not pinned',
    )
    expect(a.count('tools/call')).toBe(1)
    expect(codesIn(rig)).toEqual(['tool-dropped', 'tool-dropped'])
  })

  test('mcp.lock: pins of a backend that cannot be asked stay', async () => {
    const first = createRig([offer('a', { tools: [tool('x')] }), offer('b', { tools: [tool('x')] })])
    const { lock } = await first.passthrough.pin(undefined, createCallerContext())
    const down = offer('a', {})
    ;(Object.getPrototypeOf(down) as OfferingBackend).refuses = new Error('down')
    const second = createRig([down, offer('b', { tools: [tool('y')] })])
    const after = await second.passthrough.pin(lock, createCallerContext())
    expect(after.missing).toEqual(['a'])
    expect(after.lock.backends.get('a')).toEqual(lock.backends.get('a'))
    expect([...(after.lock.backends.get('b')?.tools.keys() ?? [])]).toEqual(['y'])
  })
})
