import { type Call, type Diagnostic, type JsonObject, type Principal, toObject } from '@atenea/mcpcompat'
import { describe, expect, test, vi } from 'vitest'
import { errorOf, outcomeOf } from '../test/_util/calls.ts'
import { type Core, type CreateCoreOptions, createCore } from './core.ts'
import type { Grants } from './policy.ts'

const info = { name: 'test', version: '1' }
const everything: JsonObject = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

function liveCore(more: Partial<CreateCoreOptions> = {}): Core {
  return createCore({
    info,
    tools: [],
    prompts: [],
    resources: [{ uri: 'x:1', name: 'one', read: () => '' }],
    resourceTemplates: [{ uriTemplate: 'y:///{+path}', name: 'y', read: () => '' }],
    listChanged: { tools: true, prompts: true, resources: true },
    subscribe: true,
    ...more,
  })
}

interface Listener {
  /** What came so far: the method, and the uri where there is one. */
  readonly heard: string[]
  readonly notices: Call[]
  readonly ended: Promise<unknown>
  readonly stop: (reason?: unknown) => void
}

/** Opens a subscription and waits for its acknowledgement. */
async function listen(
  core: Core,
  notifications: JsonObject,
  more: { principal?: Principal; onNotice?: (notice: Call) => void | Promise<void> } = {},
): Promise<Listener> {
  const controller = new AbortController()
  const notices: Call[] = []
  const heard: string[] = []
  const { onNotice, ...context } = more
  const ended = outcomeOf(
    core,
    'subscriptions/listen',
    { notifications },
    {
      ...context,
      signal: controller.signal,
      onNotice(notice) {
        notices.push(notice)
        const { uri } = toObject(notice.params)
        heard.push(uri === undefined ? notice.method : `${notice.method} ${uri as string}`)
        return onNotice?.(notice)
      },
    },
  )
  ended.catch(() => undefined)
  await Promise.resolve()
  return { heard, notices, ended, stop: (reason) => controller.abort(reason) }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const acknowledged = 'notifications/subscriptions/acknowledged'
const updated = 'notifications/resources/updated'

describe('the acknowledgement', () => {
  const grantedBy = async (core: Core, notifications: JsonObject, more = {}) =>
    toObject((await listen(core, notifications, more)).notices[0]?.params ?? {}).notifications

  test('MC-SUB-03: comes first', async () => {
    const core = liveCore()
    const listener = await listen(core, everything)
    core.notifyToolsChanged()
    await settled()
    expect(listener.heard).toEqual([acknowledged, 'notifications/tools/list_changed'])
  })

  test('MC-SUB-05, MC-RES-14, B14: grants what the server can deliver', async () => {
    const asked = { ...everything, resourceSubscriptions: ['x:1', 'y:///a/b'] }
    expect(await grantedBy(liveCore(), asked)).toEqual(asked)
    expect(await grantedBy(liveCore({ listChanged: { tools: true }, subscribe: false }), asked)).toEqual({
      toolsListChanged: true,
    })
    expect(await grantedBy(liveCore({ listChanged: {} }), asked)).toEqual({
      resourceSubscriptions: ['x:1', 'y:///a/b'],
    })
    expect(await grantedBy(createCore({ info, tools: [] }), asked)).toEqual({})
  })

  test('MC-SUB-02: an omitted or false field is not subscribed', async () => {
    expect(await grantedBy(liveCore(), { toolsListChanged: true, promptsListChanged: false })).toEqual({
      toolsListChanged: true,
    })
    expect(await grantedBy(liveCore(), {})).toEqual({})
  })

  test('MC-SUB-05, F5: leaves out resources that do not exist or may not be read, and does not tell which', async () => {
    const policy: Grants = { resources: { deny: ['y:///secret*'] } }
    const resourceSubscriptions = ['x:1', 'x:2', 'y:///secret', 'y:///%73ecret', 'y:///a', 'y:///../b', 'no uri']
    expect(await grantedBy(liveCore({ policy }), { resourceSubscriptions })).toEqual({
      resourceSubscriptions: ['x:1', 'y:///a'],
    })
  })

  test.each([
    {},
    { notifications: null },
    { notifications: [] },
    { notifications: { toolsListChanged: 'yes' } },
    { notifications: { resourceSubscriptions: 'x:1' } },
    { notifications: { resourceSubscriptions: [1] } },
  ] as JsonObject[])('MC-SUB-01, A-31: %j is an error', async (params) => {
    expect(await errorOf(liveCore(), 'subscriptions/listen', params)).toMatchObject({ code: -32_602 })
  })
})

describe('what is told', () => {
  test('MC-SUB-02, MC-SUB-16, LG-TOOL-01: list changes, to those who asked for them', async () => {
    const core = liveCore()
    const all = await listen(core, everything)
    const prompts = await listen(core, { promptsListChanged: true })
    core.addTool({ name: 't', handler: () => '' })
    core.addPrompt({ name: 'p', handler: () => '' })
    core.addResource({ uri: 'x:3', name: 'three', read: () => '' })
    await settled()
    expect(all.heard).toEqual([
      acknowledged,
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ])
    expect(prompts.heard).toEqual([acknowledged, 'notifications/prompts/list_changed'])
  })

  test('many changes of one tick are one notice', async () => {
    const core = liveCore()
    const listener = await listen(core, everything)
    for (let n = 0; n < 100; n++) core.addTool({ name: `t${n}`, handler: () => '' })
    core.removeTool('t1')
    core.notifyToolsChanged()
    expect(core.removeTool('t1')).toBe(false)
    await settled()
    expect(listener.heard).toEqual([acknowledged, 'notifications/tools/list_changed'])
    expect(core.removeTool('never there')).toBe(false)
    await settled()
    expect(listener.heard).toHaveLength(2)
    core.removeResourceTemplate('y:///{+path}')
    core.notifyResourcesChanged()
    core.notifyPromptsChanged()
    await settled()
    expect(listener.heard.slice(2)).toEqual([
      'notifications/resources/list_changed',
      'notifications/prompts/list_changed',
    ])
  })

  test('MC-SUB-17, LG-RES-02: changed resources, to those who named them', async () => {
    const core = liveCore()
    const one = await listen(core, { resourceSubscriptions: ['x:1', 'x:1', 'y:///a'] })
    const other = await listen(core, { resourceSubscriptions: ['y:///b'], toolsListChanged: true })
    core.resourceUpdated('x:1')
    core.resourceUpdated('x:2')
    core.resourceUpdated('y:///b')
    expect(one.heard).toEqual([acknowledged, `${updated} x:1`])
    expect(other.heard).toEqual([acknowledged, `${updated} y:///b`])
  })

  test('A-32, MC-SUB-17: a part of a subscribed resource, once for each subscription', async () => {
    const isPartOf = (changed: string, subscribed: string): boolean => changed.startsWith(`${subscribed}/`)
    const core = liveCore({ isPartOf })
    const both = await listen(core, { resourceSubscriptions: ['y:///a', 'y:///a/b'] })
    const sibling = await listen(core, { resourceSubscriptions: ['y:///ab'] })
    core.resourceUpdated('y:///a/b')
    core.resourceUpdated('y:///a/b/c')
    core.resourceUpdated('y:///a')
    expect(both.heard).toEqual([acknowledged, `${updated} y:///a/b`, `${updated} y:///a/b/c`, `${updated} y:///a`])
    expect(sibling.heard).toEqual([acknowledged])
  })

  test('F5: nothing of a resource that may not be read any more', async () => {
    let grants: Grants = {}
    const core = liveCore({ policy: () => grants })
    const listener = await listen(core, { resourceSubscriptions: ['x:1'] })
    core.resourceUpdated('x:1')
    grants = { resources: { deny: ['x:*'] } }
    core.resourceUpdated('x:1')
    grants = {}
    core.resourceUpdated('x:1')
    expect(listener.heard).toEqual([acknowledged, `${updated} x:1`, `${updated} x:1`])
  })

  test('MC-SUB-09: several subscriptions of one client are told each', async () => {
    const core = liveCore()
    const listeners = [await listen(core, everything), await listen(core, everything)]
    core.notifyToolsChanged()
    await settled()
    for (const { heard } of listeners) expect(heard).toEqual([acknowledged, 'notifications/tools/list_changed'])
  })
})

describe('a client that reads slowly', () => {
  test('is told each thing once when it has room', async () => {
    let makeRoom: () => void = () => undefined
    const core = liveCore()
    const listener = await listen(
      core,
      { ...everything, resourceSubscriptions: ['x:1', 'y:///a'] },
      { onNotice: () => new Promise((resolve) => (makeRoom = resolve)) },
    )
    for (let n = 0; n < 1000; n++) {
      core.resourceUpdated('x:1')
      core.resourceUpdated('y:///a')
      core.notifyToolsChanged()
      if (n % 100 === 0) await settled()
    }
    expect(listener.heard).toEqual([acknowledged])
    for (let n = 0; n < 5; n++) {
      makeRoom()
      await settled()
    }
    expect(listener.heard.slice(1).sort()).toEqual([
      `${updated} x:1`,
      `${updated} y:///a`,
      'notifications/tools/list_changed',
    ])
  })

  test('does not hold up the others', async () => {
    const core = liveCore()
    const stuck = await listen(core, everything, { onNotice: () => new Promise(() => undefined) })
    const fine = await listen(core, everything)
    core.notifyToolsChanged()
    await settled()
    expect(stuck.heard).toEqual([acknowledged])
    expect(fine.heard).toHaveLength(2)
  })

  test('whose carrier fails is reported, and others are told', async () => {
    const diagnostics: Diagnostic[] = []
    const core = liveCore({ onDiagnostic: (one) => diagnostics.push(one) })
    const failing = [
      () => Promise.reject(new Error('gone')),
      () => {
        throw new Error('gone')
      },
    ]
    for (const onNotice of failing) await listen(core, everything, { onNotice })
    const fine = await listen(core, everything)
    core.notifyToolsChanged()
    await settled()
    expect(fine.heard).toHaveLength(2)
    expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(['notice-not-sent']))
  })
})

