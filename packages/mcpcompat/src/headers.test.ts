import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AteneaError } from './jsonrpc/errors.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import {
  decodeHeaderValue,
  encodeHeaderValue,
  HeaderValueError,
  maxHeaderLength,
  standardHeaderFault,
  standardHeaders,
} from './headers.ts'

describe('MH-ENC-01 to MH-ENC-03, MH-ENC-07: a value on its way out', () => {
  test.each([
    ['us-west1', 'us-west1', 'plain'],
    ['us west 1', 'us west 1', 'inner spaces'],
    ['!', '!', 'first visible character'],
    ['~', '~', 'last visible character'],
    ['file:///a/b?c=d&e=%20#f', 'file:///a/b?c=d&e=%20#f', 'a uri'],
    ['a, b; c="d"', 'a, b; c="d"', 'delimiters'],
    ['', '=?base64??=', 'A-12: empty'],
    [' ', '=?base64?IA==?=', 'a blank alone'],
    [' a', '=?base64?IGE=?=', 'leading blank'],
    ['a ', '=?base64?YSA=?=', 'trailing blank'],
    ['a\tb', '=?base64?YQli?=', 'A-13: inner tab'],
    ['\ta', '=?base64?CWE=?=', 'leading tab'],
    ['a\u007f', '=?base64?YX8=?=', 'A-13: DEL'],
    ['a\r\nb', '=?base64?YQ0KYg==?=', 'MH-ENC-07: line end'],
    ['a\u0000', '=?base64?YQA=?=', 'MH-ENC-07: NUL'],
    ['é', '=?base64?w6k=?=', 'two bytes'],
    ['\ufeffa', '=?base64?77u/YQ==?=', 'A-14: a leading BOM is a character'],
    ['\u2028', '=?base64?4oCo?=', 'line separator'],
    ['😀', '=?base64?8J+YgA==?=', 'four bytes, and both special digits'],
    ['=?base64?QUJD?=', '=?base64?PT9iYXNlNjQ/UVVKRD89?=', 'looks like the sentinel'],
    ['=?base64??=', '=?base64?PT9iYXNlNjQ/Pz0=?=', 'looks like the empty sentinel'],
    ['=?base64?=', '=?base64?PT9iYXNlNjQ/PQ==?=', 'A-14: markers that overlap'],
    ['=?BASE64?QUJD?=', '=?BASE64?QUJD?=', 'MH-ENC-04: other case'],
    ['=?base64?QUJD', '=?base64?QUJD', 'only the first marker'],
    ['QUJD?=', 'QUJD?=', 'only the second marker'],
    ['x=?base64?QUJD?=', 'x=?base64?QUJD?=', 'does not start with the marker'],
  ])('%j becomes %s (%s)', (value, field) => {
    expect(encodeHeaderValue(value)).toBe(field)
    expect(decodeHeaderValue(field)).toBe(value)
  })

  test.each([
    ['\ud83d', 'half a pair'],
    ['a\ude00b', 'the other half'],
    ['\ude00\ud83d', 'halves in the wrong order'],
  ])('A-14: %j is refused, since no UTF-8 is its form (%s)', (value) => {
    expect(() => encodeHeaderValue(value)).toThrow(expect.objectContaining({ reason: 'lone-surrogate' }))
  })

  test('A-58: a long value is refused here, plain or encoded, and in no time', () => {
    expect(encodeHeaderValue('x'.repeat(maxHeaderLength))).toHaveLength(8192)
    expect(encodeHeaderValue('é'.repeat(3000))).toHaveLength(8011)
    expect(() => encodeHeaderValue('x'.repeat(8193))).toThrow(expect.objectContaining({ reason: 'too-long' }))
    expect(() => encodeHeaderValue('é'.repeat(4000))).toThrow(expect.objectContaining({ reason: 'too-long' }))
    expect(() => encodeHeaderValue(`${' '.repeat(16_000_000)}é`)).toThrow(HeaderValueError)
  })

  test('a refusal is an error of this library that no peer sent', () => {
    expect(AteneaError.is(new HeaderValueError('too-long', 'x'))).toBe(true)
  })

  test('MH-ENC-02, MH-ENC-05: whatever is sent is visible ASCII and comes back the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (value) => {
        const field = encodeHeaderValue(value)
        expect(field).toMatch(/^[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?$/)
        expect(decodeHeaderValue(field)).toBe(value)
      }),
    )
  })
})

