import type { Diagnostic, JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { errorOf, resultOf } from '../test/_util/calls.ts'
import type { Completer } from './completion.ts'
import { type CreateCoreOptions, createCore } from './core.ts'
import { ask, listRoots } from './input.ts'
import { definePrompt } from './prompt.ts'
import { defineResource, defineResourceTemplate } from './resource.ts'

const info = { name: 'test', version: '1' }
const languages = ['python', 'pytorch', 'perl', 'ruby']

const core = createCore({
  info,
  prompts: [
    definePrompt({
      name: 'code',
      arguments: { language: {}, framework: {} },
      complete: {
        language: ({ value }) => languages.filter((language) => language.startsWith(value)),
        framework: ({ value, arguments: settled }) => [`${settled.language ?? 'any'}-${value}`],
      },
      handler: () => '',
    }),
    definePrompt({ name: 'plain', arguments: { a: {} }, handler: () => '' }),
  ],
  resources: [defineResource({ uri: 'x:one', name: 'one', read: () => '' })],
  resourceTemplates: [
    defineResourceTemplate({
      uriTemplate: 'x://{city}/{street}',
      name: 'map',
      complete: { city: async ({ value }, { principal }) => Promise.resolve([`${value} of ${principal.id}`]) },
      read: () => '',
    }),
  ],
})

const ref = (name: string) => ({ type: 'ref/prompt', name })
const complete = (params: JsonObject) => resultOf(core, 'completion/complete', params)

describe('completion', () => {
  test('MC-CMP-02, MC-CMP-03, LG-CMP-01: an argument of a prompt', async () => {
    expect(await complete({ ref: ref('code'), argument: { name: 'language', value: 'py' } })).toEqual({
      completion: { values: ['python', 'pytorch'] },
    })
    expect(await complete({ ref: ref('code'), argument: { name: 'framework', value: 'f' } })).toEqual({
      completion: { values: ['any-f'] },
    })
  })

  test('MC-CMP-02, LG-CMP-01: knows the arguments that are settled', async () => {
    const context = { arguments: { language: 'ruby' } }
    expect(await complete({ ref: ref('code'), argument: { name: 'framework', value: 'r' }, context })).toEqual({
      completion: { values: ['ruby-r'] },
    })
  })

  test('a variable of a template, for whoever asks', async () => {
    const uri = 'x://{city}/{street}'
    expect(await complete({ ref: { type: 'ref/resource', uri }, argument: { name: 'city', value: 'O' } })).toEqual({
      completion: { values: ['O of local'] },
    })
    expect(await complete({ ref: { type: 'ref/resource', uri }, argument: { name: 'street', value: 'O' } })).toEqual({
      completion: { values: [] },
    })
  })

  test.each<[params: JsonObject, message: string]>([
    [{}, 'ref must be'],
    [{ ref: { type: 'ref/tool', name: 'x' }, argument: { name: 'a', value: '' } }, 'ref must be'],
    [{ ref: ref('code') }, 'argument must have'],
    [{ ref: ref('code'), argument: { name: 'language', value: 7 } }, 'argument must have'],
    [
      { ref: ref('code'), argument: { name: 'language', value: '' }, context: { arguments: { a: 1 } } },
      'context.arguments',
    ],
    [{ ref: ref('nope'), argument: { name: 'a', value: '' } }, 'Unknown prompt: nope'],
    [{ ref: ref('code'), argument: { name: 'constructor', value: '' } }, 'Unknown argument: constructor'],
    [{ ref: { type: 'ref/resource', uri: 'x:none' }, argument: { name: 'a', value: '' } }, 'Resource not found'],
    [{ ref: { type: 'ref/resource', uri: 'x:one' }, argument: { name: 'a', value: '' } }, 'Unknown argument: a'],
  ])('MC-CMP-02, MC-CMP-04, MC-CMP-05, E13: %j is an error', async (params, message) => {
    const error = await errorOf(core, 'completion/complete', params)
    expect(error.code).toBe(-32_602)
    expect(error.message).toContain(message)
  })
})

describe('what a completer gives', () => {
  const completing = (completer: Completer, more: Partial<CreateCoreOptions> = {}) =>
    createCore({
      info,
      prompts: [{ name: 'p', arguments: { a: {} }, complete: { a: completer }, handler: () => '' }],
      ...more,
    })
  const params = { ref: ref('p'), argument: { name: 'a', value: '' } }

  test('MC-CMP-03: at most 100 values are sent', async () => {
    const values = Array.from({ length: 150 }, (_, n) => `v${n}`)
    const first = values.slice(0, 100)
    expect(
      await resultOf(
        completing(() => values),
        'completion/complete',
        params,
      ),
    ).toEqual({
      completion: { values: first, total: 150, hasMore: true },
    })
    expect(
      await resultOf(
        completing(() => ({ values, total: 900 })),
        'completion/complete',
        params,
      ),
    ).toEqual({
      completion: { values: first, total: 900, hasMore: true },
    })
    expect(
      await resultOf(
        completing(() => ({ values: ['a'], total: 1, hasMore: false })),
        'completion/complete',
        params,
      ),
    ).toEqual({
      completion: { values: ['a'], total: 1, hasMore: false },
    })
  })

  test.each([undefined, 'text', [1], { values: 'x' }, ask({ roots: listRoots() })])(
    'MC-CMP-04, MC-MRTR-02: %j is reported',
    async (value) => {
      const diagnostics: Diagnostic[] = []
      const core = completing(() => value as unknown as string[], { onDiagnostic: (one) => diagnostics.push(one) })
      expect(await errorOf(core, 'completion/complete', params)).toEqual({
        code: -32_603,
        message: 'The completion failed because of an error on the server.',
      })
      expect(diagnostics).toMatchObject([{ code: 'handler-failed' }])
    },
  )

  test('what has no completer of its own goes to that of the core', async () => {
    const core = createCore({
      info,
      prompts: [{ name: 'p', arguments: { a: {} }, handler: () => '' }],
      completions: ({ ref: of, argument }, { value }) => [`${JSON.stringify(of)} ${argument} ${value}`],
    })
    expect(await resultOf(core, 'completion/complete', { ...params, argument: { name: 'a', value: 'x' } })).toEqual({
      completion: { values: ['{"type":"ref/prompt","name":"p"} a x'] },
    })
  })
})
