import type { CacheHints, Diagnostic, JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { errorOf, outcomeOf, resultOf } from '../test/_util/calls.ts'
import { createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'
import { type Resource, type ResourceTemplate, defineResource, defineResourceTemplate } from './resource.ts'
import { maxUriLength } from './resources.ts'
import { ToolError } from './tool-error.ts'

const info = { name: 'test', version: '1' }
const coreOf = (...resources: Resource[]) => createCore({ info, resources })
const reading = (value: unknown, more: Partial<Resource> = {}): Resource => ({
  uri: 'x:1',
  name: 'one',
  read: () => value as string,
  ...more,
})
const read = (value: unknown, more: Partial<Resource> = {}) =>
  resultOf(coreOf(reading(value, more)), 'resources/read', { uri: 'x:1' })

describe('what reading gives', () => {
  test.each<[value: unknown, contents: JsonObject[]]>([
    ['text', [{ uri: 'x:1', mimeType: 'a/b', text: 'text' }]],
    ['', [{ uri: 'x:1', mimeType: 'a/b', text: '' }]],
    ['\ud800', [{ uri: 'x:1', mimeType: 'a/b', text: '\ufffd' }]],
    [new Uint8Array([1, 2, 3]), [{ uri: 'x:1', mimeType: 'a/b', blob: 'AQID' }]],
    [new Uint8Array(), [{ uri: 'x:1', mimeType: 'a/b', blob: '' }]],
    [{ text: 't', mimeType: 'c/d' }, [{ uri: 'x:1', mimeType: 'c/d', text: 't' }]],
    [{ blob: 'AQID', uri: 'x:1/a' }, [{ uri: 'x:1/a', mimeType: 'a/b', blob: 'AQID' }]],
    [
      [{ text: 'a' }, { uri: 'x:2', text: 'b', _meta: { 'a/b': 1 } }],
      [
        { uri: 'x:1', mimeType: 'a/b', text: 'a' },
        { uri: 'x:2', mimeType: 'a/b', text: 'b', _meta: { 'a/b': 1 } },
      ],
    ],
    [Promise.resolve('later'), [{ uri: 'x:1', mimeType: 'a/b', text: 'later' }]],
  ])('MC-RES-06, MC-RES-07, MC-RES-08: %j', async (value, contents) => {
    expect(await read(value, { mimeType: 'a/b' })).toEqual({ contents })
  })

  test('MC-RES-04: no contents is an answer, and not "not found"', async () => {
    expect(await read([])).toEqual({ contents: [] })
    expect(await read({ contents: [], _meta: { 'a/b': 1 } })).toEqual({ contents: [], _meta: { 'a/b': 1 } })
  })

  test.each([7, null, {}, [{}], [{ blob: '***' }], [null], { contents: [], hints: { ttlMs: -1, cacheScope: 'all' } }])(
    'MC-RES-05, MC-ERR-14: %j is reported',
    async (value) => {
      const diagnostics: Diagnostic[] = []
      const core = createCore({ info, resources: [reading(value)], onDiagnostic: (one) => diagnostics.push(one) })
      expect(await errorOf(core, 'resources/read', { uri: 'x:1' })).toEqual({
        code: -32_603,
        message: 'The resource "x:1" failed because of an error on the server.',
      })
      expect(diagnostics).toMatchObject([{ code: 'handler-failed' }])
    },
  )

  test('a failure may say why', async () => {
    const core = coreOf(reading(undefined, { read: () => Promise.reject(new ToolError('too large')) }))
    expect(await errorOf(core, 'resources/read', { uri: 'x:1' })).toEqual({ code: -32_603, message: 'too large' })
  })
})

describe('what is not there', () => {
  const core = createCore({
    info,
    resources: [reading(undefined)],
    resourceTemplates: [defineResourceTemplate({ uriTemplate: 'y:{id}', name: 'y', read: () => undefined })],
  })

  test.each(['x:1', 'x:2', 'y:1', 'z://nothing', 'X:1'])('MC-RES-03, LG-RES-03, A-30: %s', async (uri) => {
    expect(await errorOf(core, 'resources/read', { uri })).toEqual({
      code: -32_602,
      message: 'Resource not found',
      data: { uri },
    })
  })

  test.each<[params: JsonObject, message: string]>([
    [{}, 'uri must be a string'],
    [{ uri: 7 }, 'uri must be a string'],
    [{ uri: '' }, 'uri must be an absolute URI'],
    [{ uri: '/etc/passwd' }, 'uri must be an absolute URI'],
    [{ uri: 'x:a b' }, 'uri must be an absolute URI'],
    [{ uri: 'x:a\n' }, 'uri must be an absolute URI'],
    [{ uri: `x:${'a'.repeat(maxUriLength)}` }, 'uri must be an absolute URI'],
  ])('MC-RES-10, MC-ERR-13: %j is an error of the request', async (params, message) => {
    expect(await errorOf(core, 'resources/read', params)).toEqual({ code: -32_602, message })
  })
})

describe('templates', () => {
  const files = defineResourceTemplate({
    uriTemplate: 'file:///{+path}',
    name: 'files',
    title: 'Files',
    description: 'All of them',
    mimeType: 'text/plain',
    annotations: { audience: ['assistant'] },
    read: ({ uri, variables }) => `${uri} is ${variables.path}`,
  })
  const data = defineResourceTemplate({
    uriTemplate: 'test://template/{id}/data',
    name: 'data',
    read: ({ variables }) => variables.id,
  })
  const core = createCore({
    info,
    resources: [defineResource({ uri: 'file:///own', name: 'own', size: 3, read: () => 'own' })],
    resourceTemplates: [data, files],
  })

  test('are listed beside resources', async () => {
    expect(await resultOf(core, 'resources/templates/list')).toEqual({
      resourceTemplates: [
        { uriTemplate: 'test://template/{id}/data', name: 'data' },
        {
          uriTemplate: 'file:///{+path}',
          name: 'files',
          title: 'Files',
          description: 'All of them',
          mimeType: 'text/plain',
          annotations: { audience: ['assistant'] },
        },
      ],
    })
    expect(await resultOf(core, 'resources/list')).toEqual({
      resources: [{ uri: 'file:///own', name: 'own', size: 3 }],
    })
  })

  test.each([
    ['test://template/123/data', '123'],
    ['test://template/a%20b/data', 'a b'],
    ['file:///a/b', 'file:///a/b is a/b'],
    ['file:///own', 'own'],
    ['file:///a..b/...', 'file:///a..b/... is a..b/...'],
  ])('%s is read', async (uri, text) => {
    expect(await resultOf(core, 'resources/read', { uri })).toMatchObject({ contents: [{ uri, text }] })
  })

  test.each([
    'file:///a/../../etc/passwd',
    'file:///a/%2e%2e/etc',
    'file:///%2E.%2fetc',
    'file:///..%5Cetc',
    'file:///a%00.txt',
    'file:///a%0a',
    'test://template/../data',
    'test://template/..%2f..%2fx/data',
    'file:///%zz',
  ])('MC-RES-10: %s, which climbs or hides a control character, is none of them', async (uri) => {
    expect(await errorOf(core, 'resources/read', { uri })).toMatchObject({ code: -32_602, data: { uri } })
  })
})

describe('cache hints of reading', () => {
  const hour: CacheHints = { ttlMs: 3_600_000, cacheScope: 'public' }
  const minute: CacheHints = { ttlMs: 60_000, cacheScope: 'private' }
  const hintsOf = async (resource: Resource, options: object = {}, context: object = {}): Promise<unknown> => {
    const core = createCore({ info, resources: [resource], ...options })
    const outcome = await outcomeOf(core, 'resources/read', { uri: 'x:1' }, context)
    return outcome.kind === 'result' && outcome.hints
  }

  test('MC-CACHE-01, MC-CACHE-03, MC-CACHE-04: come from the answer, the resource or the core', async () => {
    expect(await hintsOf(reading(''))).toEqual({ ttlMs: 0, cacheScope: 'private' })
    expect(await hintsOf(reading(''), { cacheHints: { read: hour } })).toEqual(hour)
    expect(await hintsOf(reading('', { hints: minute }), { cacheHints: { read: hour } })).toEqual(minute)
    expect(await hintsOf(reading({ contents: [], hints: hour }, { hints: minute }))).toEqual(hour)
  })

  test('A-29: nobody may store the answer to a retry', async () => {
    const retry = { resume: { inputResponses: {} } }
    expect(await hintsOf(reading({ contents: [], hints: hour }), {}, retry)).toEqual({
      ttlMs: 0,
      cacheScope: 'private',
    })
  })

  test('MC-CACHE-14, MC-CACHE-20: are private where grants differ by principal', async () => {
    const options = { policy: () => ({}), cacheHints: { read: hour } }
    expect(await hintsOf(reading('', { hints: hour }), options)).toEqual({ ttlMs: 3_600_000, cacheScope: 'private' })
  })
})

test.each<[resource: object, message: string]>([
  [{ uri: 'no-scheme', name: 'n' }, 'resource "no-scheme": uri is no absolute URI'],
  [{ name: 'n' }, 'uri is no absolute URI'],
  [{ uri: 'x:1' }, 'resource "x:1" has no name'],
  [{ uri: 'x:1', name: 'n', annotations: { audience: ['all'] } }, 'resource "x:1": annotations has an audience'],
  [{ uri: 'x:1', name: 'n', timeoutMs: Number.NaN }, 'resource "x:1": timeoutMs'],
])('registration refuses the resource %j', (resource, message) => {
  const register = () => coreOf({ read: () => '', ...resource } as unknown as Resource)
  expect(register).toThrow(DefinitionError)
  expect(register).toThrow(message)
})

test.each<[template: object, message: string]>([
  [{ uriTemplate: 'x:{', name: 'n' }, 'resource template "x:{": a brace'],
  [{ uriTemplate: 'x:{a}' }, 'resource template "x:{a}" has no name'],
  [
    { uriTemplate: 'x:{a}', name: 'n', complete: { b: () => [] } },
    'resource template "x:{a}": complete names "b", which is no variable',
  ],
])('registration refuses the template %j', (template, message) => {
  const register = () =>
    createCore({ info, resourceTemplates: [{ read: () => '', ...template } as unknown as ResourceTemplate] })
  expect(register).toThrow(DefinitionError)
  expect(register).toThrow(message)
})
