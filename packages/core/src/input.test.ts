import { type Diagnostic, type JsonObject, type JsonValue, type Principal, createSeal } from '@atenea/mcpcompat'
import { inputRequestFault } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { askOf, errorOf, outcomeOf, resultOf, textOf } from '../test/_util/calls.ts'
import { type CreateCoreOptions, createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'
import { type InputRequest, ask, createMessage, elicitForm, elicitUrl, listRoots, optional } from './input.ts'
import { type Tool, defineTool } from './tool.ts'

const info = { name: 'test', version: '1' }
const everything: JsonObject = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }
const all = { peer: { capabilities: everything } }
const accept = (content: JsonObject): JsonObject => ({ action: 'accept', content })

const who = elicitForm({ message: 'Who are you?', schema: z.object({ name: z.string().min(1) }) })
const capital = createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
})
const roots = listRoots()

function coreOf(tool: Tool, more: Partial<CreateCoreOptions> = {}) {
  const diagnostics: Diagnostic[] = []
  const core = createCore({ info, tools: [tool], onDiagnostic: (one) => diagnostics.push(one), ...more })
  return { core, diagnostics }
}

const greet = defineTool({
  name: 'greet',
  handler(_args, { input }) {
    const answer = input.get('user_name', who)
    if (answer === undefined) return ask({ user_name: who })
    return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : `You chose ${answer.action}.`
  },
})

/** Calls the only tool again with answers. */
const again = (core: Parameters<typeof resultOf>[0], name: string, inputResponses: JsonObject, requestState?: string) =>
  outcomeOf(core, 'tools/call', { name }, { ...all, resume: { inputResponses, ...(requestState && { requestState }) } })

