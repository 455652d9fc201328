import type { JsonObject, LogLevel, Principal } from '@atenea/mcpcompat'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Core,
  type FormAnswer,
  type HandlerContext,
  type Input,
  type PromptValues,
  type Root,
  type Session,
  type Tool,
  type VariablesOf,
  ask,
  createCore,
  definePrompt,
  defineResource,
  defineResourceTemplate,
  defineTool,
  elicitForm,
  jsonSchema,
  listRoots,
} from './index.ts'

const info = { name: 'types', version: '1' }

test('a tool gets what its schema makes of the arguments', () => {
  defineTool({
    name: 'zod',
    inputSchema: z.object({ city: z.string(), days: z.coerce.number().default(1) }),
    handler(args, context) {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
      expectTypeOf(context).toEqualTypeOf<HandlerContext>()
      return args.city
    },
  })
  defineTool({
    name: 'raw',
    inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
    handler(args) {
      expectTypeOf(args).toEqualTypeOf<JsonObject>()
      return [{ type: 'text', text: JSON.stringify(args) }]
    },
  })
  defineTool({
    name: 'typed',
    inputSchema: jsonSchema<{ a?: string }>({ type: 'object', properties: { a: { type: 'string' } } }),
    handler(args) {
      expectTypeOf(args).toEqualTypeOf<{ a?: string }>()
      return undefined
    },
  })
  const none = defineTool({
    name: 'none',
    handler(args) {
      expectTypeOf(args).toEqualTypeOf<JsonObject>()
    },
  })
  expectTypeOf(none).toExtend<Tool>()
})

test('a tool returns what its schemas say', () => {
  const outputSchema = z.object({ n: z.number(), at: z.string().optional() })
  const core = createCore({
    info,
    tools: [
      defineTool({ name: 'value', outputSchema, handler: () => ({ n: 1 }) }),
      defineTool({ name: 'later', outputSchema, handler: async () => Promise.resolve({ n: 1, at: 'x' }) }),
      defineTool({ name: 'whole', outputSchema, handler: () => ({ structuredContent: { n: 1 }, _meta: {} }) }),
      defineTool({
        name: 'failed',
        outputSchema,
        handler: () => ({ isError: true, content: [{ type: 'text', text: 'no' }] }),
      }),
      defineTool({ name: 'content', handler: () => [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] }),
      defineTool({ name: 'error', handler: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }) }),
      defineTool({ name: 'asks', outputSchema, handler: () => ask({ roots: listRoots() }) }),
    ],
  })
  expectTypeOf(core).toExtend<Core>()
  // @ts-expect-error the value does not fit the schema
  defineTool({ name: 'wrong', outputSchema, handler: () => ({ n: 'one' }) })
  // @ts-expect-error a number is no content
  defineTool({ name: 'wrong', handler: () => 1 })
  // @ts-expect-error there is no such content
  defineTool({ name: 'wrong', handler: () => [{ type: 'video', data: '' }] })
})

test('the context is typed', () => {
  expectTypeOf<HandlerContext['session']>().toEqualTypeOf<Session>()
  expectTypeOf<HandlerContext['principal']>().toEqualTypeOf<Principal>()
  expectTypeOf<HandlerContext['input']>().toEqualTypeOf<Input>()
  expectTypeOf<Parameters<HandlerContext['log']>[0]>().toEqualTypeOf<LogLevel>()
  expectTypeOf<HandlerContext['signal']>().toEqualTypeOf<AbortSignal>()
})

test('an answer has the type of what was asked', () => {
  const form = elicitForm({ message: 'Who are you?', schema: z.object({ name: z.string() }) })
  const read = (input: Input) => [input.get('who', form), input.get('roots', listRoots())] as const
  expectTypeOf(read).returns.toEqualTypeOf<
    readonly [FormAnswer<{ name: string }> | undefined, readonly Root[] | undefined]
  >()
})

test('a prompt gets its arguments by name', () => {
  expectTypeOf<PromptValues<undefined>>().toEqualTypeOf<Readonly<Record<never, never>>>()
  definePrompt({
    name: 'named',
    arguments: { language: { required: true }, style: { description: 'any' } },
    complete: { language: ({ value }) => [value] },
    handler(args) {
      expectTypeOf(args).toExtend<{ readonly language: string; readonly style?: string }>()
      expectTypeOf(args.language).toEqualTypeOf<string>()
      expectTypeOf(args.style).toEqualTypeOf<string | undefined>()
      return `Use ${args.language}`
    },
  })
  definePrompt({
    name: 'zod',
    arguments: z.object({ count: z.coerce.number<string>() }),
    handler(args) {
      expectTypeOf(args).toEqualTypeOf<{ count: number }>()
      return [{ role: 'assistant', content: { type: 'text', text: 'ok' } }]
    },
  })
  // @ts-expect-error there is no argument of that name
  definePrompt({ name: 'wrong', arguments: { a: {} }, complete: { b: () => [] }, handler: () => '' })
})

test('a resource template gets the variables of its text', () => {
  expectTypeOf<VariablesOf<'x://{id}/data'>>().toExtend<{ readonly id: string }>()
  expectTypeOf<VariablesOf<'x:{/path*}{?q,lang}'>['path']>().toEqualTypeOf<readonly string[]>()
  expectTypeOf<VariablesOf<'x:{/path*}{?q,lang}'>['q']>().toEqualTypeOf<string | undefined>()
  defineResourceTemplate({
    uriTemplate: 'x://{did}/{cid}',
    name: 'blob',
    complete: { cid: () => [] },
    read({ uri, variables }) {
      expectTypeOf(uri).toEqualTypeOf<string>()
      expectTypeOf(variables.did).toEqualTypeOf<string>()
      return new Uint8Array()
    },
  })
  defineResource({ uri: 'x:1', name: 'one', read: () => ({ text: 'one', mimeType: 'text/plain' }) })
  // @ts-expect-error there is no variable of that name
  defineResourceTemplate({ uriTemplate: 'x:{a}', name: 'a', complete: { b: () => [] }, read: () => '' })
})
