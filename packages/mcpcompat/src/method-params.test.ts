import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import { checkParams } from './method-params.ts'

/** Both forms of params must be judged alike. */
function faultOf(method: string, params: JsonObject): string | undefined {
  const fault = checkParams(method, params)
  expect(checkParams(method, new JsonText(JSON.stringify(params)))).toBe(fault)
  return fault
}

describe('params that fit their method', () => {
  test.each<[string, JsonObject, string]>([
    ['tools/list', {}, 'MC-PAGE-01: no cursor'],
    ['tools/list', { cursor: '' }, 'MC-PAGE-03: an empty cursor'],
    ['resources/templates/list', { cursor: 'c', other: 1 }, 'unknown members'],
    ['tools/call', { name: 'a' }, 'MC-TOOL-20: no arguments'],
    ['tools/call', { name: '', arguments: {} }, 'an empty name is a name'],
    ['tools/call', { name: 'a', requestState: '', inputResponses: { k: 5 } }, 'A-38: an empty state'],
    ['prompts/get', { name: 'p', arguments: { a: 'b' } }, 'MC-PRM-03: strings'],
    ['resources/read', { uri: '' }, 'a uri is only judged by its owner'],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
      'MC-CMP-02',
    ],
    [
      'completion/complete',
      {
        ref: { type: 'ref/resource', uri: 'u' },
        argument: { name: 'a', value: 'v' },
        context: { arguments: { b: 'c' } },
      },
      'MC-CMP-02: with context',
    ],
    ['subscriptions/listen', { notifications: {} }, 'MC-SUB-01: nothing asked for'],
    ['server/discover', { anything: 1 }, 'no params of its own'],
    ['example/unknown', { anything: 1 }, 'a method that is not known here'],
    ['constructor', {}, 'a name that every object has'],
  ])('%s %j (%s)', (method, params) => {
    expect(faultOf(method, params)).toBeUndefined()
  })

  test('params may be absent where nothing is needed', () => {
    expect(checkParams('tools/list', undefined)).toBeUndefined()
    expect(checkParams('tools/call', undefined)).toBe('name must be a string')
  })
})

describe('A-27: params that do not fit', () => {
  test.each<[string, JsonObject, RegExp]>([
    ['tools/list', { cursor: 5 }, /cursor/],
    ['prompts/list', { cursor: null }, /cursor/],
    ['tools/call', {}, /name/],
    ['tools/call', { name: 5 }, /name/],
    ['tools/call', { name: 'a', arguments: [] }, /arguments/],
    ['tools/call', { name: 'a', arguments: null }, /arguments/],
    ['tools/call', { name: 'a', arguments: 'x' }, /arguments/],
    ['tools/call', { name: 'a', requestState: null }, /requestState/],
    ['tools/call', { name: 'a', requestState: {} }, /requestState/],
    ['tools/call', { name: 'a', inputResponses: [] }, /inputResponses/],
    ['tools/call', { name: 'a', inputResponses: null }, /inputResponses/],
    ['prompts/get', { arguments: {} }, /name/],
    ['prompts/get', { name: 'p', arguments: { a: 1 } }, /arguments/],
    ['prompts/get', { name: 'p', requestState: 1 }, /requestState/],
    ['resources/read', {}, /uri/],
    ['resources/read', { uri: 'u', inputResponses: 'x' }, /inputResponses/],
    ['completion/complete', { argument: { name: 'a', value: 'b' } }, /ref/],
    ['completion/complete', { ref: { type: 'ref/tool', name: 'p' }, argument: { name: 'a', value: 'b' } }, /ref/],
    ['completion/complete', { ref: { type: 'ref/prompt', uri: 'p' }, argument: { name: 'a', value: 'b' } }, /ref/],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a' } }, /argument/],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { value: 'b' } }, /argument/],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: 'a' }, /argument/],
    ['completion/complete', { ref: { type: 'ref/tool', uri: 'p' }, argument: { name: 'a', value: 'b' } }, /ref/],
    ['completion/complete', { ref: { type: 'ref/resource', name: 'p' }, argument: { name: 'a', value: 'b' } }, /ref/],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' }, context: [] },
      /context/,
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' }, context: { arguments: { c: 1 } } },
      /context\.arguments/,
    ],
    ['subscriptions/listen', {}, /notifications/],
    ['subscriptions/listen', { notifications: { toolsListChanged: 'yes' } }, /toolsListChanged/],
  ])('%s %j', (method, params, reason) => {
    expect(faultOf(method, params)).toMatch(reason)
  })
})

test('arguments that are only relayed are not parsed', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  expect(checkParams('tools/call', new JsonText(`{"name":"a","arguments":{"big":${deep}}}`))).toBeUndefined()
})

test('no JSON object makes it throw', () => {
  const methods = fc.constantFrom(
    'tools/call',
    'tools/list',
    'prompts/get',
    'completion/complete',
    'subscriptions/listen',
  )
  const member = fc.constantFrom(
    'name',
    'arguments',
    'cursor',
    'ref',
    'argument',
    'context',
    'notifications',
    '__proto__',
  )
  fc.assert(
    fc.property(methods, fc.dictionary(member, fc.jsonValue()), (method, params) => {
      expect(['string', 'undefined']).toContain(typeof faultOf(method, params as JsonObject))
    }),
  )
})
