import { type JsonObject, type Outcome, toValue } from '@atenea/mcpcompat'
import { createPageWalk } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { errorOf, outcomeOf, resultOf } from '../test/_util/calls.ts'
import { type Core, createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'
import { decodeCursor, encodeCursor } from './pagination.ts'
import type { Tool } from './tool.ts'

const info = { name: 'test', version: '1' }
const tool = (name: string): Tool => ({ name, handler: () => name })
const tools = (...names: string[]) => names.map(tool)
const namesOf = (result: JsonObject) => (result.tools as readonly { name: string }[]).map(({ name }) => name)

/** All pages, as a careful client reads them. */
async function pagesOf(core: Core): Promise<string[][]> {
  const pages: string[][] = []
  const walk = createPageWalk()
  let params: JsonObject = {}
  for (;;) {
    const result = await resultOf(core, 'tools/list', params)
    pages.push(namesOf(result))
    const step = walk.after(result, pages.at(-1)?.length ?? 0)
    if (step.kind === 'end') return pages
    if (step.kind !== 'next') throw new Error(step.reason)
    params = { cursor: step.cursor }
  }
}

describe('lists', () => {
  test('MC-TOOL-01, MC-TOOL-03, MC-PAGE-05: are one page unless told otherwise, in the order of definition', async () => {
    const core = createCore({ info, tools: tools('b', 'a', 'c') })
    expect(await resultOf(core, 'tools/list')).toMatchObject({ tools: [{ name: 'b' }, { name: 'a' }, { name: 'c' }] })
    expect(await resultOf(createCore({ info, tools: [] }), 'tools/list')).toEqual({ tools: [] })
  })

  test('are the same objects until something changes, so that a codec may keep what it made of them', async () => {
    const core = createCore({ info, tools: tools('a', 'b'), pageSize: 1 })
    const list = (cursor?: string) => outcomeOf(core, 'tools/list', cursor === undefined ? {} : { cursor })
    const first = await list()
    const second = await list(encodeCursor('a'))
    expect(await list()).toBe(first)
    expect(await list(encodeCursor('a'))).toBe(second)
    expect(valueOf(first)).toBe(valueOf(await list()))
    core.addTool(tool('c'))
    expect(await list()).not.toBe(first)
  })

  test('MC-CACHE-01, MC-CACHE-03, MC-CACHE-04, MC-CACHE-17: every page has the same hints', async () => {
    const hints = { ttlMs: 1000, cacheScope: 'public' } as const
    const cacheHints = { tools: hints, prompts: hints, resources: hints, resourceTemplates: hints, discover: hints }
    const core = createCore({ info, tools: tools('a', 'b', 'c'), prompts: [], resources: [], pageSize: 1, cacheHints })
    for (const cursor of [undefined, encodeCursor('a'), encodeCursor('b')]) {
      expect(await outcomeOf(core, 'tools/list', cursor === undefined ? {} : { cursor })).toMatchObject({ hints })
    }
    for (const list of ['prompts/list', 'resources/list', 'resources/templates/list']) {
      expect(await outcomeOf(core, list)).toMatchObject({ hints })
    }
    expect((await core.view({ id: 'x', authenticated: true })).hints).toEqual(hints)
  })

  test('MC-CACHE-03, MC-CACHE-14, MC-CACHE-20: lists are private where they differ by principal', async () => {
    const cacheHints = { tools: { ttlMs: 1000, cacheScope: 'public' } } as const
    const core = createCore({ info, tools: tools('a'), cacheHints, policy: () => ({}) })
    expect(await outcomeOf(core, 'tools/list')).toMatchObject({ hints: { ttlMs: 1000, cacheScope: 'private' } })
    expect(await outcomeOf(createCore({ info, tools: [] }), 'tools/list')).toMatchObject({
      hints: { ttlMs: 0, cacheScope: 'private' },
    })
  })

  test.each([
    { ttlMs: -1, cacheScope: 'public' },
    { ttlMs: 1.5, cacheScope: 'public' },
    { ttlMs: 1, cacheScope: 'all' },
  ])('MC-CACHE-03, MC-CACHE-04: hints that no client may get are refused: %j', (hints) => {
    expect(() => createCore({ info, tools: [], cacheHints: { tools: hints as never } })).toThrow(DefinitionError)
    const resource = { uri: 'x:1', name: 'x', read: () => '', hints: hints as never }
    expect(() => createCore({ info, resources: [resource] })).toThrow(DefinitionError)
  })
})

describe('pages', () => {
  const core = createCore({ info, tools: tools('a', 'b', 'ü', '__proto__', 'e'), pageSize: 2 })

  test('MC-PAGE-01, MC-PAGE-04, F4, LG-PAGE-01: go on by cursor and end without one', async () => {
    expect(await pagesOf(core)).toEqual([['a', 'b'], ['ü', '__proto__'], ['e']])
    expect(await pagesOf(createCore({ info, tools: tools('a', 'b'), pageSize: 2 }))).toEqual([['a', 'b']])
    expect(await pagesOf(createCore({ info, tools: [], pageSize: 2 }))).toEqual([[]])
    for (const list of ['prompts', 'resources', 'resources/templates']) {
      const other = createCore({
        info,
        prompts: [
          { name: 'a', handler: () => '' },
          { name: 'b', handler: () => '' },
        ],
        resources: [
          { uri: 'x:a', name: 'a', read: () => '' },
          { uri: 'x:b', name: 'b', read: () => '' },
        ],
        resourceTemplates: [
          { uriTemplate: 'x:{a}', name: 'a', read: () => '' },
          { uriTemplate: 'x:{b}', name: 'b', read: () => '' },
        ],
        pageSize: 1,
      })
      const { nextCursor } = await resultOf(other, `${list}/list`)
      expect(await resultOf(other, `${list}/list`, { cursor: nextCursor as string })).not.toHaveProperty('nextCursor')
    }
  })

  test.each(['', 'x', encodeCursor('nope'), '*', 'ÿ', '0'])(
    'MC-PAGE-06, MC-PAGE-07, MC-ERR-13, F4, LG-PAGE-01: the cursor %j is an error',
    async (cursor) => {
      expect(await errorOf(core, 'tools/list', { cursor })).toEqual({
        code: -32_602,
        message: 'cursor is not valid; list again from the start',
      })
    },
  )

  test.each([7, null, {}])('MC-PAGE-01: %j is no cursor', async (cursor) => {
    expect(await errorOf(core, 'tools/list', { cursor })).toMatchObject({
      code: -32_602,
      message: 'cursor must be a string',
    })
  })

  test('MC-PAGE-07: without pages there are no cursors', async () => {
    const whole = createCore({ info, tools: tools('a', 'b') })
    expect(await errorOf(whole, 'tools/list', { cursor: encodeCursor('a') })).toMatchObject({ code: -32_602 })
  })

  test('MC-PAGE-06: a cursor stays good when others come and go', async () => {
    const changing = createCore({ info, tools: tools('a', 'b', 'c', 'd'), pageSize: 2 })
    const { nextCursor } = await resultOf(changing, 'tools/list')
    changing.removeTool('a')
    changing.addTool(tool('z'))
    expect(namesOf(await resultOf(changing, 'tools/list', { cursor: nextCursor as string }))).toEqual(['c', 'd'])
    changing.removeTool('b')
    expect(await errorOf(changing, 'tools/list', { cursor: nextCursor as string })).toMatchObject({ code: -32_602 })
  })

  test('F5: a cursor cannot name what is not allowed', async () => {
    const some = createCore({ info, tools: tools('a', 'b', 'c'), pageSize: 1, policy: { tools: { deny: ['b'] } } })
    expect(await pagesOf(some)).toEqual([['a'], ['c']])
    expect(await errorOf(some, 'tools/list', { cursor: encodeCursor('b') })).toMatchObject({ code: -32_602 })
  })

  test('cursors that a client made up do not fill the memory', async () => {
    const many = createCore({ info, tools: tools(...Array.from({ length: 50 }, (_, n) => `t${n}`)), pageSize: 10 })
    const odd = await outcomeOf(many, 'tools/list', { cursor: encodeCursor('t2') })
    expect(await outcomeOf(many, 'tools/list', { cursor: encodeCursor('t2') })).not.toBe(odd)
    expect(await outcomeOf(many, 'tools/list', { cursor: encodeCursor('t2') })).toEqual(odd)
  })

  test.each([0, -1, 1.5, Number.NaN, Infinity])('a page cannot hold %j entries', (pageSize) => {
    expect(() => createCore({ info, tools: [], pageSize })).toThrow(DefinitionError)
  })
})

test('a cursor can be read back', () => {
  for (const key of ['a', '', 'ü😀', '\ufeffx', 'x'.repeat(5000)]) expect(decodeCursor(encodeCursor(key))).toBe(key)
  expect(decodeCursor('/w==')).toBeUndefined()
})

function valueOf(outcome: Outcome): unknown {
  if (outcome.kind !== 'result') throw new Error('no result')
  expect(toValue(outcome.value)).toBeDefined()
  return outcome.value
}
