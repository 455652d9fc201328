import { type JsonObject, modernRevision, type Principal } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test } from 'vitest'
import type { PrincipalGrants } from '../src/index.ts'
import { namesIn, offer, type Offering, type OfferingBackend, tool } from './_util/offering.ts'
import { createRig, endAll, errorOf, type FrontClient, type Kind } from './_util/rig.ts'

afterEach(endAll)

const alice: Principal = { id: 'https://auth.example#alice', authenticated: true, scopes: ['write'] }
const bob: Principal = { id: 'https://auth.example#bob', authenticated: true, scopes: [] }

const all = [{}]
const everything: PrincipalGrants = { tools: all, prompts: all, resources: all }
const hidden = [{}, { deny: ['*danger*'] }]
const some: PrincipalGrants = { tools: hidden, prompts: hidden, resources: hidden }
const grantsOf = ({ scopes }: Principal): PrincipalGrants => (scopes?.includes('write') === true ? everything : some)

const item = (key: string, text: string): string => JSON.stringify({ [key]: text, name: text })
const offering: Offering = {
  tools: [tool('safe', ',"x":1e400'), tool('danger')],
  prompts: [item('name', 'safe'), item('name', 'danger')],
  resources: [item('uri', 'x://safe'), item('uri', 'x://danger')],
  templates: [item('uriTemplate', 'x://safe/{id}'), item('uriTemplate', 'x://danger/{id}')],
  around: ',"ttlMs":60000,"cacheScope":"public"',
  answer: ({ id, method, params }, wire) => {
    const name = JSON.stringify(params ?? {})
    const isCall = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'].includes(method)
    if (!isCall || !name.includes('nothere')) return 'as usual'
    wire.write(
      method === 'resources/read'
        ? errorOf(id, -32_602, 'Resource not found', { uri: 'x://nothere' })
        : errorOf(id, -32_602, 'in words of its own'),
    )
    return undefined
  },
}

async function served(
  front: Kind,
  back: Kind,
): Promise<{ backend: OfferingBackend; asAlice: FrontClient; asBob: FrontClient }> {
  const backend = offer('a', offering, { kind: back })
  const rig = createRig([backend], { grantsOf })
  return {
    backend,
    asAlice: await rig.client(front, { principal: alice }),
    asBob: await rig.client(front, { principal: bob }),
  }
}

describe.each<[Kind, Kind]>([
  ['modern', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'modern'],
])('F5: what a principal may use, a %s client and a %s backend', (front, back) => {
  test('MC-TOOL-02, MC-RES-02, MC-PRM-02, MC-CACHE-14: is what it is shown, and no list is good for anybody else', async () => {
    const { asAlice, asBob } = await served(front, back)
    for (const [method, member, key] of [
      ['tools/list', 'tools', 'name'],
      ['prompts/list', 'prompts', 'name'],
      ['resources/list', 'resources', 'uri'],
      ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
    ] as const) {
      const [few, many] = [(await asBob.ask(method)).value.result, (await asAlice.ask(method)).value.result]
      expect([method, namesIn(few, member, key).length, namesIn(many, member, key).length]).toEqual([method, 1, 2])
      expect(JSON.stringify(few)).not.toContain('danger')
      const scope = front === 'modern' ? 'private' : undefined
      expect([few?.['cacheScope'], many?.['cacheScope']]).toEqual([scope, scope])
    }
  })

  test.each<[string, (name: string) => JsonObject]>([
    ['tools/call', (name) => ({ name, arguments: {} })],
    ['prompts/get', (name) => ({ name })],
    ['resources/read', (name) => ({ uri: `x://${name}` })],
    ['completion/complete', (name) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } })],
  ])(
    '%s: what is not granted is answered word for word like what does not exist, and is granted to others',
    async (method, of) => {
      const { backend, asAlice, asBob } = await served(front, back)
      const forbidden = (await asBob.ask(method, of('danger'))).value.error
      const absent = (await asBob.ask(method, of('nothere'))).value.error
      expect(forbidden).toBeDefined()
      expect(JSON.stringify(forbidden).replaceAll('danger', 'nothere')).toBe(JSON.stringify(absent))
      expect(JSON.stringify(backend.requests)).not.toContain('danger')
      expect((await asAlice.ask(method, of('danger'))).value.error).toBeUndefined()
      expect((await asBob.ask(method, of('safe'))).value.error).toBeUndefined()
    },
  )

  test('a uri cannot hide behind percent-encoding', async () => {
    const { backend, asBob } = await served(front, back)
    for (const uri of ['x://d%61nger', 'x://%64anger/1', 'x://%zz']) {
      expect((await asBob.ask('resources/read', { uri })).value.error).toMatchObject({
        code: front === 'modern' ? -32_602 : -32_002,
      })
    }
    expect(backend.count('resources/read')).toBe(0)
  })
})

test('E14: a name that is given twice is decided by neither', async () => {
  const { backend, asBob } = await served('modern', 'modern')
  const meta = JSON.stringify({
    [metaKey.protocolVersion]: modernRevision,
    [metaKey.clientInfo]: { name: 'x', version: '1' },
    [metaKey.clientCapabilities]: {},
  })
  asBob.write(
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"danger","name":"safe","arguments":{},"_meta":${meta}}}`,
  )
  expect((await asBob.answerTo(7)).value.error).toMatchObject({ code: -32_602 })
  expect(backend.count('tools/call')).toBe(0)
})

test('F5: a resource that is not granted is left out of a subscription, and no header is asked for a tool that is not', async () => {
  const mirrored = `{"name":"danger","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`
  const backend = offer('a', { ...offering, tools: [mirrored] })
  const { passthrough, client } = createRig([backend], { grantsOf })
  const asBob = await client('modern', { principal: bob })
  await asBob.ask('tools/list')
  asBob.send('subscriptions/listen', { notifications: { resourceSubscriptions: ['x://danger', 'x://safe'] } })
  const acknowledged = await asBob.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
  expect(acknowledged.value.params).toMatchObject({ notifications: { resourceSubscriptions: ['x://safe'] } })
  expect(JSON.stringify(backend.requests)).not.toContain('x://danger')
  expect((await passthrough.view(bob)).headerPlan('danger')).toBeUndefined()
})

test('of several backends it is about the names that clients see', async () => {
  const grants: PrincipalGrants = { tools: [{ allow: ['b__*'] }], prompts: all, resources: all }
  const rig = createRig([offer('a', offering), offer('b', offering)], { grantsOf: () => grants })
  const asBob = await rig.client('modern', { principal: bob })
  expect(namesIn((await asBob.ask('tools/list')).value.result, 'tools')).toEqual(['b__safe', 'b__danger'])
  expect((await asBob.ask('tools/call', { name: 'a__safe', arguments: {} })).value.error).toMatchObject({
    message: 'Unknown tool: a__safe',
  })
  expect((await asBob.ask('tools/call', { name: 'b__safe', arguments: {} })).value.result).toMatchObject({
    structuredContent: { backend: 'b' },
  })
})
