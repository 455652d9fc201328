import { JsonText, RpcError, rpcCode, toObject, toText } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { completionRef, decidingText, withPromptRef, withText } from './named-params.ts'

const text = (source: string): JsonText => new JsonText(source)

function refusal(run: () => unknown): RpcError {
  try {
    run()
  } catch (error) {
    if (RpcError.is(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('BR-306: the name in the params of a call', () => {
  test('is read from source text and from parsed params alike', () => {
    expect(decidingText(text('{"arguments":{},"name":"a\\u005f_b"}'), 'name')).toBe('a__b')
    expect(decidingText({ name: 'a__b' }, 'name')).toBe('a__b')
  })

  test('E11: is replaced without another byte', () => {
    const params = text('{ "arguments" : {"id":9007199254740993,"x":1.0,"e":1e400} , "name" : "a__b", "more":[ ] }')
    expect(toText(withText(params, 'name', 'b"c'))).toBe(
      '{ "arguments" : {"id":9007199254740993,"x":1.0,"e":1e400} , "name" : "b\\"c", "more":[ ] }',
    )
  })

  test('E13: is replaced beside members with the names of a prototype', () => {
    const params = withText(text('{"__proto__":{"admin":true},"name":"a"}'), 'name', '__proto__')
    expect(toText(params)).toBe('{"__proto__":{"admin":true},"name":"__proto__"}')
    expect(toText(withText(toObject(text('{"__proto__":{"admin":true},"name":"a"}')), 'name', 'b'))).toBe(
      '{"__proto__":{"admin":true},"name":"b"}',
    )
  })

  test.each([
    ['E14: given twice', '{"name":"a","name":"b"}', 'name must not be given twice'],
    ['E14: given twice, once in disguise', '{"n\\u0061me":"a","name":"b"}', 'name must not be given twice'],
    ['a number', '{"name":1}', 'name must be a string'],
    ['absent', '{}', 'name must be a string'],
  ])('%s is refused', (_what, params, message) => {
    expect(refusal(() => decidingText(text(params), 'name'))).toMatchObject({ code: rpcCode.invalidParams, message })
  })

  test('E14: other members that are given twice are not ours to judge', () => {
    const params = text('{"name":"a","arguments":{"x":1,"x":2},"other":1,"other":2}')
    expect(decidingText(params, 'name')).toBe('a')
    expect(toText(withText(params, 'name', 'b'))).toBe('{"name":"b","arguments":{"x":1,"x":2},"other":1,"other":2}')
  })
})

describe('BR-306: the reference of a completion', () => {
  test('names a prompt or a resource', () => {
    expect(completionRef(text('{"ref":{"type":"ref/prompt","name":"a__p"}}'))).toEqual({ kind: 'prompt', name: 'a__p' })
    expect(completionRef({ ref: { type: 'ref/resource', uri: 'x://{y}' } })).toEqual({
      kind: 'resource',
      uri: 'x://{y}',
    })
  })

  test('is given another prompt without another byte', () => {
    const params = text('{"argument":{"name":"x","value":"1"},"ref":{ "name":"a__p" ,"type":"ref/prompt","z":1e1}}')
    expect(toText(withPromptRef(params, 'p'))).toBe(
      '{"argument":{"name":"x","value":"1"},"ref":{ "name":"p" ,"type":"ref/prompt","z":1e1}}',
    )
    expect(withPromptRef({ ref: { type: 'ref/prompt', name: 'a__p' }, x: 1 }, 'p')).toEqual({
      ref: { type: 'ref/prompt', name: 'p' },
      x: 1,
    })
  })

  test.each([
    '{}',
    '{"ref":"ref/prompt"}',
    '{"ref":{"type":"ref/tool","name":"x"}}',
    '{"ref":{"type":"ref/prompt"}}',
    '{"ref":{"type":"ref/resource","uri":1}}',
    '{"ref":{"type":"ref/prompt","name":"a"},"ref":{"type":"ref/prompt","name":"b"}}',
    '{"ref":{"type":"ref/prompt","name":"a","name":"b"}}',
    '{"ref":{"type":"ref/prompt","type":"ref/resource","name":"a","uri":"b"}}',
  ])('E14: %s is refused', (params) => {
    expect(refusal(() => completionRef(text(params))).code).toBe(rpcCode.invalidParams)
  })
})
