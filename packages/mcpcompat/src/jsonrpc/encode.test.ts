import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeMessage } from './encode.ts'
import { type Json, type JsonObject, toValue } from './json.ts'
import { JsonText } from './json-text.ts'
import type { RpcId, RpcMessage } from './message.ts'
import { parseMessage } from './parse.ts'

/** The messages of one id, method and payload, in every form that the payload can have. */
function messages(id: RpcId, method: string, value: JsonObject, indent: string): RpcMessage[] {
  const text = JSON.stringify(value, undefined, indent)
  return [value, new JsonText(text), JsonText.ofMembers(text.slice(1, -1))].flatMap((payload): RpcMessage[] => [
    { kind: 'request', id, method, params: payload },
    { kind: 'request', id, method, params: undefined },
    { kind: 'notification', method, params: payload },
    { kind: 'result', id, result: payload },
    { kind: 'error', id, error: { code: -32000, message: method, data: payload } },
    { kind: 'error', id: undefined, error: { code: 1, message: method } },
  ])
}

function plain(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message, (_, member: Json) => toValue(member))) as unknown
}

const id = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.maxSafeInteger().map((n) => n + 0),
)
const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }))

describe('encodeMessage', () => {
  test('gives one line that reads back as the same message, in both modes', () => {
    fc.assert(
      fc.property(
        id,
        fc.string({ unit: 'grapheme' }),
        object,
        fc.constantFrom('', '  ', '\t'),
        (rpcId, method, value, indent) => {
          for (const message of messages(rpcId, method, value, indent)) {
            const line = encodeMessage(message)
            expect(line).not.toMatch(/[\r\n]/)
            expect(line.isWellFormed()).toBe(true)
            for (const mode of ['parsed', 'text'] as const)
              expect(plain(parseMessage(line, mode))).toEqual(plain(message))
          }
        },
      ),
    )
  })

  test.each([1, 0, -1, 9007199254740991, '1', '01', '', '1.0', 'a"\\\n', '\ud83d'])(
    'E1: MC-MSG-04: id %j goes back as it came',
    (rpcId) => {
      const line = encodeMessage({ kind: 'result', id: rpcId, result: {} })
      expect(line).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify(rpcId)},"result":{}}`)
      expect(parseMessage(line, 'parsed')).toEqual({ kind: 'result', id: rpcId, result: {} })
    },
  )

  test('E2: MC-MSG-06, A-11: an error whose id is not known has no id member', () => {
    expect(encodeMessage({ kind: 'error', id: undefined, error: { code: -32700, message: 'm' } })).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}',
    )
    expect(encodeMessage({ kind: 'error', id: 0, error: { code: -32603, message: 'm', data: null } })).toBe(
      '{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"m","data":null}}',
    )
  })

  test('E11: a relayed payload keeps digits, order, duplicates and spaces', () => {
    const payload = '{"id":9007199254740993,"x":1.0,"e":1e400,"z":-0, "b":{"2":0,"1":0},"b":2}'
    const line = encodeMessage({ kind: 'result', id: 1, result: new JsonText(payload) })
    expect(line).toBe(`{"jsonrpc":"2.0","id":1,"result":${payload}}`)
    const relayed = parseMessage(line, 'text')
    if (relayed.kind !== 'result') throw new Error('not a result')
    expect(encodeMessage(relayed)).toBe(line)
  })

  test('a payload that was written over several lines leaves on one, its strings unchanged', () => {
    const payload = '{\r\n\t"text": "a\\nb\\r\u2028",\n  "n": 1.50\r}'
    expect(encodeMessage({ kind: 'notification', method: 'x', params: new JsonText(payload) })).toBe(
      '{"jsonrpc":"2.0","method":"x","params":{  \t"text": "a\\nb\\r\u2028",   "n": 1.50 }}',
    )
  })

  test('D19: what leaves is well-formed Unicode, and strict parsers find no escaped half of a pair in what we wrote', () => {
    const cut = 'x\ud83d'
    const written = encodeMessage({ kind: 'result', id: 1, result: { text: cut } })
    expect(written).toContain('"x\ufffd"')
    expect(encodeMessage({ kind: 'error', id: 1, error: { code: 1, message: cut } })).toContain('"x\ufffd"')
    const raw = encodeMessage({ kind: 'result', id: 1, result: new JsonText(`{"text":"${cut}"}`) })
    expect(raw).toContain('"x\ufffd"')
    expect(encodeMessage({ kind: 'request', id: '\udc00', method: cut, params: undefined }).isWellFormed()).toBe(true)
    const relayed = encodeMessage({ kind: 'result', id: 1, result: new JsonText('{"text":"\\ud83d"}') })
    expect(relayed).toContain('"\\ud83d"')
  })

  test('E13: members with prototype names are data', () => {
    const params = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as JsonObject
    expect(encodeMessage({ kind: 'notification', method: '__proto__', params })).toBe(
      '{"jsonrpc":"2.0","method":"__proto__","params":{"__proto__":{"admin":true},"constructor":1}}',
    )
  })

  test('what was read at any depth can be written again', () => {
    const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    const line = `{"jsonrpc":"2.0","id":1,"result":${deep}}`
    for (const mode of ['parsed', 'text'] as const) {
      const message = parseMessage(line, mode)
      if (message.kind !== 'result') throw new Error('not a result')
      expect(encodeMessage(message)).toBe(line)
    }
  })

  test('E11: a bigint is a clear error, not a crash of something else', () => {
    expect(() => encodeMessage({ kind: 'result', id: 1, result: { n: 1n as never } })).toThrow(TypeError)
  })
})