describe('MH-ENC-04 to MH-ENC-06, MH-VAL-08, MH-INT-04: a field that came in', () => {
  test.each([
    ['a', 'a', 'literal'],
    [' \t a b \t', 'a b', 'MH-HDR-09: blanks around it'],
    ['', '', 'A-12: empty'],
    [' ', '', 'blanks alone'],
    ['a\tb', 'a\tb', 'A-13: an inner tab is tolerated'],
    ['=?base64?YQ==?=', 'a', 'one byte'],
    ['=?base64?YWI=?=', 'ab', 'two bytes'],
    ['=?base64?YWJj?=', 'abc', 'three bytes'],
    [' =?base64?YWJj?= ', 'abc', 'blanks around the sentinel'],
    ['=?base64?PT9iYXNlNjQ/UVVKRD89?=', '=?base64?QUJD?=', 'decoded once'],
    ['=?base64?AA==?=', '\u0000', 'a control character that was encoded'],
    ['=?BASE64?YWJj?=', '=?BASE64?YWJj?=', 'other case is a literal'],
    ['=?Base64?YWJj?=', '=?Base64?YWJj?=', 'other case is a literal'],
    ['=?base64?YWJj?= ?', '=?base64?YWJj?= ?', 'text behind it is a literal'],
  ])('%j stands for %j (%s)', (field, value) => {
    expect(decodeHeaderValue(field)).toBe(value)
  })

  test.each([
    ['é', 'raw character above 0x7E'],
    ['\u00a0a', 'a no-break space is no optional white space'],
    ['a\u0000', 'NUL'],
    ['a\rb', 'CR'],
    ['a\nb', 'LF'],
    ['\u007f', 'DEL'],
    ['=?base64?=', 'A-14: markers that overlap'],
    ['=?base64?YQ?=', 'no padding'],
    ['=?base64?YQ=?=', 'half the padding'],
    ['=?base64?YWI?=', 'no padding'],
    ['=?base64?YWJj=?=', 'too much padding'],
    ['=?base64?YWJj====?=', 'a quartet of padding'],
    ['=?base64?Y===?=', 'three padding characters'],
    ['=?base64?=YWJ?=', 'padding in front'],
    ['=?base64?YQ==YQ==?=', 'padding inside'],
    ['=?base64?YR==?=', 'A-14: bits after the last byte of one'],
    ['=?base64?YWJ=?=', 'A-14: bits after the last byte of two'],
    ['=?base64?YW Jj?=', 'a blank inside'],
    ['=?base64? YWJj?=', 'a blank in front'],
    ['=?base64?YW\tj?=', 'a tab inside'],
    ['=?base64?8J-YgA==?=', 'the alphabet for urls'],
    ['=?base64?YWJj?=, =?base64?YWJj?=', 'A-53: sent twice'],
    ['=?base64?wyg=?=', 'no UTF-8'],
    ['=?base64?7aC9?=', 'UTF-8 of half a pair'],
    ['=?base64?wIA=?=', 'overlong UTF-8'],
  ])('%j is malformed (%s)', (field) => {
    expect(decodeHeaderValue(field)).toBeUndefined()
  })

  test('any field has an answer', () => {
    const sentinel = fc.string({ unit: 'binary' }).map((text) => `=?base64?${text}?=`)
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), sentinel), (field) => {
        expect(['string', 'undefined']).toContain(typeof decodeHeaderValue(field))
      }),
    )
  })
})

