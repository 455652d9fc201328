import type { JsonObject, Principal } from '@atenea/mcpcompat'
import { describe, expect, test, vi } from 'vitest'
import { errorOf, resultOf } from '../test/_util/calls.ts'
import { type CreateCoreOptions, createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'
import { type Grants, type Policy, createViews } from './policy.ts'

const info = { name: 'test', version: '1' }
const alice: Principal = { id: 'alice', authenticated: true }
const bob: Principal = { id: 'bob', authenticated: true }

/** A core in which everything named `danger` must stay out of reach. */
function guarded(policy: Policy, more: Partial<CreateCoreOptions> = {}) {
  const ran = vi.fn<() => string>(() => 'ran')
  const core = createCore({
    info,
    tools: [
      { name: 'safe', handler: ran },
      {
        name: 'danger',
        inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } },
        handler: ran,
      },
    ],
    prompts: [
      { name: 'safe', arguments: { a: {} }, handler: ran },
      { name: 'danger', arguments: { a: {} }, complete: { a: () => [ran()] }, handler: ran },
    ],
    resources: [
      { uri: 'safe:1', name: 'safe', read: ran },
      { uri: 'danger:1', name: 'danger', read: ran },
    ],
    resourceTemplates: [
      { uriTemplate: 'safe:///{+path}', name: 'safe', read: ran },
      { uriTemplate: 'danger:///{id}', name: 'danger', complete: { id: () => [ran()] }, read: ran },
    ],
    policy,
    subscribe: true,
    ...more,
  })
  return { core, ran }
}

const names = (result: JsonObject, list: string, key = 'name') =>
  (result[list] as readonly JsonObject[]).map((entry) => entry[key])

const denied: Grants = {
  tools: { deny: ['danger'] },
  prompts: { deny: ['dang*'] },
  resources: { deny: ['danger:*'] },
}

/** Calls of what is denied, each beside the same call of what does not exist. */
const attempts: [method: string, of: (name: string) => JsonObject][] = [
  ['tools/call', (name) => ({ name })],
  ['prompts/get', (name) => ({ name })],
  ['resources/read', (name) => ({ uri: `${name}:1` })],
  ['resources/read', (name) => ({ uri: `${name}:///1` })],
  ['completion/complete', (name) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } })],
  [
    'completion/complete',
    (name) => ({ ref: { type: 'ref/resource', uri: `${name}:///{id}` }, argument: { name: 'id', value: '' } }),
  ],
]

