import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'
import { inputRequestFault, missingCapability, missingForInput } from './input-requests.ts'

const schema = { type: 'object', properties: { name: { type: 'string' } } }
const form = { method: 'elicitation/create', params: { mode: 'form', message: 'm', requestedSchema: schema } }
const url = { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://example.com/x' } }
const message = { role: 'user', content: { type: 'text', text: 'q' } }
const sampling = { method: 'sampling/createMessage', params: { messages: [message], maxTokens: 10 } }
const roots = { method: 'roots/list' }

const elicit = (params: JsonObject): JsonObject => ({ method: 'elicitation/create', params })
const withField = (field: JsonValue): JsonObject =>
  elicit({ message: 'm', requestedSchema: { type: 'object', properties: { field } } })
const sample = (params: JsonObject): JsonObject => ({ method: 'sampling/createMessage', params })

describe('MC-MRTR-05: requests in good form', () => {
  test.each<[JsonObject, string]>([
    [form, 'form'],
    [url, 'MC-ELIC-06: url'],
    [elicit({ message: '', requestedSchema: schema }), 'MC-ELIC-04: no mode means form'],
    [
      elicit({ message: 'm', requestedSchema: { type: 'object', properties: {}, required: [], $schema: 'x' } }),
      'no field',
    ],
    [withField({ type: 'integer', minimum: 1 }), 'MC-ELIC-05: integer'],
    [withField({ type: 'number' }), 'MC-ELIC-05: number'],
    [withField({ type: 'boolean', default: true }), 'MC-ELIC-05: boolean'],
    [withField({ type: 'string', enum: ['a'] }), 'MC-ELIC-05: enum'],
    [withField({ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }), 'MC-ELIC-05: titled enum'],
    [withField({ type: 'array', items: { type: 'string', enum: ['a'] } }), 'MC-ELIC-05: multi-select'],
    [withField({ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }), 'MC-ELIC-05: titled multi-select'],
    [sampling, 'sampling'],
    [sample({ messages: [], maxTokens: 1, tools: [], toolChoice: {} }), 'sampling with tools'],
    [sample({ messages: [{ role: 'assistant', content: [] }], maxTokens: 1 }), 'several blocks'],
    [roots, 'roots without params'],
    [{ method: 'roots/list', params: { _meta: {} } }, 'roots with params'],
  ])('%j (%s)', (request) => {
    expect(inputRequestFault(request)).toBeUndefined()
  })
})

describe('MC-MRTR-05, A-40: requests that are none', () => {
  test.each<[JsonValue, string]>([
    [null, 'null'],
    ['roots/list', 'a string'],
    [[], 'an array'],
    [{}, 'no method'],
    [{ method: 'ping' }, 'another method'],
    [{ method: 'constructor', params: {} }, 'a name that every object has'],
    [{ ...roots, id: 1 }, 'an id'],
    [{ ...roots, jsonrpc: '2.0' }, 'an envelope'],
    [{ method: 'roots/list', params: [] }, 'params that are an array'],
    [{ method: 'elicitation/create' }, 'no params'],
    [elicit({ requestedSchema: schema }), 'MC-ELIC-04: no message'],
    [elicit({ message: 5, requestedSchema: schema }), 'MC-ELIC-04: a message that is no string'],
    [elicit({ message: 'm', mode: 'voice', requestedSchema: schema }), 'an unknown mode'],
    [elicit({ message: 'm', mode: null, requestedSchema: schema }), 'a mode that is null'],
    [elicit({ message: 'm', mode: 'url' }), 'MC-ELIC-06: no url'],
    [elicit({ message: 'm', mode: 'url', url: 'not a url' }), 'MC-ELIC-06: no valid url'],
    [elicit({ message: 'm' }), 'MC-ELIC-05: no schema'],
    [elicit({ message: 'm', requestedSchema: { properties: {} } }), 'MC-ELIC-05: no type'],
    [elicit({ message: 'm', requestedSchema: { type: 'object' } }), 'MC-ELIC-05: no properties'],
    [
      elicit({ message: 'm', requestedSchema: { type: 'object', properties: [] } }),
      'MC-ELIC-05: properties that are an array',
    ],
    [withField({ type: 'object', properties: {} }), 'MC-ELIC-05: a nested object'],
    [withField({ type: 'array', items: { type: 'string' } }), 'MC-ELIC-05: a free list'],
    [withField({ type: 'array', items: { enum: [1] } }), 'MC-ELIC-05: a list of numbers'],
    [withField({ enum: ['a'] }), 'MC-ELIC-05: no type'],
    [withField(true), 'MC-ELIC-05: no schema'],
    [sample({ maxTokens: 1 }), 'MC-SAMP-03: no messages'],
    [sample({ messages: [message] }), 'MC-SAMP-03: no maxTokens'],
    [sample({ messages: [message], maxTokens: 1.5 }), 'MC-SAMP-03: a fraction'],
    [sample({ messages: ['q'], maxTokens: 1 }), 'MC-SAMP-03: no message'],
    [sample({ messages: [{ role: 'system', content: {} }], maxTokens: 1 }), 'MC-SAMP-03: another role'],
    [sample({ messages: [{ role: 'user', content: 'q' }], maxTokens: 1 }), 'MC-SAMP-03: no block'],
  ])('%j (%s)', (request) => {
    expect(inputRequestFault(request)).toMatch(/^(is|has) /)
  })
})

describe('MC-MRTR-06, MC-REQ-08, MC-ERR-06: capabilities that a request needs', () => {
  const call = ({ method, params }: JsonObject): { method: string; params: JsonObject } => ({
    method: method as string,
    params: (params ?? {}) as JsonObject,
  })

  test.each<[JsonObject, JsonObject, string]>([
    [{ elicitation: {} }, form, 'MC-ELIC-02: a bare declaration means form'],
    [{ elicitation: { form: {} } }, form, 'form'],
    [{ elicitation: { form: {}, url: {} } }, url, 'url'],
    [{ elicitation: { form: {}, url: {} } }, elicit({ message: 'm' }), 'no mode means form'],
    [{ elicitation: { later: {} } }, form, 'a mode that is not known here says nothing about form'],
    [{ sampling: {} }, sampling, 'sampling'],
    [{ sampling: { tools: {} } }, sample({ tools: [] }), 'MC-SAMP-02: tools'],
    [{ sampling: { tools: {} } }, sample({ toolChoice: { mode: 'none' } }), 'MC-SAMP-02: toolChoice'],
    [{ sampling: {} }, sample({ includeContext: 'allServers' }), 'MC-SAMP-05 is only a SHOULD'],
    [{ roots: {} }, roots, 'MC-ROOT-01: roots'],
  ])('%j suffice for %j (%s)', (declared, request) => {
    expect(missingForInput(declared, call(request))).toBeUndefined()
  })

  test.each<[JsonObject, JsonObject, JsonObject, string]>([
    [{}, form, { elicitation: { form: {} } }, 'B11: nothing declared'],
    [{ elicitation: { url: {} } }, form, { elicitation: { form: {} } }, 'MC-ELIC-03: only url'],
    [{ elicitation: {} }, url, { elicitation: { url: {} } }, 'MC-ELIC-02: url needs its own member'],
    [{ elicitation: { form: {} } }, url, { elicitation: { url: {} } }, 'MC-ELIC-03: only form'],
    [{ elicitation: true }, form, { elicitation: { form: {} } }, 'no object'],
    [{ elicitation: { form: true } }, form, { elicitation: { form: {} } }, 'no object'],
    [{}, sampling, { sampling: {} }, 'no sampling'],
    [{}, sample({ tools: [] }), { sampling: { tools: {} } }, 'MC-SAMP-02: neither'],
    [{ sampling: {} }, sample({ tools: [] }), { sampling: { tools: {} } }, 'MC-SAMP-02: no tools'],
    [{ sampling: {} }, sample({ toolChoice: {} }), { sampling: { tools: {} } }, 'MC-SAMP-02: no tools'],
    [{ sampling: {} }, roots, { roots: {} }, 'no roots'],
    [{ roots: {} }, { method: 'ping' }, {}, 'no input request at all'],
  ])('%j lack for %j: %j (%s)', (declared, request, missing) => {
    expect(missingForInput(declared, call(request))).toEqual(missing)
  })

  test('MC-ERR-06: the error carries what is missing as an object', () => {
    expect(missingCapability({ sampling: { tools: {} } })).toEqual({
      code: -32021,
      message: 'The client must declare the capability sampling',
      data: { requiredCapabilities: { sampling: { tools: {} } } },
    })
  })
})
