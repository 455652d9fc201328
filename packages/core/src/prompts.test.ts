import type { Diagnostic, JsonObject } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { errorOf, resultOf } from '../test/_util/calls.ts'
import { createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'
import { type Prompt, definePrompt } from './prompt.ts'
import { ToolError } from './tool-error.ts'

const info = { name: 'test', version: '1' }
const coreOf = (...prompts: Prompt[]) => createCore({ info, prompts })
const get = (prompt: Prompt, args?: JsonObject) =>
  resultOf(coreOf(prompt), 'prompts/get', { name: prompt.name, ...(args && { arguments: args }) })

const review = definePrompt({
  name: 'review',
  title: 'Review',
  description: 'Reviews code',
  arguments: { code: { required: true, description: 'The code' }, style: { title: 'Style' } },
  handler: ({ code, style }) => `Review ${code} in ${style ?? 'any'} style`,
})

describe('what a prompt says', () => {
  test('text is one message of the user', async () => {
    expect(await get(review, { code: 'x' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Review x in any style' } }],
    })
  })

  test('MC-PRM-05, MC-PRM-08: messages with content of any kind', async () => {
    const prompt = definePrompt({
      name: 'kinds',
      handler: async () =>
        Promise.resolve([
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: { type: 'image', data: new Uint8Array([1]), mimeType: 'image/png' } },
          { role: 'user', content: { type: 'resource', resource: { uri: 'x:1', blob: 'AQ==' } } },
        ]),
    })
    expect(await get(prompt)).toEqual({
      messages: [
        { role: 'user', content: { type: 'text', text: 'Hello' } },
        { role: 'assistant', content: { type: 'image', data: 'AQ==', mimeType: 'image/png' } },
        { role: 'user', content: { type: 'resource', resource: { uri: 'x:1', blob: 'AQ==' } } },
      ],
    })
  })

  test('a whole result', async () => {
    const prompt = definePrompt({
      name: 'whole',
      handler: () => ({ description: 'd', messages: [{ role: 'user', content: 'x\ud800' }], _meta: { 'a/b': 1 } }),
    })
    expect(await get(prompt)).toEqual({
      description: 'd',
      messages: [{ role: 'user', content: { type: 'text', text: 'x\ufffd' } }],
      _meta: { 'a/b': 1 },
    })
  })
})

describe('arguments of a prompt', () => {
  test.each<[params: JsonObject, message: string]>([
    [{}, 'name must be a string'],
    [{ name: 'nope' }, 'Unknown prompt: nope'],
    [{ name: 'constructor' }, 'Unknown prompt: constructor'],
    [{ name: 'review' }, 'Invalid arguments for prompt "review": missing code'],
    [{ name: 'review', arguments: { style: 'x' } }, 'Invalid arguments for prompt "review": missing code'],
    [{ name: 'review', arguments: { code: 1 } }, 'arguments must be an object of strings'],
    [{ name: 'review', arguments: [] }, 'arguments must be an object of strings'],
  ])('MC-PRM-03, MC-PRM-04, MC-ERR-13, LG-PRM-01, E13: %j is an error', async (params, message) => {
    expect(await errorOf(coreOf(review), 'prompts/get', params)).toEqual({ code: -32_602, message })
  })

  test('MC-PRM-06, MC-PRM-07, E13: only declared ones come through, each as its own member', async () => {
    let seen: unknown
    const prompt: Prompt = {
      name: 'p',
      arguments: JSON.parse('{"__proto__":{"required":true},"toString":{}}') as Record<string, object>,
      handler: (args) => String((seen = args) !== undefined),
    }
    await get(prompt, JSON.parse('{"__proto__":"a","other":"b"}') as JsonObject)
    expect(Object.entries(seen as object)).toEqual([['__proto__', 'a']])
    expect(await errorOf(coreOf(prompt), 'prompts/get', { name: 'p', arguments: {} })).toMatchObject({
      message: 'Invalid arguments for prompt "p": missing __proto__',
    })
  })

  test('may be a schema of a library', async () => {
    const prompt = definePrompt({
      name: 'times',
      arguments: z.object({ n: z.coerce.number<string>().min(1).describe('How often'), what: z.string().optional() }),
      handler: ({ n, what }) => (what ?? 'x').repeat(n),
    })
    const core = coreOf(prompt)
    expect((await resultOf(core, 'prompts/list')).prompts).toEqual([
      { name: 'times', arguments: [{ name: 'n', description: 'How often', required: true }, { name: 'what' }] },
    ])
    expect(await get(prompt, { n: '3' })).toMatchObject({ messages: [{ content: { text: 'xxx' } }] })
    expect((await errorOf(core, 'prompts/get', { name: 'times', arguments: { n: '0' } })).message).toMatch(
      /^Invalid arguments for prompt "times": arguments\.n: /,
    )
    const slow = definePrompt({
      name: 'slow',
      arguments: z.object({ n: z.string().refine((n) => Promise.resolve(n !== ''), 'empty') }),
      handler: ({ n }) => n,
    })
    expect(await get(slow, { n: 'a' })).toMatchObject({ messages: [{ content: { text: 'a' } }] })
    expect((await errorOf(coreOf(slow), 'prompts/get', { name: 'slow', arguments: { n: '' } })).message).toContain(
      'empty',
    )
  })
})

describe('a prompt that fails', () => {
  const failing = (handler: Prompt['handler']) => {
    const diagnostics: Diagnostic[] = []
    const core = createCore({ info, prompts: [{ name: 'p', handler }], onDiagnostic: (one) => diagnostics.push(one) })
    return errorOf(core, 'prompts/get', { name: 'p' }).then((error) => ({
      error,
      codes: diagnostics.map(({ code }) => code),
    }))
  }

  test.each<[problem: string, handler: Prompt['handler']]>([
    ['an error', () => Promise.reject(new Error('secret'))],
    ['no result', () => 7],
    ['a message without role', () => [{ content: 'secret' }]],
    ['a message without content', () => [{ role: 'user' }]],
  ])('MC-PRM-04, MC-ERR-14: %s is reported and becomes an internal error', async (_problem, handler) => {
    expect(await failing(handler)).toEqual({
      error: { code: -32_603, message: 'The prompt "p" failed because of an error on the server.' },
      codes: ['handler-failed'],
    })
  })

  test('may say why', async () => {
    expect(await failing(() => Promise.reject(new ToolError('The index is being built.')))).toEqual({
      error: { code: -32_603, message: 'The index is being built.' },
      codes: [],
    })
  })

  test('a schema that fails is a failure of the prompt', async () => {
    const validate = (): never => {
      throw new Error('broken')
    }
    const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({}) }
    const prompt: Prompt = {
      name: 'p',
      arguments: { '~standard': { version: 1, vendor: 'broken', validate, jsonSchema } } as Prompt['arguments'],
      handler: () => '',
    }
    expect(await errorOf(coreOf(prompt), 'prompts/get', { name: 'p' })).toMatchObject({ code: -32_603 })
  })

  test('has its deadline', async () => {
    const prompt: Prompt = { name: 'p', timeoutMs: 10, handler: () => new Promise(() => undefined) }
    expect(await errorOf(coreOf(prompt), 'prompts/get', { name: 'p' })).toEqual({
      code: -32_603,
      message: 'The prompt "p" did not finish within 10 ms.',
    })
  })
})

test('the list holds what clients need', async () => {
  expect(await resultOf(coreOf(review), 'prompts/list')).toEqual({
    prompts: [
      {
        name: 'review',
        title: 'Review',
        description: 'Reviews code',
        arguments: [
          { name: 'code', required: true, description: 'The code' },
          { name: 'style', title: 'Style' },
        ],
      },
    ],
  })
})

test.each<[prompt: object, message: string]>([
  [{ handler: () => '' }, 'a prompt has no name'],
  [{ name: 'p', complete: { a: () => [] }, handler: () => '' }, 'prompt "p": complete names "a", which is no argument'],
  [{ name: 'p', timeoutMs: -1, handler: () => '' }, 'prompt "p": timeoutMs'],
  [{ name: 'p', arguments: z.object({ d: z.date() }), handler: () => '' }, 'prompt "p": arguments: zod cannot'],
])('registration refuses %j', (prompt, message) => {
  expect(() => coreOf(prompt as Prompt)).toThrow(DefinitionError)
  expect(() => coreOf(prompt as Prompt)).toThrow(message)
})