describe('asking', () => {
  test('MC-MRTR-03, MC-MRTR-04, MC-MRTR-05: gives the requests, each a bare one', async () => {
    const outcome = await askOf(coreOf(greet).core, 'tools/call', { name: 'greet' }, all)
    expect([...(outcome.inputRequests ?? [])]).toEqual([['user_name', who.call]])
    expect(outcome.requestState).toBeUndefined()
    expect(outcome.raw).toEqual({ inputRequests: { user_name: who.call } })
    for (const { call } of [who, capital, roots, elicitUrl({ message: 'm', url: 'https://example.com/' })]) {
      expect(inputRequestFault(call as unknown as JsonValue)).toBeUndefined()
    }
  })

  test('MC-MRTR-13, MC-STL-01: answers may come cold, without any state', async () => {
    expect(await again(coreOf(greet).core, 'greet', { user_name: accept({ name: 'Ada' }) })).toMatchObject({
      value: { text: '{"content":[{"type":"text","text":"Hello, Ada!"}]}' },
    })
  })

  test('MC-MRTR-12, MC-MRTR-23, MC-ELIC-15: asks again for what is missing, misnamed, malformed or does not fit', async () => {
    const { core } = coreOf(greet)
    for (const inputResponses of [
      {},
      { wrong_key: accept({ name: 'Ada' }) },
      { user_name: {} },
      { user_name: { action: 'perhaps' } },
      { user_name: accept({ name: '' }) },
      { user_name: accept({ name: 7 }) },
      { user_name: { action: 'accept' } },
      // an answer wrapped in an envelope is none
      { user_name: { method: 'elicitation/create', result: accept({ name: 'Ada' }) } },
      JSON.parse('{"__proto__":{"user_name":{"action":"accept","content":{"name":"Ada"}}}}') as JsonObject,
    ] satisfies JsonObject[]) {
      expect(await again(core, 'greet', inputResponses)).toMatchObject({ kind: 'ask' })
    }
  })

  test('MC-MRTR-21: an answer that is no object is a fault of the request', async () => {
    const { core } = coreOf(greet)
    for (const user_name of [12_345, 'Ada', null, []]) {
      const context = { ...all, resume: { inputResponses: { user_name } } }
      expect(await errorOf(core, 'tools/call', { name: 'greet' }, context)).toMatchObject({ code: -32_602 })
    }
  })

  test('E13: a key that every object has is missing when it was not sent', async () => {
    const tool = defineTool({
      name: 'odd',
      handler: (_args, { input }) => (input.get('toString', who) === undefined ? ask({ toString: who }) : 'done'),
    })
    expect(await again(coreOf(tool).core, 'odd', {})).toMatchObject({ kind: 'ask' })
  })

  test('MC-MRTR-22: keys that nobody asked for are ignored', async () => {
    const outcome = await again(coreOf(greet).core, 'greet', {
      user_name: accept({ name: 'Ada' }),
      more: { a: 1 },
      n: 7,
    })
    expect(outcome.kind).toBe('result')
  })

  test('MC-ELIC-16: declining and cancelling come through', async () => {
    const { core } = coreOf(greet)
    for (const action of ['decline', 'cancel']) {
      expect(await again(core, 'greet', { user_name: { action } })).toMatchObject({
        value: { text: expect.stringContaining(`You chose ${action}.`) as string },
      })
    }
  })

  test('MC-ELIC-08: consent to a link is no more than that', async () => {
    const link = elicitUrl({ message: 'Sign in', url: 'https://example.com/sign-in' })
    const tool = defineTool({
      name: 'sign',
      handler: (_args, { input }) => JSON.stringify(input.get('link', link) ?? null),
    })
    const { core } = coreOf(tool)
    const read = async (link: JsonObject) =>
      textOf(await resultOf(core, 'tools/call', { name: 'sign' }, { ...all, resume: { inputResponses: { link } } }))
    expect(await read({ action: 'accept', content: { token: 'x' } })).toBe('{"action":"accept"}')
    expect(await read({ action: 'sure' })).toBe('null')
  })

  test('MC-ROOT-02, MC-SAMP-03: what a model or the roots answered is read by its form', async () => {
    const tool = defineTool({
      name: 'read',
      handler: (_args, { input }) => JSON.stringify([input.get('m', capital)?.model, input.get('r', roots)]),
    })
    const { core } = coreOf(tool)
    const read = async (inputResponses: JsonObject) =>
      textOf(await resultOf(core, 'tools/call', { name: 'read' }, { ...all, resume: { inputResponses } }))
    const message = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm1' }
    expect(await read({ m: message, r: { roots: [{ uri: 'file:///test/root' }] } })).toBe(
      '["m1",[{"uri":"file:///test/root"}]]',
    )
    expect(await read({ m: { role: 'assistant' }, r: { roots: [{ uri: 'https://x/' }] } })).toBe('[null,null]')
    expect(await read({ r: { roots: 'x' } })).toBe('[null,null]')
    expect(await read({})).toBe('[null,null]')
  })

  test('MC-MRTR-02: prompts and resources may ask as well', async () => {
    const context = elicitForm({ message: 'Context?', schema: z.object({ context: z.string() }) })
    const core = createCore({
      info,
      prompts: [{ name: 'p', handler: (_args, { input }) => answerOf(input.get('c', context)) }],
      resources: [{ uri: 'x:1', name: 'x', read: (_request, { input }) => answerOf(input.get('c', context)) }],
    })
    function answerOf(answer: ReturnType<typeof context.read>) {
      return answer?.action === 'accept' ? answer.content.context : ask({ c: context })
    }
    const retry = { ...all, resume: { inputResponses: { c: accept({ context: 'work' }) } } }
    expect((await askOf(core, 'prompts/get', { name: 'p' }, all)).inputRequests?.size).toBe(1)
    expect(await resultOf(core, 'prompts/get', { name: 'p' }, retry)).toMatchObject({
      messages: [{ content: { text: 'work' } }],
    })
    expect((await askOf(core, 'resources/read', { uri: 'x:1' }, all)).inputRequests?.size).toBe(1)
    expect(await resultOf(core, 'resources/read', { uri: 'x:1' }, retry)).toMatchObject({
      contents: [{ text: 'work' }],
    })
  })

  test('A-39: an ask for nothing is a fault of the handler', async () => {
    const { core, diagnostics } = coreOf({ name: 'nothing', handler: () => ask({}) })
    expect(await resultOf(core, 'tools/call', { name: 'nothing' }, all)).toMatchObject({ isError: true })
    expect(diagnostics).toMatchObject([{ code: 'handler-failed' }])
  })
})

