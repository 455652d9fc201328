import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import { checkParams } from './method-params.ts'
import { plainToolCall } from './plain-tool-call.ts'

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

test('source text and absent params take the general way', () => {
  expect(plainToolCall('tools/call', new JsonText('{"name":"a","arguments":{}}'))).toBeUndefined()
  expect(plainToolCall('tools/call', undefined)).toBeUndefined()
})
