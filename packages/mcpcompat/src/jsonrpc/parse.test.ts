import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitEnvelope } from './envelope.ts'
import { type Json, toValue } from './json.ts'
import { JsonText } from './json-text.ts'
import type { RpcMessage, RpcReject } from './message.ts'
import { parseMessage } from './parse.ts'

const modes = ['parsed', 'text'] as const

/** The message with every payload parsed, so that both modes can be compared. */
function plain(message: RpcMessage | RpcReject): unknown {
  return JSON.parse(JSON.stringify(message, (_, member: Json) => toValue(member))) as unknown
}

function rpc(members: string): string {
  return `{"jsonrpc":"2.0",${members}}`
}

describe.each(modes)('in %s mode', (mode) => {
  const parse = (text: string): RpcMessage | RpcReject => parseMessage(text, mode)

  test.each([
    [
      'a request',
      rpc('"id":1,"method":"x","params":{"a":1}'),
      { kind: 'request', id: 1, method: 'x', params: { a: 1 } },
    ],
    ['a request without params', rpc('"id":"a","method":"x"'), { kind: 'request', id: 'a', method: 'x' }],
    ['a notification (MC-MSG-07)', rpc('"method":"x"'), { kind: 'notification', method: 'x' }],
    ['a result (MC-MSG-04, LG-MSG-03)', rpc('"id":0,"result":{"a":[]}'), { kind: 'result', id: 0, result: { a: [] } }],
    [
      'an error (MC-MSG-05)',
      rpc('"id":1,"error":{"code":-1,"message":"m","data":null}'),
      { kind: 'error', id: 1, error: { code: -1, message: 'm', data: null } },
    ],
    [
      'an error without id (MC-MSG-06)',
      rpc('"error":{"code":1,"message":"m"}'),
      { kind: 'error', error: { code: 1, message: 'm' } },
    ],
    [
      'an error with id null, which is none (A-11)',
      rpc('"id":null,"error":{"code":1,"message":"m"}'),
      { kind: 'error', error: { code: 1, message: 'm' } },
    ],
    [
      'unknown members, which are ignored',
      rpc('"id":1,"method":"x","extra":[{"id":2}]'),
      { kind: 'request', id: 1, method: 'x' },
    ],
    [
      'escaped keys',
      '{"json\\u0072pc":"2.\\u0030","\\u0069d":1,"method":"\\u0078"}',
      { kind: 'request', id: 1, method: 'x' },
    ],
    [
      'white space everywhere',
      ' {\n"jsonrpc" :\t"2.0", "id" : 1 ,\r\n"method":"x" , "params" : { } } ',
      { kind: 'request', id: 1, method: 'x', params: {} },
    ],
  ])('reads %s', (_, text, expected) => {
    expect(plain(parse(text))).toEqual(expected)
  })

  test.each([
    ['1', 1],
    ['0', 0],
    ['-1', -1],
    ['1.0', 1],
    ['1e2', 100],
    ['-0', 0],
    ['-0.0', 0],
    ['1e-400', 0],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['"1"', '1'],
    ['"01"', '01'],
    ['"1.0"', '1.0'],
    ['""', ''],
    ['"\\ud83d"', '\ud83d'],
    ['"__proto__"', '__proto__'],
  ])('E1: MC-ID-01: id %s is %j', (id, expected) => {
    const request = parse(rpc(`"id":${id},"method":"x"`))
    const result = parse(rpc(`"id":${id},"result":{}`))
    expect(request).toMatchObject({ kind: 'request' })
    expect(Object.is('id' in request && request.id, expected)).toBe(true)
    expect(Object.is('id' in result && result.id, expected)).toBe(true)
  })

  test.each([
    'null',
    'true',
    '{}',
    '[]',
    '[1]',
    '1.5',
    '9007199254740992',
    '9007199254740993',
    '1e400',
    '-1e400',
    '{"a":1}',
  ])('E1: MC-ID-01, MC-ID-02, A-22: id %s cannot be echoed, so the message is invalid', (id) => {
    const refused = { kind: 'reject', code: -32600, id: undefined }
    expect(parse(rpc(`"id":${id},"method":"x"`))).toMatchObject({ ...refused, like: 'request' })
    expect(parse(rpc(`"id":${id},"result":{}`))).toMatchObject({ ...refused, like: 'response' })
  })

  test.each([
    ['E5: jsonrpc 1.0 (MC-MSG-01)', '{"jsonrpc":"1.0","id":7,"method":"x"}', 7, 'request'],
    ['E5: jsonrpc missing (MC-MSG-01)', '{"id":7,"method":"x"}', 7, 'request'],
    ['E5: jsonrpc a number (MC-MSG-01)', '{"jsonrpc":2,"id":7,"method":"x"}', 7, 'request'],
    [
      'E5: result and error (MC-MSG-12, LG-MSG-03)',
      rpc('"id":7,"result":{},"error":{"code":1,"message":"m"}'),
      7,
      'response',
    ],
    ['result and error null (MC-MSG-12)', rpc('"id":7,"result":{},"error":null'), 7, 'response'],
    ['method and result', rpc('"id":7,"method":"x","result":{}'), 7, 'response'],
    ['E5: method a number (MC-MSG-15)', rpc('"id":7,"method":7'), 7, 'request'],
    ['method null', rpc('"id":7,"method":null'), 7, 'request'],
    ['method missing (MC-MSG-15)', rpc('"id":7'), 7, undefined],
    ['E5: params an array (MC-MSG-03, A-23)', rpc('"id":7,"method":"x","params":[]'), 7, 'request'],
    ['params null (A-23)', rpc('"id":7,"method":"x","params":null'), 7, 'request'],
    ['params a string', rpc('"id":7,"method":"x","params":"{"'), 7, 'request'],
    ['params of a notification an array (MC-MSG-08)', rpc('"method":"x","params":[]'), undefined, 'notification'],
    ['result null', rpc('"id":7,"result":null'), 7, 'response'],
    ['result an array', rpc('"id":7,"result":[]'), 7, 'response'],
    ['result without id (MC-MSG-04)', rpc('"result":{}'), undefined, 'response'],
    ['result with id null', rpc('"id":null,"result":{}'), undefined, 'response'],
    ['error null', rpc('"id":7,"error":null'), 7, 'response'],
    ['error a string', rpc('"id":7,"error":"x"'), 7, 'response'],
    ['error an array', rpc('"id":7,"error":[]'), 7, 'response'],
    ['error without code (MC-MSG-05)', rpc('"id":7,"error":{"message":"m"}'), 7, 'response'],
    ['error code a fraction (MC-MSG-05, LG-MSG-03)', rpc('"id":7,"error":{"code":1.5,"message":"m"}'), 7, 'response'],
    ['error code a string', rpc('"id":7,"error":{"code":"1","message":"m"}'), 7, 'response'],
    ['error message missing (MC-MSG-05)', rpc('"id":7,"error":{"code":1}'), 7, 'response'],
    ['error with an unreadable id', rpc('"id":true,"error":{"code":1,"message":"m"}'), undefined, 'response'],
    ['E5: a number', '123', undefined, undefined],
    ['E5: a string', '"x"', undefined, undefined],
    ['null', 'null', undefined, undefined],
    ['an empty object', '{}', undefined, undefined],
  ])('refuses %s with -32600', (_, text, id, like) => {
    const reject = parse(text)
    expect(reject).toMatchObject({ kind: 'reject', code: -32600, id })
    expect('like' in reject ? reject.like : undefined).toBe(like)
    expect(reject).not.toHaveProperty('batch')
    expect(reject).not.toHaveProperty('text')
  })

  test.each([
    '[]',
    '[1]',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call"}]',
    ' [ ] ',
  ])('E4: MC-MSG-13: the array %s is one invalid message', (text) => {
    expect(parse(text)).toMatchObject({ kind: 'reject', code: -32600, id: undefined, batch: true, text })
  })

  test.each([
    '',
    ' ',
    '{"jsonrpc":"2.0",',
    '[1,',
    'Content-Length: 40',
    '{"jsonrpc":"2.0","id":1,"method":"x"}{}',
    rpc('"id":1,"method":"x","params":{"a":tru}'),
    rpc('"id":1,"method":"x","params":{"a":01}'),
    '\ufeff{}',
  ])('MC-MSG-15: %j is not JSON: -32700, and the reason tells where', (text) => {
    expect(parse(text)).toMatchObject({
      kind: 'reject',
      code: -32700,
      id: undefined,
      reason: expect.stringMatching(/at position \d+$/),
    })
  })

  test('F16: a reason never quotes the message', () => {
    const secret = 'hunter2'
    for (const text of [
      secret,
      `{"${secret}`,
      `{"a":"${secret}"`,
      `"${secret}"`,
      rpc(`"id":["${secret}"],"method":"${secret}","params":"${secret}"`),
    ]) {
      expect(JSON.stringify(parse(text))).not.toContain(secret)
    }
  })

  test('never throws, whatever the text', () => {
    const soup = fc.string({
      unit: fc.constantFrom(
        ...'{}[]",:\\u0e-.1 '.split(''),
        '"jsonrpc":"2.0"',
        '"id"',
        '"method"',
        '"params"',
        '"error"',
        'null',
      ),
      maxLength: 30,
    })
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: 'binary' }), fc.json()), (text) => {
        expect(() => parse(text)).not.toThrow()
      }),
    )
  })
})