describe('B11, A-55: only what the client declared is asked', () => {
  const asking = (requests: Record<string, InputRequest<unknown>>) =>
    coreOf({ name: 'a', handler: () => ask(requests) }).core
  const keysFor = async (requests: Record<string, InputRequest<unknown>>, capabilities: JsonObject) => [
    ...((
      await askOf(asking(requests), 'tools/call', { name: 'a' }, { peer: { capabilities } })
    ).inputRequests?.keys() ?? []),
  ]
  const lackFor = async (requests: Record<string, InputRequest<unknown>>, capabilities: JsonObject) =>
    errorOf(asking(requests), 'tools/call', { name: 'a' }, { peer: { capabilities } })

  test('MC-REQ-08, MC-MRTR-06, MC-ERR-06: else the call is refused with what is missing', async () => {
    expect(await lackFor({ who, capital }, { roots: {} })).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { elicitation: { form: {} }, sampling: {} } },
    })
    expect(await lackFor({ roots }, {})).toMatchObject({ data: { requiredCapabilities: { roots: {} } } })
    expect((await lackFor({ who }, {})).message).not.toContain('\n')
  })

  test('MC-ELIC-02, MC-ELIC-03: a bare declaration means forms, and links need their own', async () => {
    const link = elicitUrl({ message: 'm', url: 'https://example.com/' })
    expect(await keysFor({ who }, { elicitation: {} })).toEqual(['who'])
    expect(await lackFor({ link }, { elicitation: {} })).toMatchObject({
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    })
    expect(await lackFor({ who }, { elicitation: { url: {} } })).toMatchObject({
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    })
    expect(await lackFor({ link, who }, {})).toMatchObject({
      data: { requiredCapabilities: { elicitation: { url: {}, form: {} } } },
    })
  })

  test('MC-SAMP-02, MC-SAMP-05: tools and context of a sampling need their own', async () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'x' } }]
    const withTools = createMessage({ messages, maxTokens: 1, tools: [] })
    const withContext = createMessage({ messages, maxTokens: 1, includeContext: 'thisServer' })
    expect(await lackFor({ withTools }, { sampling: {} })).toMatchObject({
      data: { requiredCapabilities: { sampling: { tools: {} } } },
    })
    const paramsFor = async (capabilities: JsonObject) =>
      (
        await askOf(asking({ withContext }), 'tools/call', { name: 'a' }, { peer: { capabilities } })
      ).inputRequests?.get('withContext')?.params
    expect(await paramsFor({ sampling: {} })).toEqual({ messages, maxTokens: 1 })
    expect(await paramsFor({ sampling: { context: {} } })).toMatchObject({ includeContext: 'thisServer' })
  })

  test('what is optional is left out', async () => {
    expect(await keysFor({ who: optional(who), capital }, { sampling: {} })).toEqual(['capital'])
    expect(await keysFor({ who: optional(who), capital }, everything)).toEqual(['who', 'capital'])
    expect(await lackFor({ who: optional(who), capital: optional(capital) }, { roots: {} })).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { elicitation: { form: {} }, sampling: {} } },
    })
  })

  test('a handler can find out beforehand', async () => {
    const tool = defineTool({ name: 's', handler: (_args, { supports }) => `${supports(who)} ${supports(capital)}` })
    const context = { peer: { capabilities: { sampling: {} } } }
    expect(textOf(await resultOf(coreOf(tool).core, 'tools/call', { name: 's' }, context))).toBe('false true')
  })

  test('MC-REQ-10, MC-STL-01: what an earlier call declared counts for nothing', async () => {
    const { core } = coreOf(greet)
    await askOf(core, 'tools/call', { name: 'greet' }, all)
    expect(await errorOf(core, 'tools/call', { name: 'greet' })).toMatchObject({ code: -32_021 })
  })
})

