import { type Diagnostic, type JsonObject, RpcError } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { errorOf, outcomeOf, resultOf, textOf } from '../test/_util/calls.ts'
import { createCore } from './core.ts'
import { DefinitionError } from './definition-error.ts'
import type { HandlerContext } from './handler-context.ts'
import { type Tool, defineTool } from './tool.ts'
import { ToolError } from './tool-error.ts'

const info = { name: 'test', version: '1' }

function coreOf(...tools: Tool[]): { core: ReturnType<typeof createCore>; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  return { core: createCore({ info, tools, onDiagnostic: (diagnostic) => diagnostics.push(diagnostic) }), diagnostics }
}

/** The result of calling the only tool of a core. */
function run(tool: Tool, args?: JsonObject): Promise<JsonObject> {
  return resultOf(coreOf(tool).core, 'tools/call', { name: tool.name, ...(args && { arguments: args }) })
}

/** The text of what the only diagnostic was caused by. */
function causeOf([diagnostic]: Diagnostic[]): string {
  if (!(diagnostic?.cause instanceof Error)) throw new Error('there is no diagnostic with a cause')
  return diagnostic.cause.message
}

const returning = (value: unknown): Tool => ({ name: 'give', handler: () => value })

describe('what a handler returns', () => {
  test('text is one block', async () => {
    expect(await run(defineTool({ name: 'hi', handler: () => 'Hello' }))).toEqual({
      content: [{ type: 'text', text: 'Hello' }],
    })
  })

  test('the synchronous way makes no promise', () => {
    const { core } = coreOf(defineTool({ name: 'hi', handler: () => 'Hello' }))
    const context = { peer: { capabilities: {} }, principal: { id: 'p' }, resume: undefined }
    expect(core.call({ method: 'tools/call', params: { name: 'hi' } }, context as never)).toMatchObject({
      kind: 'result',
    })
  })

  test('a promise is waited for, and so is anything that acts like one', async () => {
    expect(textOf(await run(defineTool({ name: 'later', handler: () => Promise.resolve('Hello') })))).toBe('Hello')
    class Later extends Promise<string> {}
    expect(textOf(await run(returning(Later.resolve('Hello'))))).toBe('Hello')
  })

  test('nothing is no content', async () => {
    expect(await run(returning(undefined))).toEqual({ content: [] })
  })

  test('MC-TOOL-17, MC-TOOL-18: content of every kind', async () => {
    const content = await run(
      defineTool({
        name: 'all',
        handler: () => [
          { type: 'text', text: 'a', annotations: { audience: ['user'], priority: 0.5 } },
          { type: 'image', data: new Uint8Array([1, 2, 3]), mimeType: 'image/png' },
          { type: 'audio', data: 'AQID', mimeType: 'audio/wav', _meta: { 'x/y': 1 } },
          { type: 'resource_link', uri: 'x:1', name: 'one', size: 3 },
          { type: 'resource', resource: { uri: 'x:2', text: 't', mimeType: 'text/plain' } },
          { type: 'resource', resource: { uri: 'x:3', blob: new Uint8Array([255]) } },
        ],
      }),
    )
    expect(content).toEqual({
      content: [
        { type: 'text', text: 'a', annotations: { audience: ['user'], priority: 0.5 } },
        { type: 'image', data: 'AQID', mimeType: 'image/png' },
        { type: 'audio', data: 'AQID', mimeType: 'audio/wav', _meta: { 'x/y': 1 } },
        { type: 'resource_link', uri: 'x:1', name: 'one', size: 3 },
        { type: 'resource', resource: { uri: 'x:2', text: 't', mimeType: 'text/plain' } },
        { type: 'resource', resource: { uri: 'x:3', blob: '/w==' } },
      ],
    })
  })

  test('a whole result, with its own metadata', async () => {
    const tool = defineTool({
      name: 'whole',
      handler: () => ({ content: [{ type: 'text', text: 'no' }], isError: true, _meta: { 'x/y': [1] } }),
    })
    expect(await run(tool)).toEqual({
      content: [{ type: 'text', text: 'no' }],
      isError: true,
      _meta: { 'x/y': [1] },
    })
    expect(await run(returning({ structuredContent: { a: 1 }, isError: false }))).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      structuredContent: { a: 1 },
    })
  })

  test.each([
    [7, 'returns text, content or a result'],
    [{ a: 1 }, 'returns text, content or a result'],
    [['text'], 'a content block is not an object'],
    [[{ type: 'video' }], 'none of the types'],
    [[{ type: 'text' }], 'has no text'],
    [[{ type: 'text', text: 'x', annotations: { priority: 2 } }], 'a priority outside 0..1'],
    [[{ type: 'image', data: 'not base64!', mimeType: 'image/png' }], 'neither bytes nor base64'],
    [[{ type: 'image', data: 'AQID' }], 'no mimeType'],
    [[{ type: 'resource', resource: { text: 'x' } }], 'no uri'],
    [[{ type: 'resource', resource: { uri: 'x:' } }], 'neither text nor blob'],
    [[{ type: 'resource_link', uri: 'x:' }], 'no uri or no name'],
  ])('%j is reported and becomes a general failure', async (value, problem) => {
    const { core, diagnostics } = coreOf(returning(value))
    const result = await resultOf(core, 'tools/call', { name: 'give' })
    expect(result).toEqual({
      content: [{ type: 'text', text: 'The tool "give" failed because of an error on the server.' }],
      isError: true,
    })
    expect(diagnostics).toMatchObject([{ level: 'error', code: 'handler-failed' }])
    expect(causeOf(diagnostics)).toContain(problem)
  })

  test('D19: half of a character is replaced, wherever it stands', async () => {
    const { core } = coreOf(
      defineTool({ name: 'text', handler: () => 'x\ud83d' }),
      defineTool({ name: 'deep', outputSchema: { type: 'object' }, handler: () => ({ a: ['\udc00y'], '\ud800': 1 }) }),
    )
    const text = await outcomeOf(core, 'tools/call', { name: 'text' })
    const deep = await outcomeOf(core, 'tools/call', { name: 'deep' })
    expect(text).toMatchObject({ value: { text: '{"content":[{"type":"text","text":"x\ufffd"}]}' } })
    expect(await resultOf(core, 'tools/call', { name: 'deep' })).toMatchObject({
      structuredContent: { a: ['\ufffdy'], '\ufffd': 1 },
    })
    expect(JSON.stringify(deep)).not.toMatch(/\\ud/)
  })

  test('E11: a number that JSON has no way to write is a failure of the tool, not of the server', async () => {
    const tool = defineTool({ name: 'big', outputSchema: { type: 'object' }, handler: () => ({ n: 1n }) })
    expect(await run(tool)).toMatchObject({ isError: true })
  })

  test.each([
    ['metadata of a result', { content: [], _meta: 5 }],
    ['metadata of a block', [{ type: 'text', text: 'x', _meta: 'x' }]],
    ['metadata of an embedded resource', [{ type: 'resource', resource: { uri: 'a:b', text: 'x', _meta: [] } }]],
    ['annotations', [{ type: 'text', text: 'x', annotations: 'x' }]],
  ])('MC-MSG-01: %s that is no object is a failure of the tool and never leaves', async (_name, returned) => {
    expect(await run(defineTool({ name: 'odd', handler: () => returned as never }))).toMatchObject({ isError: true })
  })
})