describe('the end', () => {
  test('MC-SUB-11, MC-SUB-12: by the server is a result without data, after what waits', async () => {
    const core = liveCore()
    const one = await listen(core, everything)
    const two = await listen(core, { resourceSubscriptions: ['x:1'] })
    core.notifyToolsChanged()
    await core.drain()
    expect(one.heard).toEqual([acknowledged, 'notifications/tools/list_changed'])
    for (const { ended } of [one, two]) expect(await ended).toEqual({ kind: 'result', value: {} })
    core.notifyToolsChanged()
    core.resourceUpdated('x:1')
    await settled()
    expect(one.heard).toHaveLength(2)
    expect(two.heard).toHaveLength(1)
  })

  test('by the server takes no new ones, and may be asked for again', async () => {
    const core = liveCore()
    await core.drain()
    await core.drain()
    expect(await errorOf(core, 'subscriptions/listen', { notifications: {} })).toEqual({
      code: -32_603,
      message: 'The server is shutting down',
    })
  })

  test('by the client rejects with its reason and sends nothing more', async () => {
    const core = liveCore()
    const { heard, ended, stop } = await listen(core, { ...everything, resourceSubscriptions: ['x:1'] })
    stop('left')
    core.resourceUpdated('x:1')
    await expect(ended).rejects.toBe('left')
    core.resourceUpdated('x:1')
    core.notifyToolsChanged()
    await core.drain()
    expect(heard).toEqual([acknowledged])
  })

  test('by a client that was gone before', async () => {
    const core = liveCore()
    const signal = AbortSignal.abort('gone')
    await expect(outcomeOf(core, 'subscriptions/listen', { notifications: {} }, { signal })).rejects.toBe('gone')
    await core.drain()
  })

  test('does not wait for a client that reads nothing and leaves', async () => {
    const core = liveCore()
    const stuck = await listen(core, everything, { onNotice: () => new Promise(() => undefined) })
    const draining = core.drain()
    stuck.stop('left')
    await draining
    await expect(stuck.ended).rejects.toBe('left')
  })
})

