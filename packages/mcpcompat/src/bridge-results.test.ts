import { describe, expect, test } from 'vitest'
import { resultForLegacy, resultForModern, toolForLegacy, toolForModern } from './bridge-results.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import { type JsonObject, type JsonRecord, type JsonValue, toObject, toText } from './jsonrpc/json.ts'

/** A change must be the same for a parsed result and for its source text. */
function bothForms(result: JsonObject, change: (result: JsonRecord) => JsonRecord): JsonObject {
  const parsed = toObject(change(result))
  expect(JSON.parse(toText(change(new JsonText(JSON.stringify(result)))))).toEqual(JSON.parse(JSON.stringify(parsed)))
  return parsed
}

describe('a result for a legacy client', () => {
  test('B1, BR-104, BR-106, LG-MSG-06: has no modern members, and everything else', () => {
    const result = {
      resultType: 'complete',
      ttlMs: 5,
      cacheScope: 'public',
      nextCursor: '',
      prompts: [],
      'x-1': 1,
      _meta: { a: 1 },
    }
    expect(bothForms(result, (given) => resultForLegacy('prompts/list', given))).toEqual({
      nextCursor: '',
      prompts: [],
      'x-1': 1,
      _meta: { a: 1 },
    })
  })

  test('what needs no change is not touched, and not even parsed', () => {
    const text = new JsonText('{ "content" : [ ] , "n": 9007199254740993 }')
    expect(resultForLegacy('tools/call', text)).toBe(text)
    const result = { content: [], structuredContent: { a: 1 } }
    expect(resultForLegacy('tools/call', result)).toBe(result)
    const list = { tools: [{ name: 'a', outputSchema: { type: 'object' } }, { name: 'b' }] }
    expect(resultForLegacy('tools/list', list)).toBe(list)
  })

  test('members of the same name deeper down stay', () => {
    const result = { contents: [{ ttlMs: 1, resultType: 'x' }], resultType: 'complete' }
    expect(bothForms(result, (given) => resultForLegacy('resources/read', given))).toEqual({
      contents: [{ ttlMs: 1, resultType: 'x' }],
    })
  })

  test('a member that was given twice does not come through by its first half', () => {
    const text = new JsonText('{"resultType":"a","x":1,"resultType":"b","x":2}')
    expect(toText(resultForLegacy('tools/call', text))).toBe('{"x":2}')
  })

  test.each<[JsonValue, string, string]>([
    [[1, 2], '[1,2]', 'an array'],
    ['x', '"x"', 'a string'],
    [null, 'null', 'MC-TOOL-07: null'],
    [0, '0', 'a number'],
    [false, 'false', 'a boolean'],
  ])(
    'BR-105, LG-TOOL-02: structured content %j is wrapped, with a text block when there is none (%s)',
    (structuredContent, text) => {
      const image = { type: 'image', data: '', mimeType: 'image/png' }
      const change = (given: JsonRecord): JsonRecord => resultForLegacy('tools/call', given)
      expect(bothForms({ content: [image], structuredContent, isError: false }, change)).toEqual({
        content: [image, { type: 'text', text }],
        structuredContent: { result: structuredContent },
        isError: false,
      })
      const own = { type: 'text', text: 'mine' }
      expect(bothForms({ content: [own], structuredContent }, change)).toEqual({
        content: [own],
        structuredContent: { result: structuredContent },
      })
      expect(bothForms({ structuredContent }, change)).toEqual({
        content: [{ type: 'text', text }],
        structuredContent: { result: structuredContent },
      })
    },
  )

  test('the digits of structured content survive', () => {
    const text = new JsonText('{"content":[],"structuredContent":[9007199254740993, 1.0]}')
    expect(toText(resultForLegacy('tools/call', text))).toBe(
      '{"content":[{"type":"text","text":"[9007199254740993, 1.0]"}],"structuredContent":{"result":[9007199254740993, 1.0]}}',
    )
  })

  test('only the result of a tool call has structured content', () => {
    expect(resultForLegacy('resources/read', { structuredContent: 1 })).toEqual({ structuredContent: 1 })
  })
})