test('both modes give the same verdict and the same values for any envelope', () => {
  const anyMember = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(
      '2.0',
      'x',
      1,
      -0,
      1.5,
      null,
      [],
      {},
      { code: 1, message: 'm' },
      { code: 1, message: 'm', data: [1e300] },
    ),
  )
  const envelope = fc
    .uniqueArray(
      fc.tuple(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', '__proto__', 'x'), anyMember),
      { maxLength: 7 },
    )
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`)
  fc.assert(
    fc.property(
      fc.oneof(
        envelope,
        envelope.map((text) => text.replace('{', '{"jsonrpc":"2.0",')),
      ),
      (text) => {
        expect(plain(parseMessage(text, 'text'))).toEqual(plain(parseMessage(text, 'parsed')))
      },
    ),
    { numRuns: 3000 },
  )
})

test('a head as most programs write it is judged like any other', () => {
  const ids = ['', '0', '00', '01', '7', '-1', '1.5', '1e3', '1 ', '"1"', 'null', '123456789012345', '1234567890123456']
  const tails = ['', '}', ',}', ',,"method":"m"}', ',"method":"m"}', ' ,"method":"m"} ', ',"id":2,"result":{}}']
  const more = [',"jsonrpc":"1.0","method":"m"}', ',"params":{},"method":"m"}', ',"error":{"code":1,"message":"m"}}']
  const heads = [
    '{"jsonrpc":"2.0","id":',
    ' {"jsonrpc":"2.0","id":',
    '{"jsonrpc":"2.0" ,"id":',
    '{"jsonrpc":"2.0","id" :',
  ]
  for (const head of heads) {
    for (const id of [...ids, '9007199254740991', '9007199254740992']) {
      for (const tail of [...tails, ...more]) {
        const text = head + id + tail
        expect(plain(parseMessage(text, 'text')), text).toEqual(plain(parseMessage(text, 'parsed')))
      }
    }
  }
})

test('a `_meta` that was read before is found as it stands, and nothing that only begins like it', () => {
  const metas = [
    '{}',
    '{"a":1}',
    '{"a":1 }',
    '{"a":1,"b":{}}',
    '{"a":{"b":[]}}',
    '{"a":9007199254740993}',
    '[]',
    '"{}"',
    '1',
  ]
  const pieces = fc.constantFrom(
    ...metas.map((meta) => `"_meta":${meta}`),
    ...metas.map((meta) => `"_meta" : ${meta}`),
    ...metas.map((meta) => `"\\u005fmeta":${meta}`),
    '"_meta":{}}',
    '"_meta":{"a":1}x',
    '"_meta":{"a":1',
    '"name":"n"',
  )
  const kinds = fc.constantFrom('"method":"m","params"', '"result"', '"error"')
  const message = fc
    .tuple(kinds, fc.array(pieces, { maxLength: 3 }))
    .map(([kind, members]) => rpc(`"id":1,${kind}:{${members.join(',')}}`))
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (texts) => {
      for (const text of texts) {
        const found = parseMessage(text, 'text')
        expect(plain(found)).toEqual(plain(parseMessage(text, 'parsed')))
        const payload = found.kind === 'request' ? found.params : found.kind === 'result' ? found.result : undefined
        if (!JsonText.is(payload)) continue
        expect(text).toContain(payload.text)
        expect(payload.member('_meta')?.text).toBe(new JsonText(payload.text).member('_meta')?.text)
        expect(payload.duplicates).toEqual(new JsonText(payload.text).duplicates)
      }
    }),
    { numRuns: 2000 },
  )
})

test('the split finds what JSON.parse finds', () => {
  const object = fc.dictionary(
    fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', 'other'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(object, (value) => {
      const envelope = splitEnvelope(JSON.stringify(value))
      if (typeof envelope === 'string') throw new Error('an object was taken for something else')
      const { other, ...expected } = JSON.parse(JSON.stringify(value)) as Record<string, unknown>
      const found = Object.fromEntries(
        Object.entries(envelope)
          .filter(([, member]) => member !== undefined)
          .map(([key, member]) => [key, toValue(member as Json)]),
      )
      expect(found).toEqual(expected)
    }),
  )
  expect(splitEnvelope('[1]')).toBe('array')
  expect(splitEnvelope('"x"')).toBe('other')
})

describe('hostile messages', () => {
  test('E11: in text mode a payload keeps every byte', () => {
    const payload = '{ "id":9007199254740993,"x":1.0,"e":1e400,"z":-0,"é":"\\u00e9\\ud800","x":2 }'
    const message = parseMessage(rpc(`"id":1,"result":${payload} `), 'text')
    if (message.kind !== 'result' || !JsonText.is(message.result)) throw new Error('not a result as text')
    expect(message.result.text).toBe(payload)
    const failure = parseMessage(rpc(`"id":1,"error":{"data":${payload},"code":1,"message":"m"}`), 'text')
    if (failure.kind !== 'error' || !JsonText.is(failure.error.data)) throw new Error('not error data as text')
    expect(failure.error.data.text).toBe(payload)
  })

  test.each(modes)('E13: prototype names are data and pollute nothing (%s)', (mode) => {
    const text =
      '{"__proto__":{"method":"evil","id":1},"constructor":{"prototype":{"x":1}},"jsonrpc":"2.0","method":"x","params":{"__proto__":{"admin":true},"constructor":1}}'
    const message = parseMessage(text, mode)
    if (message.kind !== 'notification' || message.params === undefined)
      throw new Error('not a notification with params')
    const params = toValue(message.params) as Record<string, unknown>
    expect(Object.keys(params)).toEqual(['__proto__', 'constructor'])
    expect(params['admin']).toBeUndefined()
    expect({}).not.toHaveProperty('admin')
    expect({}).not.toHaveProperty('method')
    expect(parseMessage('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"x"}}', mode)).toMatchObject({
      kind: 'reject',
      code: -32600,
    })
  })

  test.each(modes)('E14: of equal members of the envelope the last one counts (%s)', (mode) => {
    const text = rpc('"id":1,"method":"tools/list","method":"tools/call","params":{"name":"a"},"params":{"name":"b"}')
    expect(plain(parseMessage(text, mode))).toEqual({
      kind: 'request',
      id: 1,
      method: 'tools/call',
      params: { name: 'b' },
    })
  })

  test.each(modes)('ten thousand levels, a million levels, and 16 MiB strings (%s)', (mode) => {
    for (const depth of [10_000, 1_000_000]) {
      const deep = '['.repeat(depth) + ']'.repeat(depth)
      expect(parseMessage(rpc(`"id":1,"method":"x","params":{"a":${deep}}`), mode).kind).toBe('request')
      expect(parseMessage(rpc(`"id":${deep},"method":"x"`), mode)).toMatchObject({ kind: 'reject', code: -32600 })
      expect(parseMessage(rpc(`"id":1,"method":"x","params":{"a":${deep.slice(1)}}`), mode)).toMatchObject({
        kind: 'reject',
        code: -32700,
      })
    }
    const big = 'x'.repeat(16 * 1024 * 1024)
    expect(parseMessage(rpc(`"id":1,"method":"x","params":{"a":"${big}"}`), mode).kind).toBe('request')
    expect(parseMessage(rpc(`"id":"${big}","method":"x"`), mode)).toMatchObject({ kind: 'request', id: big })
    expect(parseMessage(rpc(`"id":${'9'.repeat(1024 * 1024)},"method":"x"`), mode)).toMatchObject({
      kind: 'reject',
      code: -32600,
    })
  })
})