describe('structured results', () => {
  const sum = defineTool({
    name: 'sum',
    inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
    outputSchema: z.object({ total: z.number() }),
    handler: ({ a, b }) => ({ total: a + b }),
  })

  test('MC-TOOL-08, LG-TOOL-03: a text copy is added', async () => {
    expect(await run(sum, { a: 2 })).toEqual({
      content: [{ type: 'text', text: '{"total":3}' }],
      structuredContent: { total: 3 },
    })
  })

  test('the handler may give its own content beside the value', async () => {
    const tool = defineTool({
      name: 'both',
      outputSchema: z.object({ n: z.number() }),
      handler: () => ({ content: [{ type: 'text', text: 'one' }], structuredContent: { n: 1 } }),
    })
    expect(await run(tool)).toEqual({ content: [{ type: 'text', text: 'one' }], structuredContent: { n: 1 } })
  })

  test('MC-TOOL-05, MC-TOOL-07: any JSON value may be structured', async () => {
    for (const [outputSchema, value] of [
      [{ type: 'array' }, [1, 'a']],
      [{ type: 'string' }, 'text'],
      [{ type: 'null' }, null],
      [{ type: 'object' }, { content: [1], isError: false }],
    ] as const) {
      expect(await run({ name: 'any', outputSchema, handler: () => value })).toEqual({
        content: [{ type: 'text', text: JSON.stringify(value) }],
        structuredContent: value,
      })
    }
  })

  test('MC-TOOL-06, LG-TOOL-03: a value that does not fit is reported and never sent', async () => {
    const schemas = [
      z.object({ n: z.int() }),
      { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    ]
    for (const outputSchema of [...schemas, { $ref: '#/$defs/a', $defs: { a: schemas[1] as JsonObject } }]) {
      const { core, diagnostics } = coreOf({ name: 'odd', outputSchema, handler: () => ({ n: 1.5 }) })
      expect(await resultOf(core, 'tools/call', { name: 'odd' })).toEqual({
        content: [{ type: 'text', text: 'The tool "odd" failed because of an error on the server.' }],
        isError: true,
      })
      expect(diagnostics).toMatchObject([{ code: 'tool-output-mismatch' }])
      expect(diagnostics[0]?.message).toContain('structuredContent.n')
    }
  })

  test('MC-TOOL-06: nothing is no value', async () => {
    expect(await run({ name: 'none', outputSchema: {}, handler: () => undefined })).toEqual({ content: [] })
    expect(await run({ name: 'none', outputSchema: { type: 'object' }, handler: () => undefined })).toMatchObject({
      isError: true,
    })
  })

  test('an error result needs no structured value', async () => {
    const tool = defineTool({
      name: 'sorry',
      outputSchema: z.object({ n: z.number() }),
      handler: () => ({ content: [{ type: 'text', text: 'none today' }], isError: true }),
    })
    expect(await run(tool)).toEqual({ content: [{ type: 'text', text: 'none today' }], isError: true })
  })
})

describe('what a handler throws', () => {
  test('MC-TOOL-12, LG-TOOL-04: a ToolError is read by the model', async () => {
    const tools = [
      {
        name: 'now',
        handler: () => {
          throw new ToolError('There is no such city.')
        },
      },
      { name: 'later', handler: () => Promise.reject(new ToolError('There is no such city.')) },
    ]
    const { core, diagnostics } = coreOf(...tools)
    for (const { name } of tools) {
      expect(await resultOf(core, 'tools/call', { name })).toEqual({
        content: [{ type: 'text', text: 'There is no such city.' }],
        isError: true,
      })
    }
    expect(diagnostics).toEqual([])
  })

  test('an RpcError goes to the client as it is', async () => {
    const { core } = coreOf({
      name: 'rpc',
      handler: () => {
        throw new RpcError(7, 'seven', { data: { x: 1 } })
      },
    })
    expect(await errorOf(core, 'tools/call', { name: 'rpc' })).toEqual({ code: 7, message: 'seven', data: { x: 1 } })
  })

  test('MC-ERR-14: anything else keeps its text to itself and is reported', async () => {
    const { core, diagnostics } = coreOf({
      name: 'bug',
      handler: () => {
        throw new Error('secret')
      },
    })
    const result = await resultOf(core, 'tools/call', { name: 'bug' })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(diagnostics).toMatchObject([{ level: 'error', code: 'handler-failed', message: 'The tool "bug" failed.' }])
    expect(causeOf(diagnostics)).toBe('secret')
  })

  test('a listener of diagnostics that fails changes nothing', async () => {
    const core = createCore({
      info,
      tools: [returning(7)],
      onDiagnostic: () => {
        throw new Error('listener')
      },
    })
    expect(await resultOf(core, 'tools/call', { name: 'give' })).toMatchObject({ isError: true })
  })
})

describe('arguments', () => {
  const city = defineTool({
    name: 'city',
    inputSchema: z.object({ name: z.string().min(2), days: z.coerce.number().default(1) }),
    handler: ({ name, days }) => `${name} ${days}`,
  })

  test('are checked and converted by the schema of a library', async () => {
    expect(textOf(await run(city, { name: 'Oslo', days: '3' }))).toBe('Oslo 3')
  })

  test('MC-TOOL-15, A-27: those that do not fit are a result that says why', async () => {
    const result = await run(city, { name: 'O' })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^Invalid arguments for tool "city": arguments\.name: /)
    const raw = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    expect(textOf(await run({ name: 'raw', inputSchema: raw, handler: () => '' }, { n: 'x' }))).toBe(
      'Invalid arguments for tool "raw": arguments.n must be an integer, but is a string.',
    )
    const full = { ...raw, dependentRequired: { n: ['m'] } }
    expect(textOf(await run({ name: 'full', inputSchema: full, handler: () => '' }, { n: 1 }))).toBe(
      'Invalid arguments for tool "full": arguments must have property m when property n is present.',
    )
  })

  test('a schema that answers later is waited for', async () => {
    const inputSchema = z.object({ n: z.number().refine((n) => Promise.resolve(n > 1), 'too small') })
    const tool = defineTool({ name: 'slow', inputSchema, handler: ({ n }) => `${n}` })
    expect(textOf(await run(tool, { n: 2 }))).toBe('2')
    expect(textOf(await run(tool, { n: 1 }))).toBe('Invalid arguments for tool "slow": arguments.n: too small.')
  })

  test('a schema that fails is a failure of the tool', async () => {
    const broken = (validate: () => never): Tool['inputSchema'] => ({
      '~standard': { version: 1, vendor: 'broken', validate },
    })
    const inputJsonSchema = { type: 'object' }
    const now = broken(() => {
      throw new Error('broken')
    })
    const later = broken((() => Promise.reject(new Error('broken'))) as () => never)
    for (const inputSchema of [now, later]) {
      const { core, diagnostics } = coreOf({ name: 'b', inputSchema, inputJsonSchema, handler: () => '' })
      expect(await resultOf(core, 'tools/call', { name: 'b' })).toMatchObject({ isError: true })
      expect(diagnostics).toMatchObject([{ code: 'handler-failed' }])
    }
  })

  test('may be left out', async () => {
    expect(textOf(await run(defineTool({ name: 'none', handler: (args) => JSON.stringify(args) })))).toBe('{}')
  })

  test('E13: names that every object has are data', async () => {
    const seen: unknown[] = []
    const tool = defineTool({ name: 'see', handler: (args) => void seen.push(args) })
    const args = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as JsonObject
    await run(tool, args)
    expect(Object.keys(seen[0] as object)).toEqual(['__proto__', 'constructor'])
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test.each([
    [{}, 'name must be a string'],
    [{ name: 1 }, 'name must be a string'],
    [{ name: 'city', arguments: [] }, 'arguments must be an object'],
    [{ name: 'city', arguments: null }, 'arguments must be an object'],
    [{ name: 'city', arguments: 'x' }, 'arguments must be an object'],
  ] as [JsonObject, string][])('MC-TOOL-11, MC-TOOL-20, MC-ERR-13: %j is an error', async (params, message) => {
    expect(await errorOf(coreOf(city).core, 'tools/call', params)).toEqual({ code: -32_602, message })
  })

  test.each(['nope', 'constructor', '__proto__', 'toString', 'City', 'city '])(
    'MC-TOOL-11, MC-ERR-13, LG-TOOL-04, E13: a tool named %j is unknown',
    async (name) => {
      expect(await errorOf(coreOf(city).core, 'tools/call', { name })).toEqual({
        code: -32_602,
        message: `Unknown tool: ${name}`,
      })
    },
  )
})

describe('client capabilities that a tool requires', () => {
  const call = (requires: JsonObject, capabilities: JsonObject) => {
    let ran = false
    const { core } = coreOf({ name: 'need', requires, handler: () => void (ran = true) })
    return errorOf(core, 'tools/call', { name: 'need' }, { peer: { capabilities } })
      .then((error) => ({ error, ran }))
      .catch(() => ({ error: undefined, ran }))
  }

  test.each<[requires: JsonObject, capabilities: JsonObject, missing: JsonObject | undefined]>([
    [{ sampling: {} }, {}, { sampling: {} }],
    [{ sampling: {} }, { sampling: {} }, undefined],
    [{ sampling: { tools: {} } }, { sampling: {} }, { sampling: { tools: {} } }],
    [{ sampling: { tools: {} } }, { sampling: { tools: {} } }, undefined],
    [{ elicitation: { form: {} } }, { elicitation: {} }, undefined],
    [{ elicitation: { url: {} } }, { elicitation: {} }, { elicitation: { url: {} } }],
    [{ elicitation: { url: {}, form: {} } }, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    [{ roots: {}, sampling: {} }, { roots: {} }, { sampling: {} }],
    [{ toString: {} }, {}, { toString: {} }],
  ])('MC-REQ-08, MC-ERR-06, A-55: %j of %j lacks %j', async (requires, capabilities, missing) => {
    const { error, ran } = await call(requires, capabilities)
    expect(error?.code).toBe(missing === undefined ? undefined : -32_021)
    expect(error?.data).toEqual(missing && { requiredCapabilities: missing })
    expect(ran).toBe(missing === undefined)
  })
})

describe('a call that was cancelled', () => {
  test('rejects with the reason, whatever its handler throws, and is no failure', async () => {
    const controller = new AbortController()
    const { core, diagnostics } = coreOf({
      name: 'stops',
      async handler(_args, { signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw new Error('my own way of stopping')
      },
    })
    const pending = outcomeOf(core, 'tools/call', { name: 'stops' }, { signal: controller.signal })
    controller.abort('left')
    await expect(pending).rejects.toBe('left')
    expect(diagnostics).toEqual([])
  })
})

describe('deadlines', () => {
  const tool = (handler: (args: unknown, context: HandlerContext) => unknown): Tool => ({
    name: 'slow',
    timeoutMs: 20,
    handler,
  })

  test('abort the signal and end the call, also of a handler that does not listen', async () => {
    let reason: unknown
    const stuck = tool((_args, { signal }) => {
      signal.addEventListener('abort', () => (reason = signal.reason))
      return new Promise(() => undefined)
    })
    expect(await run(stuck)).toEqual({
      content: [{ type: 'text', text: 'The tool "slow" did not finish within 20 ms.' }],
      isError: true,
    })
    expect(reason).toMatchObject({ name: 'TimeoutError' })
  })

  test('leave alone what is in time', async () => {
    expect(textOf(await run(tool(() => Promise.resolve('in time'))))).toBe('in time')
    expect(textOf(await run(tool(() => 'at once')))).toBe('at once')
    expect(
      textOf(
        await run(
          tool(() => {
            throw new ToolError('soon')
          }),
        ),
      ),
    ).toBe('soon')
  })

  test('a cancel comes through', async () => {
    const { core } = coreOf({ ...tool(() => new Promise(() => undefined)), timeoutMs: 60_000 })
    const controller = new AbortController()
    const pending = outcomeOf(core, 'tools/call', { name: 'slow' }, { signal: controller.signal })
    controller.abort('stop')
    await expect(pending).rejects.toBe('stop')
  })
})

describe('registration', () => {
  const register =
    (...tools: object[]) =>
    () =>
      coreOf(...(tools as Tool[]))
  const handler = (): string => ''

  test.each<[tool: object, message: string]>([
    [{ handler }, 'a tool has no name'],
    [{ name: '', handler }, 'a tool has no name'],
    [
      { name: 't', inputSchema: 'x', handler },
      'tool "t": inputSchema is neither a JSON Schema object nor a schema of a library',
    ],
    [
      { name: 't', inputSchema: { type: 'string' }, handler },
      'tool "t": inputSchema must have type: "object" at its root',
    ],
    [{ name: 't', inputSchema: z.string(), handler }, 'tool "t": inputSchema must have type: "object" at its root'],
    [
      { name: 't', inputSchema: { type: 'object', $schema: 'x' }, handler },
      'tool "t": inputSchema: the dialect "x" is not supported',
    ],
    [
      { name: 't', inputSchema: { type: 'object', $ref: 'http://a.example/x' }, handler },
      'tool "t": inputSchema: $ref',
    ],
    [{ name: 't', outputSchema: { type: 'strnig' }, handler }, 'tool "t": outputSchema: type must be'],
    [
      { name: 't', inputSchema: z.object({ d: z.date() }), handler },
      'tool "t": inputSchema: zod cannot turn the schema into JSON Schema',
    ],
    [{ name: 't', timeoutMs: 0, handler }, 'tool "t": timeoutMs must be a number above 0'],
    [{ name: 't', icons: [{ src: 'javascript:alert(1)' }], handler }, 'tool "t": an icon'],
    [
      { name: 't', inputSchema: { '~standard': { version: 1, vendor: 'old', validate: handler } }, handler },
      'tool "t": inputSchema: this version of old cannot turn its schemas into JSON Schema by itself; give the JSON Schema as inputJsonSchema',
    ],
    [
      {
        name: 't',
        inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
        handler,
      },
      'tool "t": inputSchema: x-mcp-header "A" of property "a" needs the type string, integer or boolean',
    ],
  ])('MC-TOOL-04, MC-SCH-02, MC-SCH-05, MH-XMH-01: %j', (tool, message) => {
    expect(register(tool)).toThrow(DefinitionError)
    expect(register(tool)).toThrow(message)
  })

  test('MC-TOOL-09, F8: a name is there once', () => {
    expect(register({ name: 't', handler }, { name: 't', handler })).toThrow('tool "t" is defined twice')
    expect(register({ name: 't', handler }, { name: 'T', handler })).not.toThrow()
  })

  test('MC-TOOL-09: a name that some clients refuse gets a warning', () => {
    const { diagnostics } = coreOf(
      { name: 'a b', handler },
      { name: 'x'.repeat(129), handler },
      { name: 'fine_1.-', handler },
    )
    expect(diagnostics.map(({ level, code }) => `${level} ${code}`)).toEqual(['warning tool-name', 'warning tool-name'])
    expect(diagnostics[0]?.message).toContain('tool "a b"')
  })

  test('the list holds what clients need, and nothing else', async () => {
    const { core } = coreOf({
      name: 't',
      title: 'T',
      description: 'd',
      inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } }, 'x-unknown': 1 },
      outputSchema: z.object({ n: z.number() }),
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://example.com/i.png' }],
      _meta: { 'x/y': 1 },
      requires: { sampling: {} },
      timeoutMs: 5,
      handler,
    })
    expect(await resultOf(core, 'tools/list')).toEqual({
      tools: [
        {
          name: 't',
          title: 'T',
          description: 'd',
          inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } }, 'x-unknown': 1 },
          outputSchema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: { n: { type: 'number' } },
            required: ['n'],
            additionalProperties: false,
          },
          annotations: { readOnlyHint: true },
          icons: [{ src: 'https://example.com/i.png' }],
          _meta: { 'x/y': 1 },
        },
      ],
    })
    const view = await core.view({ id: 'local', authenticated: true })
    expect(view.headerPlan('t')).toEqual({ declarations: [{ path: ['a'], header: 'Mcp-Param-A', type: 'string' }] })
  })

  test('MC-SCH-09: unknown and composition keywords of a schema are listed as they were written', async () => {
    const inputSchema: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' } } } },
      properties: { address: { $ref: '#/$defs/address' } },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { required: ['a'] },
      ...(JSON.parse('{"then":{"required":["b"]}}') as JsonObject),
      else: {},
      additionalProperties: false,
      'x-own': { deep: [1] },
    }
    const { core } = coreOf({ name: 't', inputSchema, handler })
    expect((await resultOf(core, 'tools/list')).tools).toEqual([{ name: 't', inputSchema }])
  })
})