describe('the standard headers', () => {
  test.each<[string, JsonObject, Record<string, string>, string]>([
    ['tools/list', {}, {}, 'MH-HDR-05: the method'],
    ['tools/call', { name: 'echo' }, { 'mcp-name': 'echo' }, 'MH-HDR-06: the tool'],
    ['prompts/get', { name: 'p' }, { 'mcp-name': 'p' }, 'MH-HDR-06: the prompt'],
    ['resources/read', { uri: 'file:///ü' }, { 'mcp-name': '=?base64?ZmlsZTovLy/DvA==?=' }, 'MH-HDR-07: the uri'],
    ['resources/subscribe', { uri: 'a:b' }, {}, 'A-54: no other method'],
    ['completion/complete', { name: 'n' }, {}, 'A-54: no other method'],
    ['tools/call', {}, {}, 'nothing to mirror'],
    ['tools/call', { name: 5 }, {}, 'nothing to mirror'],
    ['notifications/cancelled', { requestId: 1 }, {}, 'A-19: notifications too'],
  ])('of %s with %j add %j (%s)', (method, params, more) => {
    const expected = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...more }
    expect(standardHeaders({ method, params }, '2026-07-28')).toEqual(expected)
    const text = new JsonText(JSON.stringify(params))
    expect(standardHeaders({ method, params: text }, '2026-07-28')).toEqual(expected)
  })

  test.each(['=?base64?QUJD?=', 'näme', ' padded ', 'a\nb', '', '__proto__'])(
    'B4: the tool name %j comes back equal',
    (name) => {
      const headers = standardHeaders({ method: 'tools/call', params: { name } }, '2026-07-28')
      expect(decodeHeaderValue(headers['mcp-name'] ?? '')).toBe(name)
      expect(standardHeaderFault('tools/call', { name }, headers)).toBeUndefined()
    },
  )

  test.each<[string, JsonObject, Record<string, string>, string]>([
    ['tools/call', { name: 'a' }, { 'mcp-method': 'tools/call', 'mcp-name': 'b' }, 'another name'],
    ['tools/call', { name: 'a' }, { 'mcp-method': 'tools/call', 'mcp-name': 'A' }, 'MH-HDR-09: case of the value'],
    ['tools/call', { name: 'a' }, { 'mcp-method': 'tools/call', 'mcp-name': 'a, a' }, 'A-53: the header twice'],
    ['tools/call', { name: 'a' }, { 'mcp-method': 'tools/call' }, 'MH-HDR-10: no name'],
    ['tools/call', {}, { 'mcp-method': 'tools/call' }, 'MH-HDR-10: no name, though the body has none either'],
    ['resources/read', { uri: 5 }, { 'mcp-method': 'resources/read' }, 'MH-HDR-10: no name, nor a uri in the body'],
    ['tools/call', { name: 'a' }, { 'mcp-name': 'a' }, 'MH-HDR-10: no method'],
    ['tools/call', { name: 'a' }, { 'mcp-method': 'Tools/Call', 'mcp-name': 'a' }, 'MH-HDR-09: case of the method'],
    [
      'tools/call',
      { name: 'a' },
      { 'mcp-method': 'tools/call, tools/call', 'mcp-name': 'a' },
      'A-53: the method twice',
    ],
    ['tools/list', {}, { 'mcp-method': '=?base64?dG9vbHMvbGlzdA==?=' }, 'MH-HDR-11: no sentinel in Mcp-Method'],
    ['tools/lïst', {}, { 'mcp-method': 'tools/lïst' }, 'MH-VAL-08: a character that no header may hold'],
    ['tools/call', {}, { 'mcp-method': 'tools/call', 'mcp-name': 'a' }, 'MH-VAL-01: a name that the body has not'],
    ['tools/call', { name: 5 }, { 'mcp-method': 'tools/call', 'mcp-name': '5' }, 'MH-VAL-01: a name that is no string'],
    ['resources/read', { uri: 'ü:' }, { 'mcp-method': 'resources/read', 'mcp-name': 'ü:' }, 'MH-VAL-08: raw'],
    ['prompts/get', { name: 'Hello' }, { 'mcp-method': 'prompts/get', 'mcp-name': '=?base64?SGVsbG8?=' }, 'MH-ENC-06'],
  ])('B5: %s %j under %j is a mismatch (%s)', (method, params, headers) => {
    expect(standardHeaderFault(method, params, headers)?.code).toBe(-32020)
  })

  test.each<[string, JsonObject, Record<string, string>, string]>([
    ['tools/call', { name: 'a b' }, { 'mcp-method': ' tools/call ', 'mcp-name': '\ta b ' }, 'MH-HDR-09: blanks around'],
    [
      'tools/call',
      { name: 'a' },
      { 'mcp-method': 'tools/call', 'mcp-name': '=?base64?YQ==?=' },
      'MH-ENC-05: needless encoding',
    ],
    ['tools/call', { name: '' }, { 'mcp-method': 'tools/call', 'mcp-name': '' }, 'A-12: an empty name'],
    ['tools/list', {}, { 'mcp-method': 'tools/list', 'mcp-name': 'x' }, 'A-54: a superfluous header'],
  ])('%s %j under %j agrees (%s)', (method, params, headers) => {
    expect(standardHeaderFault(method, params, headers)).toBeUndefined()
  })
})
