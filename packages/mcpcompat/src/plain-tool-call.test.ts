import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import { checkParams, duplicateFault } from './method-params.ts'
import { isPlainToolCall, plainToolCall } from './plain-tool-call.ts'

test('what it lets pass is what the general checks let pass, with the same arguments', () => {
  const value = fc.oneof(
    fc.constant('a'),
    fc.constant({}),
    fc.constant([]),
    fc.constant(null),
    fc.constant(1),
    fc.constant({ b: [1] }),
  )
  const params = fc.dictionary(
    fc.constantFrom('name', 'arguments', '_meta', 'inputResponses', 'requestState', 'extra', '__proto__'),
    value,
  )
  fc.assert(
    fc.property(params, fc.constantFrom('tools/call', 'tools/list', 'prompts/get'), (given, method) => {
      const parsed = JSON.parse(JSON.stringify(given)) as JsonObject
      const plain = plainToolCall(method, parsed)
      const { _meta, ...rest } = parsed
      const isPlain =
        method === 'tools/call' &&
        Object.keys(rest).sort().join() === 'arguments,name' &&
        checkParams(method, parsed) === undefined
      expect(plain).toEqual(isPlain ? rest : undefined)
    }),
    { numRuns: 2_000 },
  )
})

test('of source text it lets pass only what the general checks let pass, and what has nothing beside name, arguments and _meta', () => {
  const member = fc.tuple(
    fc.constantFrom('name', 'arguments', '_meta', 'inputResponses', 'requestState', 'extra'),
    fc.constantFrom('"a"', '{}', ' {"b":[1]}', '[]', 'null', '1'),
  )
  fc.assert(
    fc.property(fc.array(member, { maxLength: 4 }), fc.constantFrom('tools/call', 'prompts/get'), (members, method) => {
      const text = new JsonText(`{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`)
      const own = [...new Set(members.map(([key]) => key).filter((key) => key !== '_meta'))].sort()
      const isPlain =
        method === 'tools/call' &&
        own.join() === 'arguments,name' &&
        duplicateFault(text) === undefined &&
        checkParams(method, text) === undefined
      expect(isPlainToolCall(method, text)).toBe(isPlain)
    }),
    { numRuns: 3_000 },
  )
  expect(isPlainToolCall('tools/call', new JsonText('[]'))).toBe(false)
})

test('source text and absent params take the general way', () => {
  expect(plainToolCall('tools/call', new JsonText('{"name":"a","arguments":{}}'))).toBeUndefined()
  expect(plainToolCall('tools/call', undefined)).toBeUndefined()
})
