import { describe, expect, test } from 'vitest'
import { isJsonObject, toObject, toText, toValue } from './json.ts'
import { addMembers, replaceMember } from './edit.ts'
import { JsonText } from './json-text.ts'

describe('JsonText', () => {
  test('looks into text on demand, once', () => {
    const json = new JsonText(' { "a" : [1, 2] , "b" : 9007199254740993 } ')
    expect(json.text).toBe(' { "a" : [1, 2] , "b" : 9007199254740993 } ')
    expect(json.members).toBe('"a" : [1, 2] , "b" : 9007199254740993')
    expect(json.member('b')?.text).toBe('9007199254740993')
    expect(json.member('a')?.value).toEqual([1, 2])
    expect(json.member('c')).toBeUndefined()
    expect(json.value).toBe(json.value)
    expect(json.spans).toBe(json.spans)
    expect(json.isObject).toBe(true)
  })

  test('is built from members without a copy, and knows the keys it was given', () => {
    const json = JsonText.ofMembers('"a":1', ['a'])
    expect(json.has('a')).toBe(true)
    expect(json.has('b')).toBe(false)
    expect(json.has('toString')).toBe(false)
    expect(json.members).toBe('"a":1')
    expect(json.text).toBe('{"a":1}')
    expect(JsonText.ofMembers('').text).toBe('{}')
    expect(new JsonText(' {\n} ').members).toBe('')
  })

  test('its line is one line of well-formed Unicode, also after members were added', () => {
    const source = new JsonText('{"a":"\ud800",\r\n"b":1}')
    expect(source.line).toBe('{"a":"\ufffd",  "b":1}')
    expect(source.text).toContain('\n')
    expect(addMembers(source, '"c":2').line).toBe('{"c":2,"a":"\ufffd",  "b":1}')
    expect(replaceMember(source, 'b', '[1,\n2]').line).toBe('{"a":"\ufffd",  "b":[1, 2]}')
    expect(replaceMember(JsonText.ofLine('{}'), 'b', '[1,\n2]').line).toBe('{"b":[1, 2]}')
    expect(addMembers({ a: '\ud800' }, '"c":2').line).toBe('{"c":2,"a":"\ufffd"}')
  })

  test('tells whether it has one of several members, whether or not it was told which it has', () => {
    const wanted = new Set(['b', 'c'])
    expect(new JsonText('{"a":{"b":1}}').hasAny(wanted)).toBe(false)
    expect(new JsonText('{"a":1,"\\u0062":1}').hasAny(wanted)).toBe(true)
    expect(JsonText.ofMembers('"a":1', ['a']).hasAny(wanted)).toBe(false)
    expect(JsonText.ofMembers('"a":1,"c":1', ['a', 'c']).hasAny(wanted)).toBe(true)
  })

  test('E14: reports keys that were given twice', () => {
    expect(new JsonText('{"name":"a","n\\u0061me":"b"}').duplicates).toEqual(['name'])
    expect(new JsonText('{"name":"a"}').duplicates).toEqual([])
  })

  test.each(['', '{"a":', '[1]', '{"a":1}}', 'null'])(
    '%j is no object: a SyntaxError for whoever asks for members',
    (text) => {
      const json = new JsonText(text)
      expect(() => json.spans).toThrow(SyntaxError)
      expect(() => json.duplicates).toThrow(SyntaxError)
      expect(() => json.has('a')).toThrow(SyntaxError)
      expect(() => json.member('a')).toThrow(SyntaxError)
    },
  )

  test('bad text is a SyntaxError for whoever asks for the value or the text between the braces', () => {
    expect(() => new JsonText('{"a":tru}').value).toThrow(SyntaxError)
    expect(() => new JsonText('[]').members).toThrow(SyntaxError)
    expect(() => new JsonText('{"a":1').members).toThrow(SyntaxError)
  })

  test('null, false and 0 are values like others', () => {
    for (const text of ['null', 'false', '0', '""']) {
      const json = new JsonText(text)
      expect(json.value).toBe(JSON.parse(text))
      expect(json.value).toBe(json.value)
    }
  })

  test('is recognised by its brand, which data cannot carry', () => {
    expect(JsonText.is(new JsonText('1'))).toBe(true)
    expect(JsonText.is(JSON.parse('{"text":"1","__proto__":{"text":"1"}}'))).toBe(false)
    expect(JsonText.is(null)).toBe(false)
  })

  test('inside a parsed value it is written as its value', () => {
    expect(toText({ a: new JsonText('[1, 2]') as never })).toBe('{"a":[1,2]}')
  })
})

describe('conversions', () => {
  test('isJsonObject tells parsed objects from everything else', () => {
    expect(isJsonObject({})).toBe(true)
    expect(isJsonObject(JSON.parse('{"__proto__":null}'))).toBe(true)
    for (const other of [null, undefined, [], 'x', 1, true, new JsonText('{}')]) expect(isJsonObject(other)).toBe(false)
  })

  test('toValue, toObject and toText take both forms', () => {
    const value = { a: 1 }
    expect(toValue(value)).toBe(value)
    expect(toValue(new JsonText('[1]'))).toEqual([1])
    expect(toObject(value)).toBe(value)
    expect(toObject(new JsonText('{"a":1}'))).toEqual(value)
    expect(() => toObject(new JsonText('[1]'))).toThrow(TypeError)
    expect(() => toObject(new JsonText('{'))).toThrow(SyntaxError)
    expect(toText(value)).toBe('{"a":1}')
    expect(toText(new JsonText('{ "a":1.0 }'))).toBe('{ "a":1.0 }')
  })
})