describe('requests that nobody may send are refused when they are made', () => {
  const text = { type: 'text', text: 'x' }
  test.each<[make: () => unknown, message: string]>([
    [() => elicitForm({ message: 'm', schema: z.object({ a: z.object({}) }) }), 'has a field that is no'],
    [() => elicitForm({ message: 'm', schema: { type: 'string' } }), 'no requestedSchema of type object'],
    [() => elicitForm({ message: 'm', schema: { type: 'object', $ref: 'x' } }), 'leads out of the schema'],
    [() => elicitForm({ message: 7 as never, schema: { type: 'object', properties: {} } }), 'has no message'],
    [() => elicitUrl({ message: 'm', url: '/here' }), 'has no valid url'],
    [() => createMessage({ maxTokens: 1 }), 'has no messages'],
    [() => createMessage({ messages: [] }), 'has no integer maxTokens'],
    [
      () =>
        createMessage({
          maxTokens: 1,
          messages: [{ role: 'user', content: [{ type: 'tool_result', toolUseId: '1' }, text] }],
        }),
      'holds something else as well',
    ],
    [
      () =>
        createMessage({
          maxTokens: 1,
          messages: [
            { role: 'assistant', content: [{ type: 'tool_use', id: '1' }] },
            { role: 'user', content: text },
          ],
        }),
      'each tool use needs its result',
    ],
    [
      () =>
        createMessage({
          maxTokens: 1,
          messages: [{ role: 'user', content: [{ type: 'tool_result', toolUseId: '1' }] }],
        }),
      'each tool use needs its result',
    ],
  ])('MC-ELIC-05, MC-ELIC-06, MC-SAMP-03, MC-SAMP-04: %s', (make, message) => {
    expect(make).toThrow(DefinitionError)
    expect(make).toThrow(message)
  })

  test('MC-SAMP-04: uses and results that belong together pass', () => {
    const use = {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: '1' },
        { type: 'tool_use', id: '2' },
      ],
    }
    const results = {
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: '2' },
        { type: 'tool_result', toolUseId: '1' },
      ],
    }
    expect(
      createMessage({ maxTokens: 1, messages: [use, results, { role: 'assistant', content: text }] }).optional,
    ).toBe(false)
  })

  test('MC-ELIC-05: a form of every kind of field', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe', minLength: 1 },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5, maximum: 100 },
        status: { type: 'string', enum: ['active', 'inactive'], default: 'active' },
        verified: { type: 'boolean', default: true },
        titled: {
          type: 'string',
          oneOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'B' },
          ],
        },
        legacy: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
        many: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2 },
        manyTitled: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
      },
      required: ['name'],
    }
    const form = elicitForm({ message: 'm', schema })
    expect(form.call.params).toEqual({ mode: 'form', message: 'm', requestedSchema: schema })
    const content = {
      name: 'x',
      age: 1,
      score: 1.5,
      status: 'inactive',
      titled: 'b',
      many: ['a', 'b'],
      manyTitled: ['a'],
    }
    expect(form.read(accept(content))).toEqual(accept(content))
    for (const wrong of [
      { age: 1.5 },
      { score: 101 },
      { status: 'x' },
      { titled: 'c' },
      { many: ['c'] },
      { manyTitled: ['b'] },
    ]) {
      expect(form.read(accept({ ...content, ...wrong }))).toBeUndefined()
    }
  })

  test('a form cannot wait for its check', () => {
    const slow = elicitForm({ message: 'm', schema: z.object({ a: z.string().refine(() => Promise.resolve(true)) }) })
    expect(() => slow.read(accept({ a: 'x' }))).toThrow('does not answer at once')
  })
})

