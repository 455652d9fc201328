import { describe, expect, test } from 'vitest'
import type { Call } from '../contract/call.ts'
import type { AnswerContext } from '../contract/wire.ts'
import { encodeMessage } from '../jsonrpc/encode.ts'
import type { JsonObject, JsonRecord } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { legacyRevision } from '../revisions.ts'
import { createLegacyCodec } from './codec.ts'
import { featuresOf } from './features.ts'

const context: AnswerContext = { progressToken: undefined, logLevel: undefined, resume: undefined }
const tool: Call = { method: 'tools/call', params: { name: 'a', arguments: {} } }

function written(revision: string, method: string, value: JsonRecord): unknown {
  const codec = createLegacyCodec({ revision })
  const message = encodeMessage(codec.encodeOutcome({ method, params: {} }, { kind: 'result', value }, context, 1))
  return (JSON.parse(message) as JsonObject)['result']
}

describe.each([
  ['parsed', (value: JsonObject): JsonRecord => value],
  ['text', (value: JsonObject): JsonRecord => new JsonText(JSON.stringify(value))],
])('results from %s values', (_form, given) => {
  const link = { type: 'resource_link', uri: 'a:b', name: 'B', mimeType: 'text/plain' }
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }
  const text = { type: 'text', text: 't' }

  test.each([
    [legacyRevision, { content: [link, audio], structuredContent: { a: 1 } }],
    ['2025-11-25', { content: [link, audio], structuredContent: { a: 1 } }],
    ['2025-03-26', { content: [{ type: 'text', text: 'B: a:b (text/plain)' }, audio] }],
    [
      '2024-11-05',
      {
        content: [
          { type: 'text', text: 'B: a:b (text/plain)' },
          { type: 'resource', resource: { uri: 'audio:inline', mimeType: 'audio/wav', blob: 'AAAA' } },
        ],
      },
    ],
  ])('LG-LIFE-09: a tool result in the words of %s', (revision, expected) => {
    expect(written(revision, 'tools/call', given({ content: [link, audio], structuredContent: { a: 1 } }))).toEqual(
      expected,
    )
  })

  test('structured content that a revision lacks becomes text where there is none', () => {
    expect(written('2025-03-26', 'tools/call', given({ content: [], structuredContent: { a: 1 } }))).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
    })
    expect(written('2025-03-26', 'tools/call', given({ content: [text], structuredContent: { a: 1 } }))).toEqual({
      content: [text],
    })
  })

  test('output schemas are listed for revisions that have them, and with an object at their root', () => {
    const tools = { tools: [{ name: 'a', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } }] }
    expect(written('2025-03-26', 'tools/list', given(tools))).toEqual({
      tools: [{ name: 'a', inputSchema: { type: 'object' } }],
    })
    expect(written(legacyRevision, 'tools/list', given(tools))).toEqual({
      tools: [
        {
          name: 'a',
          inputSchema: { type: 'object' },
          outputSchema: { type: 'object', properties: { result: { type: 'array' } }, required: ['result'] },
        },
      ],
    })
  })

  test('messages of prompts as well', () => {
    const value = { messages: [{ role: 'user', content: link }] }
    expect(written('2025-03-26', 'prompts/get', given(value))).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'B: a:b (text/plain)' } }],
    })
    expect(written(legacyRevision, 'prompts/get', given(value))).toEqual(value)
  })
})

test('a list that comes again is written from the same text, whatever the session', () => {
  const tools = new JsonText('{"tools":[],"resultType":"complete"}')
  const wire = (revision: string): unknown => {
    const message = createLegacyCodec({ revision }).encodeOutcome(
      { method: 'tools/list', params: {} },
      { kind: 'result', value: tools },
      context,
      1,
    )
    return message.kind === 'result' ? message.result : undefined
  }
  expect(wire(legacyRevision)).toBe(wire(legacyRevision))
  expect(wire('2024-11-05')).toBe(wire('2024-11-05'))
  expect(wire('2024-11-05')).not.toBe(wire(legacyRevision))
})

test('BR-121: an ask that nobody can put to the client is an error that keeps it', () => {
  const message = createLegacyCodec({ revision: legacyRevision }).encodeOutcome(
    tool,
    { kind: 'ask', requestState: 's', raw: { resultType: 'input_required', requestState: 's' } },
    context,
    1,
  )
  expect(JSON.parse(encodeMessage(message))).toMatchObject({
    error: { code: -32_603, data: { inputRequired: { resultType: 'input_required', requestState: 's' } } },
  })
})

test('members of the modern envelope mean nothing here', () => {
  const params = { name: 'a', arguments: {}, requestState: 's', inputResponses: {}, _meta: { x: 1 }, cursor: 'c' }
  const codec = createLegacyCodec({ revision: legacyRevision })
  for (const given of [params, new JsonText(JSON.stringify(params))]) {
    const decoded = codec.decodeCall({ kind: 'request', id: 1, method: 'tools/call', params: given }, {})
    if (!decoded.ok) throw new Error(decoded.message)
    expect(JSON.parse(JSON.stringify(decoded.value.call.params))).toEqual({ name: 'a', arguments: {}, cursor: 'c' })
    expect(decoded.value.context.resume).toBeUndefined()
  }
})

test('a revision that is not legacy has no legacy codec', () => {
  expect(() => createLegacyCodec({ revision: '2026-07-28' })).toThrow(RangeError)
  expect(() => featuresOf('1.0')).toThrow('1.0')
})
