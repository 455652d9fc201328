import { describe, expect, test } from 'vitest'
import { answeredIdOf } from './damaged.ts'
import { parseMessage } from './parse.ts'

describe('D19: what a damaged message was to answer', () => {
  test.each([
    ['id first', '{"jsonrpc":"2.0","id":5,"result":{"x":NaN}}', 5],
    ['id before the version', '{"id": "a b", "jsonrpc": "2.0", "error": {"code": NaN}}', 'a b'],
    ['result first, as some SDKs write it', '{"result":{"x":Infinity},"jsonrpc":"2.0","id":-7}', -7],
    ['id before the version, at the end', '{"result":{"x":NaN} , "id":7 , "jsonrpc":"2.0" } ', 7],
    ['a request', '{"jsonrpc":"2.0","id":5,"method":"x","params":{"x":NaN}}', undefined],
    [
      'a notification that speaks of an answer',
      '{"jsonrpc":"2.0","method":"x","params":{"id":5,"result":NaN}}',
      undefined,
    ],
    ['a text that ends like an answer', 'log: {"result":1,"jsonrpc":"2.0","id":5}', undefined],
    ['an answer cut off', '{"result":{"x":1', undefined],
    ['an id that cannot be held', '{"jsonrpc":"2.0","id":9007199254740993,"result":{"x":NaN}}', undefined],
    ['an id with an escape', String.raw`{"jsonrpc":"2.0","id":"a\"","result":{"x":NaN}}`, undefined],
  ] as const)('%s', (_, text, id) => {
    expect(answeredIdOf(text)).toBe(id)
  })

  test('both ways of reading tell it of what is no JSON', () => {
    const text = '{"jsonrpc":"2.0","id":5,"result":{"x":NaN}}'
    for (const payload of ['parsed', 'text'] as const) {
      expect(parseMessage(text, payload)).toMatchObject({ kind: 'reject', code: -32700, id: 5, like: 'response' })
    }
  })
})