describe('state', () => {
  const step = (field: string) => elicitForm({ message: field, schema: z.object({ [field]: z.string() }) })
  const [step1, step2] = [step('name'), step('color')]
  const rounds = defineTool({
    name: 'rounds',
    inputSchema: z.object({ a: z.number().optional() }),
    handler(_args, { input }) {
      const known = (input.state ?? {}) as { name?: string }
      const first = input.get('step1', step1)
      if (known.name === undefined) {
        if (first?.action !== 'accept') return ask({ step1 }, { state: {} })
        return ask({ step2 }, { state: { name: String(first.content.name) } })
      }
      const second = input.get('step2', step2)
      if (second?.action !== 'accept') return ask({ step2 }, { state: known })
      return `${known.name} likes ${String(second.content.color)}`
    },
  })
  const params = { name: 'rounds', arguments: { a: 1 } }
  const resume = (requestState: string | undefined, inputResponses: JsonObject = {}) => ({
    ...all,
    resume: { inputResponses, ...(requestState !== undefined && { requestState }) },
  })
  const start = async (core: Parameters<typeof askOf>[0]) => (await askOf(core, 'tools/call', params, all)).requestState

  test('MC-MRTR-07, MC-MRTR-13, MC-STL-05: leads through several rounds, each with its own', async () => {
    const { core } = coreOf(rounds)
    const state1 = await start(core)
    const second = await askOf(core, 'tools/call', params, resume(state1, { step1: accept({ name: 'Ada' }) }))
    expect([...(second.inputRequests?.keys() ?? [])]).toEqual(['step2'])
    expect(second.requestState).not.toBe(state1)
    expect(second.raw).toMatchObject({ requestState: second.requestState })
    const third = await resultOf(
      core,
      'tools/call',
      params,
      resume(second.requestState, { step2: accept({ color: 'blue' }) }),
    )
    expect(textOf(third)).toBe('Ada likes blue')
  })

  test('counts its rounds', async () => {
    const tool = defineTool({
      name: 'count',
      handler: (_args, { input }) => (input.round === 3 ? 'enough' : ask({}, { state: input.round })),
    })
    const { core } = coreOf(tool)
    let state: string | undefined
    for (let round = 0; round < 3; round++) {
      state = (await askOf(core, 'tools/call', { name: 'count' }, resume(state))).requestState
    }
    expect(textOf(await resultOf(core, 'tools/call', { name: 'count' }, resume(state)))).toBe('enough')
  })

  test('MC-MRTR-12: the same state may come again, with other answers', async () => {
    const { core } = coreOf(rounds)
    const state = await start(core)
    for (const name of ['Ada', 'Grace']) {
      const next = await askOf(core, 'tools/call', params, resume(state, { step1: accept({ name }) }))
      const done = await resultOf(
        core,
        'tools/call',
        params,
        resume(next.requestState, { step2: accept({ color: 'red' }) }),
      )
      expect(textOf(done)).toBe(`${name} likes red`)
    }
  })

  test('holds nothing that a client could read', async () => {
    const { core } = coreOf({ name: 's', handler: () => ask({ roots }, { state: { secret: 'hunter2' } }) })
    const { requestState } = await askOf(core, 'tools/call', { name: 's' }, all)
    expect(requestState).not.toContain('hunter2')
    expect(Buffer.from(requestState ?? '', 'base64').toString('latin1')).not.toContain('hunter2')
  })

  test('MC-MRTR-08, MC-MRTR-09, MC-MRTR-10: is refused when it is changed, foreign, of another request, or expired', async () => {
    let now = 1000
    const seal = createSeal({ now: () => now })
    const { core, diagnostics } = coreOf(rounds, { seal })
    const state = (await start(core)) ?? ''
    const mallory: Principal = { id: 'mallory', authenticated: true }
    const refused = {
      code: -32_602,
      message: 'requestState is not valid for this request; start over without it',
    }
    const attempts: [params: JsonObject, context: object][] = [
      [params, resume(`${state}-TAMPERED`)],
      [params, resume('')],
      [params, resume('made up')],
      [params, { ...resume(state), principal: mallory }],
      [{ ...params, arguments: { a: 2 } }, resume(state)],
      [{ name: 'rounds' }, resume(state)],
    ]
    for (const [request, context] of attempts)
      expect(await errorOf(core, 'tools/call', request, context)).toEqual(refused)
    const other = coreOf(rounds).core
    expect(await errorOf(other, 'tools/call', params, resume(state))).toEqual(refused)
    now += 10 * 60 * 1000 + 1
    expect(await errorOf(core, 'tools/call', params, resume(state))).toEqual(refused)
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(7).fill('request-state-refused'))
    expect(JSON.stringify(diagnostics)).not.toContain(state)
  })

  test('MC-MRTR-09: is verified also for what never gave any', async () => {
    const { core } = coreOf(defineTool({ name: 'plain', handler: () => 'ran' }))
    expect(await errorOf(core, 'tools/call', { name: 'plain' }, resume('made up'))).toMatchObject({ code: -32_602 })
  })

  test('MC-MRTR-19: belongs to the call that it was given to', async () => {
    const { core } = coreOf(rounds)
    const [one, two] = await Promise.all([start(core), start(core)])
    expect(one).not.toBe(two)
    const plain = await askOf(core, 'tools/call', params, all)
    expect([...(plain.inputRequests?.keys() ?? [])]).toEqual(['step1'])
  })

  test('MC-MRTR-10: the order of members and the envelope do not matter', async () => {
    const { core } = coreOf(rounds)
    const state = await start(core)
    const turned = { arguments: { a: 1 }, name: 'rounds' }
    expect(await askOf(core, 'tools/call', turned, resume(state))).toMatchObject({ kind: 'ask' })
  })

  test('MC-MRTR-11: state for one use is taken once', async () => {
    const tool = defineTool({
      name: 'once',
      handler: (_args, { input }) => (input.state === undefined ? ask({ roots }, { state: 1, once: true }) : 'done'),
    })
    const { core } = coreOf(tool)
    const { requestState } = await askOf(core, 'tools/call', { name: 'once' }, all)
    const use = resume(requestState)
    expect(textOf(await resultOf(core, 'tools/call', { name: 'once' }, use))).toBe('done')
    expect(await errorOf(core, 'tools/call', { name: 'once' }, use)).toMatchObject({ code: -32_602 })
  })

  test('MC-MRTR-15: may be all that is asked for', async () => {
    const tool = defineTool({
      name: 'wait',
      handler: (_args, { input }) =>
        input.state === undefined ? ask({}, { state: 'half', ttlMs: 1000 }) : `was ${JSON.stringify(input.state)}`,
    })
    const { core } = coreOf(tool)
    const { inputRequests, requestState, raw } = await askOf(core, 'tools/call', { name: 'wait' })
    expect(inputRequests).toBeUndefined()
    expect(raw).toEqual({ requestState })
    expect(textOf(await resultOf(core, 'tools/call', { name: 'wait' }, resume(requestState)))).toBe('was "half"')
  })

  test('that is too large is a fault of the handler', async () => {
    const { core, diagnostics } = coreOf({ name: 'big', handler: () => ask({}, { state: 'x'.repeat(100_000) }) })
    expect(await resultOf(core, 'tools/call', { name: 'big' })).toMatchObject({ isError: true })
    expect(diagnostics).toMatchObject([{ code: 'handler-failed' }])
  })
})