describe('limits', () => {
  const alice: Principal = { id: 'alice', authenticated: true }
  const tooMany = { code: -32_603, message: 'Too many open subscriptions' }

  test('A-31: in all, for each principal, and given back at the end', async () => {
    const core = liveCore({ subscriptionLimits: { total: 3, perPrincipal: 2 } })
    const params = { notifications: {} }
    const first = await listen(core, {}, { principal: alice })
    await listen(core, {}, { principal: alice })
    expect(await errorOf(core, 'subscriptions/listen', params, { principal: alice })).toEqual(tooMany)
    const other = await listen(core, {})
    expect(await errorOf(core, 'subscriptions/listen', params)).toEqual(tooMany)
    other.stop()
    await other.ended.catch(() => undefined)
    expect(await errorOf(core, 'subscriptions/listen', params, { principal: alice })).toEqual(tooMany)
    first.stop()
    await first.ended.catch(() => undefined)
    expect((await listen(core, {}, { principal: alice })).heard).toEqual([acknowledged])
  })

  test('A-31: of resources that one may name', async () => {
    const core = liveCore({ subscriptionLimits: { urisPerSubscription: 1 } })
    const notifications = { resourceSubscriptions: ['x:1', 'y:///a'] }
    expect(await errorOf(core, 'subscriptions/listen', { notifications })).toEqual({
      code: -32_603,
      message: 'A subscription may name at most 1 resources',
    })
  })

  test('C23: a thousand that come and go leave nothing behind', async () => {
    const looked: string[] = []
    const isPartOf = (_changed: string, subscribed: string): boolean => looked.push(subscribed) < 0
    const core = liveCore({ subscriptionLimits: { total: 1, perPrincipal: 1 }, isPartOf })
    const remove = vi.spyOn(AbortSignal.prototype, 'removeEventListener')
    for (let n = 0; n < 1000; n++) {
      const { ended, stop } = await listen(core, { resourceSubscriptions: [`y:///${n}`] })
      stop(n)
      await ended.catch(() => undefined)
    }
    expect(remove).toHaveBeenCalledTimes(1000)
    remove.mockRestore()
    core.resourceUpdated('y:///1')
    expect(looked).toEqual([])
    expect((await listen(core, {})).heard).toEqual([acknowledged])
  })
})