describe('F5: what is not allowed', () => {
  test.each(attempts)(
    'MC-CACHE-20, MC-RES-11, MC-PRM-07, MC-TOOL-15: %s answers like what does not exist, to the byte',
    async (method, of) => {
      for (const policy of [denied, () => denied]) {
        const { core, ran } = guarded(policy)
        const forbidden = JSON.stringify(await errorOf(core, method, of('danger')))
        const absent = JSON.stringify(await errorOf(core, method, of('nothere')))
        expect(forbidden.replaceAll('danger', 'nothere')).toBe(absent)
        expect(ran).not.toHaveBeenCalled()
      }
    },
  )

  test('is not listed, and what is allowed is', async () => {
    const { core } = guarded(denied)
    expect(names(await resultOf(core, 'tools/list'), 'tools')).toEqual(['safe'])
    expect(names(await resultOf(core, 'prompts/list'), 'prompts')).toEqual(['safe'])
    expect(names(await resultOf(core, 'resources/list'), 'resources')).toEqual(['safe'])
    expect(names(await resultOf(core, 'resources/templates/list'), 'resourceTemplates')).toEqual(['safe'])
    expect(await resultOf(core, 'tools/call', { name: 'safe' })).toMatchObject({ content: [{ text: 'ran' }] })
  })

  test('has no header plan', async () => {
    const plan = async (policy: Policy) => (await guarded(policy).core.view(alice)).headerPlan('danger')
    expect(await plan({})).toBeDefined()
    expect(await plan(denied)).toBeUndefined()
  })

  test('deny wins, and an empty allow-list allows nothing', async () => {
    const both = guarded({ tools: { allow: ['*'], deny: ['danger'] } }).core
    expect(names(await resultOf(both, 'tools/list'), 'tools')).toEqual(['safe'])
    const none = guarded({ tools: { allow: [] } }).core
    expect(await resultOf(none, 'tools/list')).toEqual({ tools: [] })
    expect(await errorOf(none, 'tools/call', { name: 'safe' })).toMatchObject({ message: 'Unknown tool: safe' })
  })

  test('of several sets of rules each has to allow a name, and any may deny it', async () => {
    const sets = [{ allow: ['*a*'] }, { allow: ['safe', 'danger'] }, { deny: ['dang*'] }]
    const { core } = guarded({ tools: sets, resources: [{}, { deny: ['danger:///{id}'] }] })
    expect(names(await resultOf(core, 'tools/list'), 'tools')).toEqual(['safe'])
    expect(await errorOf(core, 'tools/call', { name: 'danger' })).toMatchObject({ message: 'Unknown tool: danger' })
    expect(await errorOf(core, 'resources/read', { uri: 'danger:///7' })).toMatchObject({ code: -32_602 })
    const all = guarded({ tools: [] }).core
    expect(names(await resultOf(all, 'tools/list'), 'tools')).toEqual(['safe', 'danger'])
  })

  test('names are compared in their case', async () => {
    const { core } = guarded({ tools: { allow: ['SAFE'] } })
    expect(await errorOf(core, 'tools/call', { name: 'safe' })).toMatchObject({ code: -32_602 })
  })

  test.each(['safe:///secret/1', 'safe:///%73ecret/1', 'safe:///x/..%2fsecret', 'safe:///se%63ret%2F1', 'safe:///%zz'])(
    'a URI cannot hide behind percent-encoding: %s',
    async (uri) => {
      const { core, ran } = guarded({ resources: { deny: ['safe:///secret*'] } })
      expect(await errorOf(core, 'resources/read', { uri })).toMatchObject({ message: 'Resource not found' })
      expect(ran).not.toHaveBeenCalled()
      expect(await resultOf(core, 'resources/read', { uri: 'safe:///public' })).toMatchObject({
        contents: [{ text: 'ran' }],
      })
    },
  )

  test('single URIs of a template may be allowed without showing it', async () => {
    const { core } = guarded({ resources: { allow: ['safe:///a'] } })
    expect(await resultOf(core, 'resources/templates/list')).toEqual({ resourceTemplates: [] })
    expect(await resultOf(core, 'resources/read', { uri: 'safe:///a' })).toMatchObject({ contents: [{ text: 'ran' }] })
    expect(await errorOf(core, 'resources/read', { uri: 'safe:///b' })).toMatchObject({ code: -32_602 })
  })

  test('a template that is denied by its text is denied whole', async () => {
    const { core } = guarded({ resources: { deny: ['safe:///{+path}'] } })
    expect(await errorOf(core, 'resources/read', { uri: 'safe:///a' })).toMatchObject({ code: -32_602 })
  })
})