describe('BR-104, LG-TOOL-02: a tool for a legacy client', () => {
  test.each<[JsonObject, string]>([
    [{ name: 't' }, 'no output schema'],
    [{ name: 't', outputSchema: { type: 'object', anyOf: [], 'x-1': 1 } }, 'an object schema'],
  ])('%j stays the same (%s)', (tool) => {
    expect(toolForLegacy(tool)).toBe(tool)
  })

  test.each<[JsonObject | boolean, JsonObject, string]>([
    [{ type: 'array', items: {}, 'x-1': 1 }, { type: 'array', items: {}, 'x-1': 1 }, 'an array, unknown keywords kept'],
    [{ anyOf: [{ type: 'object' }] }, { anyOf: [{ type: 'object' }] }, 'no type'],
    [{ type: ['object', 'null'] }, { type: ['object', 'null'] }, 'a union'],
    [{}, {}, 'anything'],
    [{ $ref: '#/$defs/a', $defs: { a: {} } }, { $ref: '#/properties/result/$defs/a', $defs: { a: {} } }, 'a reference'],
    [{ items: { $ref: '#' } }, { items: { $ref: '#/properties/result' } }, 'a reference to the root'],
    [
      { $defs: { n: { properties: { next: { $dynamicRef: '#/$defs/n' } } } }, anyOf: [{ $ref: '#/$defs/n' }] },
      {
        $defs: { n: { properties: { next: { $dynamicRef: '#/properties/result/$defs/n' } } } },
        anyOf: [{ $ref: '#/properties/result/$defs/n' }],
      },
      'references deeper down',
    ],
    [
      { $ref: '#name', $defs: { a: { $anchor: 'name' } } },
      { $ref: '#name', $defs: { a: { $anchor: 'name' } } },
      'an anchor',
    ],
    [{ $ref: 'other.json#/a' }, { $ref: 'other.json#/a' }, 'another document'],
    [
      { $id: 'urn:a', items: { $ref: '#/$defs/a' } },
      { $id: 'urn:a', items: { $ref: '#/$defs/a' } },
      'an id of its own',
    ],
    [
      { $defs: { a: { $id: 'urn:a', items: { $ref: '#/x' } } }, items: { $ref: '#/$defs/a' } },
      { $defs: { a: { $id: 'urn:a', items: { $ref: '#/x' } } }, items: { $ref: '#/properties/result/$defs/a' } },
      'an id of its own deeper down',
    ],
    [
      { enum: [{ $ref: '#/a' }], default: { $ref: '#/a' } },
      { enum: [{ $ref: '#/a' }], default: { $ref: '#/a' } },
      'data',
    ],
    [{ default: { a: { $ref: '#/a' } } }, { default: { a: { $ref: '#/a' } } }, 'data deeper down'],
    [
      { properties: { $ref: { type: 'string' } } },
      { properties: { $ref: { type: 'string' } } },
      'a property of that name',
    ],
  ])('the output schema %j is wrapped as %j (%s)', (outputSchema, inner) => {
    const before = JSON.stringify(outputSchema)
    expect(toolForLegacy({ name: 't', outputSchema })).toEqual({
      name: 't',
      outputSchema: { type: 'object', properties: { result: inner }, required: ['result'] },
    })
    expect(JSON.stringify(outputSchema)).toBe(before)
  })

  test('the dialect stands at the root, and a boolean schema is wrapped too', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    expect(toolForLegacy({ outputSchema: { $schema, type: 'string' } }).outputSchema).toEqual({
      $schema,
      type: 'object',
      properties: { result: { type: 'string' } },
      required: ['result'],
    })
    expect(toolForLegacy({ outputSchema: true }).outputSchema).toMatchObject({ properties: { result: true } })
  })

  test('in a list, also where the key is written with an escape', () => {
    const text = new JsonText(
      '{"tools":[{"name":"a"},{"name":"b","output\\u0053chema":{"type":"string"}}],"nextCursor":"n"}',
    )
    expect(JSON.parse(toText(resultForLegacy('tools/list', text)))).toEqual({
      tools: [
        { name: 'a' },
        {
          name: 'b',
          outputSchema: { type: 'object', properties: { result: { type: 'string' } }, required: ['result'] },
        },
      ],
      nextCursor: 'n',
    })
  })

  test('depth 10,000', () => {
    let schema: JsonObject = { $ref: '#' }
    for (let depth = 0; depth < 10_000; depth++) schema = { items: schema }
    expect(toText(toolForLegacy({ outputSchema: schema }))).toContain('{"$ref":"#/properties/result"}')
  })
})

describe('a result for a modern client', () => {
  test('BR-237, BR-204: what an older program says under names of the modern revision is gone', () => {
    const result = { content: [], resultType: 'input_required', requestState: 's', ttlMs: 'soon' }
    expect(bothForms(result, (given) => resultForModern('tools/call', given))).toEqual({
      content: [],
      requestState: 's',
    })
  })

  test('BR-202: bad annotations go, each with a report; good ones and all else stay', () => {
    const tools = [
      { name: 'good', inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } } },
      {
        name: 'bad',
        inputSchema: {
          type: 'object',
          properties: {
            a: { type: 'string', 'x-mcp-header': 'A' },
            b: { type: 'number', 'x-mcp-header': 'B' },
            'x-mcp-header': { type: 'string' },
          },
          $defs: { c: { type: 'string', 'x-mcp-header': 'C' } },
          default: { 'x-mcp-header': 'data' },
        },
        'x-1': 1,
      },
    ]
    const before = JSON.stringify(tools)
    const reports: string[] = []
    const change = (given: JsonRecord): JsonRecord =>
      resultForModern('tools/list', given, (tool, faults) => reports.push(`${tool}: ${faults.length}`))
    expect(bothForms({ tools, nextCursor: 'n' }, change)).toEqual({
      tools: [
        tools[0],
        {
          name: 'bad',
          inputSchema: {
            type: 'object',
            properties: {
              a: { type: 'string', 'x-mcp-header': 'A' },
              b: { type: 'number' },
              'x-mcp-header': { type: 'string' },
            },
            $defs: { c: { type: 'string' } },
            default: { 'x-mcp-header': 'data' },
          },
          'x-1': 1,
        },
      ],
      nextCursor: 'n',
    })
    expect(reports).toEqual(['bad: 2', 'bad: 2'])
    expect(JSON.stringify(tools)).toBe(before)
  })

  test('a tool without a schema, and entries that are no tools, are left alone', () => {
    expect(toolForModern({ name: 'a', inputSchema: null })).toEqual({
      tool: { name: 'a', inputSchema: null },
      faults: [],
    })
    const list = { tools: [null, 'x', []] }
    expect(resultForModern('tools/list', list)).toBe(list)
  })

  test('a list without annotations is not parsed', () => {
    const text = new JsonText('{"tools":[{"name":"a","inputSchema":{"maximum":9007199254740993}}]}')
    expect(resultForModern('tools/list', text)).toBe(text)
  })
})
