import type { JsonObject, Principal } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { errorOf, outcomeOf, resultOf } from '../test/_util/calls.ts'
import { type Core, type CreateCoreOptions, createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'

const info = { name: 'test', version: '1', title: 'Test' }
const local: Principal = { id: 'local', authenticated: true }
const tool = { name: 't', handler: () => '' }
const prompt = { name: 'p', arguments: { a: {} }, handler: () => '' }
const completed = { ...prompt, complete: { a: () => [] } }
const resource = { uri: 'x:1', name: 'x', read: () => '' }
const template = { uriTemplate: 'y:{a}', name: 'y', read: () => '' }

const capabilitiesOf = async (options: Partial<CreateCoreOptions>) =>
  (await createCore({ info, ...options }).view(local)).capabilities

describe('MC-DISC-10, B14: what is advertised is what is served', () => {
  test.each<[options: Partial<CreateCoreOptions>, capabilities: JsonObject]>([
    [{}, {}],
    [{ tools: [tool] }, { tools: {} }],
    [{ tools: [] }, { tools: {} }],
    [{ tools: [tool], listChanged: { tools: true } }, { tools: { listChanged: true } }],
    [{ tools: [tool], listChanged: { prompts: true } }, { tools: {} }],
    [{ prompts: [prompt] }, { prompts: {} }],
    [{ prompts: [completed] }, { prompts: {}, completions: {} }],
    [{ resources: [resource] }, { resources: {} }],
    [{ resourceTemplates: [template] }, { resources: {} }],
    [{ resourceTemplates: [{ ...template, complete: { a: () => [] } }] }, { resources: {}, completions: {} }],
    [{ resources: [], subscribe: true }, { resources: { subscribe: true } }],
    [{ resources: [], listChanged: { resources: true } }, { resources: { listChanged: true } }],
    [
      { completions: true, logging: true },
      { completions: {}, logging: {} },
    ],
    [
      { tools: [], resources: [], subscribe: true, listChanged: { tools: true, resources: true }, listen: false },
      { tools: {}, resources: {} },
    ],
  ])('MC-TOOL-01, MC-PRM-01, MC-RES-01, MC-CMP-01, LG-RES-01, LG-PRM-01, LG-CMP-01: %j', async (options, expected) => {
    expect(await capabilitiesOf(options)).toEqual(expected)
  })

  test('the view says who serves', async () => {
    expect(await createCore({ info, instructions: 'Use it.' }).view(local)).toMatchObject({
      info,
      instructions: 'Use it.',
    })
    expect(await createCore({ info }).view(local)).not.toHaveProperty('instructions')
  })

  test('MC-ERR-12, MC-CMP-04, MC-DEP-02: a method without its capability does not exist', async () => {
    const methods = [
      'tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'resources/list', 'resources/templates/list',
      'resources/read', 'completion/complete', 'subscriptions/listen', 'initialize', 'ping', 'logging/setLevel',
      'resources/subscribe', 'tasks/get', 'constructor', '',
    ] // biome-ignore format: a list
    const servedBy = async (options: Partial<CreateCoreOptions>) => {
      const core = createCore({ info, ...options })
      const view = await core.view(local)
      const served: string[] = []
      const absent: object[] = []
      for (const method of methods) {
        if (view.has(method)) served.push(method)
        else absent.push(await errorOf(core, method))
      }
      expect(absent).toEqual(
        methods
          .filter((method) => !served.includes(method))
          .map((method) => ({ code: -32_601, message: `Method not found: ${method}` })),
      )
      return served
    }
    expect(await servedBy({ listen: false })).toEqual([])
    expect(await servedBy({})).toEqual(['subscriptions/listen'])
    expect(await servedBy({ tools: [], prompts: [completed], resources: [] })).toEqual(methods.slice(0, 9))
    expect(await servedBy({ resourceTemplates: [], listen: false })).toEqual(methods.slice(4, 7))
  })
})

describe('what comes and goes', () => {
  const live = () =>
    createCore({ info, tools: [], prompts: [], resources: [], resourceTemplates: [], completions: true })

  test('MC-TOOL-02: is listed and called as long as it is there', async () => {
    const core = live()
    core.addTool(tool)
    core.addPrompt(completed)
    core.addResource(resource)
    core.addResourceTemplate(template)
    expect(await resultOf(core, 'tools/list')).toMatchObject({ tools: [{ name: 't' }] })
    expect(await resultOf(core, 'tools/call', { name: 't' })).toBeDefined()
    expect(await resultOf(core, 'prompts/get', { name: 'p' })).toBeDefined()
    expect(await resultOf(core, 'resources/read', { uri: 'x:1' })).toBeDefined()
    expect(await resultOf(core, 'resources/read', { uri: 'y:1' })).toBeDefined()
    expect([
      core.removeTool('t'),
      core.removePrompt('p'),
      core.removeResource('x:1'),
      core.removeResourceTemplate('y:{a}'),
    ]).toEqual([true, true, true, true])
    expect([
      core.removeTool('t'),
      core.removePrompt('p'),
      core.removeResource('x:1'),
      core.removeResourceTemplate('y:{a}'),
    ]).toEqual([false, false, false, false])
    expect(await resultOf(core, 'tools/list')).toEqual({ tools: [] })
    expect(await errorOf(core, 'tools/call', { name: 't' })).toMatchObject({ code: -32_602 })
    expect(await errorOf(core, 'resources/read', { uri: 'y:1' })).toMatchObject({ code: -32_602 })
  })

  test('a call that runs goes on when its tool is removed', async () => {
    const core = live()
    let finish: (text: string) => void = () => undefined
    core.addTool({ name: 'slow', handler: () => new Promise<string>((resolve) => (finish = resolve)) })
    const pending = resultOf(core, 'tools/call', { name: 'slow' })
    core.removeTool('slow')
    finish('done')
    expect(await pending).toMatchObject({ content: [{ text: 'done' }] })
  })

  test.each<[add: (core: Core) => void, options: Partial<CreateCoreOptions>, message: string]>([
    [(core) => core.addTool(tool), {}, 'this core serves no tools; give createCore an empty list of them'],
    [(core) => core.addPrompt(prompt), {}, 'this core serves no prompts'],
    [(core) => core.addResource(resource), {}, 'this core serves no resources'],
    [(core) => core.addResourceTemplate(template), {}, 'this core serves no resources'],
    [(core) => core.addTool(tool), { tools: [tool] }, 'tool "t" is defined twice'],
    [
      (core) => core.addPrompt(completed),
      { prompts: [] },
      'prompt "p" has completers, but this core does not advertise completion',
    ],
  ])('MC-DISC-10: what cannot be served is refused: %s with %j', (add, options, message) => {
    const core = createCore({ info, ...options })
    expect(() => add(core)).toThrow(DefinitionError)
    expect(() => add(core)).toThrow(message)
  })
})

describe('the rate of one principal', () => {
  test('MC-TOOL-15, MC-CMP-05: can be limited, and does not count for others', async () => {
    const core = createCore({ info, tools: [tool], prompts: [completed], rateLimit: { burst: 2, perSecond: 0.001 } })
    const call = (principal: Principal) => outcomeOf(core, 'tools/call', { name: 't' }, { principal })
    await call(local)
    await resultOf(core, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'a', value: '' },
    })
    await expect(call(local)).rejects.toMatchObject({ code: -32_603, message: 'Too many calls; try again in a moment' })
    expect(await call({ id: 'other', authenticated: true })).toMatchObject({ kind: 'result' })
    expect(await resultOf(core, 'tools/list')).toBeDefined()
  })
})

test('MC-MSG-08: notifications change nothing and are not answered', async () => {
  const core = createCore({ info, tools: [tool] })
  for (const method of ['notifications/initialized', 'notifications/roots/list_changed', 'notifications/unknown', '']) {
    expect(await core.notify({ method, params: {} }, undefined as never)).toBeUndefined()
  }
})