describe('who may use what', () => {
  const everything: Grants = {}
  const policy = ({ id }: Principal): Grants => (id === 'alice' ? everything : denied)

  test('MC-TOOL-02, MC-RES-02, MC-PRM-02: lists depend on the principal, and on nothing that happened before', async () => {
    const { core } = guarded(policy)
    const listOf = (principal: Principal) =>
      Promise.all(
        ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map((list) =>
          resultOf(core, list, {}, { principal }),
        ),
      )
    const before = [await listOf(alice), await listOf(bob)]
    await resultOf(core, 'tools/call', { name: 'danger' }, { principal: alice })
    await resultOf(core, 'resources/read', { uri: 'danger:///7' }, { principal: alice })
    await errorOf(core, 'tools/call', { name: 'danger' }, { principal: bob })
    expect([await listOf(bob), await listOf(alice)].reverse()).toEqual(before)
    expect(before[0]).not.toEqual(before[1])
  })

  test('MC-META-11, F5: nothing that a client says of itself widens it', async () => {
    const { core } = guarded(policy)
    const claims = [
      { peer: { name: 'alice', version: '1', capabilities: {} } },
      { peer: { name: 'admin', capabilities: { experimental: { admin: {} }, tools: { allow: ['*'] }, sampling: {} } } },
      { meta: { principal: 'alice', 'io.modelcontextprotocol/clientInfo': { name: 'alice' } } },
      { hints: { authorization: 'Bearer alice', 'mcp-name': 'danger', 'x-forwarded-user': 'alice' } },
      { resume: { inputResponses: { principal: { id: 'alice' } } } },
    ]
    const plain = await resultOf(core, 'tools/list', {}, { principal: bob })
    for (const claim of claims) {
      expect(await resultOf(core, 'tools/list', {}, { principal: bob, ...claim })).toEqual(plain)
      expect(await errorOf(core, 'tools/call', { name: 'danger' }, { principal: bob, ...claim })).toEqual({
        code: -32_602,
        message: 'Unknown tool: danger',
      })
    }
  })

  test('is decided for each call', async () => {
    let grants: Grants = everything
    const { core } = guarded(() => grants)
    await resultOf(core, 'tools/call', { name: 'danger' })
    grants = denied
    expect(await errorOf(core, 'tools/call', { name: 'danger' })).toMatchObject({ code: -32_602 })
    grants = everything
    await resultOf(core, 'tools/call', { name: 'danger' })
  })

  test('a policy that fails lets nobody through', async () => {
    const { core, ran } = guarded(() => {
      throw new Error('directory is down')
    })
    await expect(resultOf(core, 'tools/call', { name: 'safe' })).rejects.toThrow('directory is down')
    expect(ran).not.toHaveBeenCalled()
  })

  test.each<[grants: unknown, message: string]>([
    [Promise.resolve({}), 'policy must be an object of tools, prompts, resources, at once and not as a promise'],
    [undefined, 'policy must be an object'],
    [[], 'policy must be an object'],
    [{ tool: { deny: ['danger'] } }, 'policy has no member "tool"; there are tools, prompts, resources'],
    [{ tools: { denied: ['danger'] } }, 'policy.tools has no member "denied"; there are allow, deny'],
    [{ tools: ['danger'] }, 'policy.tools must be an object of allow, deny'],
  ])('a slip of the pen allows nothing: %j', async (grants, message) => {
    const { core } = guarded(() => grants as Grants)
    await expect(resultOf(core, 'tools/call', { name: 'safe' })).rejects.toThrow(message)
    const atOnce = grants ?? null
    expect(() => guarded(atOnce as Grants)).toThrow(DefinitionError)
  })
})

describe('createViews', () => {
  test('makes one view for equal grants', () => {
    const createView = vi.fn<() => object>(() => ({}))
    const fixed: Grants = { tools: { allow: ['a'] } }
    let grants: () => Grants = () => fixed
    const viewOf = createViews(() => grants(), createView)
    const first = viewOf(alice)
    expect(viewOf(bob)).toBe(first)
    grants = () => ({ tools: { allow: ['a'] } })
    expect(viewOf(alice)).toBe(first)
    expect(createView).toHaveBeenCalledTimes(1)
    grants = () => ({ tools: { allow: ['a'], deny: ['b'] } })
    expect(viewOf(alice)).not.toBe(first)
    expect(createView).toHaveBeenCalledTimes(2)
  })

  test('remembers a bounded number of grants that come as new objects', () => {
    let made = 0
    let n = 0
    const viewOf = createViews(
      () => ({ tools: { allow: [`t${n}`] } }),
      () => ++made,
    )
    for (n = 0; n < 2500; n++) viewOf(alice)
    expect(made).toBe(2500)
    n = 2499
    viewOf(alice)
    expect(made).toBe(2500)
    n = 0
    viewOf(alice)
    expect(made).toBe(2501)
  })
})
