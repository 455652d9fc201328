import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Ask, CacheHints, Call, Outcome } from '../contract/call.ts'
import type { AnswerContext, WireCodec } from '../contract/wire.ts'
import { encodeMessage } from '../jsonrpc/encode.ts'
import { RpcError } from '../jsonrpc/errors.ts'
import { type JsonObject, type JsonRecord, type JsonValue, toObject } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcRequest } from '../jsonrpc/message.ts'
import { parseMessage } from '../jsonrpc/parse.ts'
import { metaKey } from '../meta.ts'
import { modernRevision } from '../revisions.ts'
import { createModernCodec } from './codec.ts'

const info = { name: 's', version: '1' }
const named = { [metaKey.serverInfo]: info }
const codec = createModernCodec({ revision: modernRevision, serverInfo: info })
const first: AnswerContext = { progressToken: undefined, logLevel: undefined, resume: undefined }
const call = (method: string, params: JsonRecord = {}): Call => ({ method, params })
const tool = call('tools/call', { name: 'a', arguments: {} })

/** What the codec writes, read back from the text that goes over the wire. */
function written(asked: Call, outcome: Outcome, context = first, by: WireCodec = codec): JsonObject {
  return JSON.parse(encodeMessage(by.encodeOutcome(asked, outcome, context, 1))) as JsonObject
}

function result(value: JsonRecord, hints?: CacheHints): Outcome {
  return { kind: 'result', value, ...(hints && { hints }) }
}

const both = (value: JsonObject): [string, JsonRecord][] => [
  ['parsed', value],
  ['text', new JsonText(JSON.stringify(value))],
]

describe('a result', () => {
  test.each(both({ content: [], x: 1 }))(
    'MC-RT-01, MC-META-10: (%s) gets its type and the name of the server',
    (_form, value) => {
      expect(written(tool, result(value))).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: { resultType: 'complete', content: [], x: 1, _meta: named },
      })
    },
  )

  test.each(both({}))('(%s) an empty one as well', (_form, value) => {
    expect(written(tool, result(value))['result']).toEqual({ resultType: 'complete', _meta: named })
  })

  test('names nobody when it is not wanted', () => {
    const silent = createModernCodec({ revision: modernRevision })
    expect(written(tool, result({}), first, silent)['result']).toEqual({ resultType: 'complete' })
  })

  test.each(both({ content: [], resultType: 'complete', _meta: { 'a/b': 1 } }))(
    '(%s) members that it has are kept, and its _meta is joined',
    (_form, value) => {
      expect(written(tool, result(value))['result']).toEqual({
        content: [],
        resultType: 'complete',
        _meta: { 'a/b': 1, ...named },
      })
    },
  )

  test.each(both({ content: [], _meta: { [metaKey.serverInfo]: { name: 'backend', version: '9' } } }))(
    '(%s) a server that it names already stays',
    (_form, value) => {
      expect(written(tool, result(value))['result']).toMatchObject({
        _meta: { [metaKey.serverInfo]: { name: 'backend', version: '9' } },
      })
    },
  )

  test.each(both({ contents: [] }))(
    'MC-CACHE-01, MC-CACHE-03, MC-CACHE-04, B16: (%s) hints go with cacheable methods only',
    (_form, value) => {
      const hints: CacheHints = { ttlMs: 500, cacheScope: 'public' }
      for (const method of [
        'tools/list',
        'prompts/list',
        'resources/list',
        'resources/templates/list',
        'resources/read',
      ]) {
        expect(written(call(method), result(value, hints))['result']).toMatchObject({
          ttlMs: 500,
          cacheScope: 'public',
        })
        expect(written(call(method), result(value))['result']).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
      }
      for (const method of ['tools/call', 'prompts/get', 'completion/complete']) {
        expect(Object.keys(written(call(method), result(value, hints))['result'] as object)).not.toContain('ttlMs')
      }
    },
  )

  test.each(both({ contents: [] }))(
    'A-29, MC-CACHE-06: (%s) the answer to a retried read is for nobody to cache',
    (_form, value) => {
      const retried = { ...first, resume: { inputResponses: {} } }
      const outcome = result(value, { ttlMs: 500, cacheScope: 'public' })
      expect(written(call('resources/read'), outcome, retried)['result']).toMatchObject({
        ttlMs: 0,
        cacheScope: 'private',
      })
    },
  )

  test.each(both({ tools: [], ttlMs: 7, cacheScope: 'public' }))(
    'BR-304: (%s) hints that are members already are passed on',
    (_form, value) => {
      expect(written(call('tools/list'), result(value))['result']).toMatchObject({ ttlMs: 7, cacheScope: 'public' })
    },
  )

  test('MC-SUB-12: the closing one of a subscription carries its id and nothing of the method', () => {
    for (const id of [3, 'three']) {
      const message = codec.encodeOutcome(call('subscriptions/listen'), result({ more: 1 }), first, id)
      expect(JSON.parse(encodeMessage(message))).toEqual({
        jsonrpc: '2.0',
        id,
        result: { resultType: 'complete', _meta: { [metaKey.subscriptionId]: id, ...named } },
      })
    }
  })

  test('a list that comes again is written from the same text', () => {
    const tools = new JsonText('{"tools":[]}')
    const again = (hints?: CacheHints): unknown => {
      const message = codec.encodeOutcome(call('tools/list'), result(tools, hints), first, 1)
      return message.kind === 'result' ? message.result : undefined
    }
    const hints: CacheHints = { ttlMs: 1, cacheScope: 'public' }
    expect(again(hints)).toBe(again({ ...hints }))
    expect(again(hints)).not.toBe(again({ ttlMs: 2, cacheScope: 'public' }))
    expect(toObject(again({ ttlMs: 2, cacheScope: 'public' }) as JsonText)).toMatchObject({ ttlMs: 2 })
  })

  test('E11: numbers, order and members of source text survive', () => {
    const text = '{"b":9007199254740993,"a":1.0,"e":1e400,"z":-0,"resultType":"complete","_meta":{"x":1e2}}'
    const message = encodeMessage(codec.encodeOutcome(tool, result(new JsonText(text)), first, 1))
    expect(message).toContain('"b":9007199254740993,"a":1.0,"e":1e400,"z":-0,')
    expect(message).toContain('"x":1e2')
  })

  test('any value stays what it is, with what the revision adds', () => {
    const members = fc.dictionary(
      fc.string().filter((key) => !['resultType', 'ttlMs', 'cacheScope', '_meta', '__proto__'].includes(key)),
      fc.jsonValue({ noUnicodeString: false }),
    )
    fc.assert(
      fc.property(members, fc.boolean(), (value, asText) => {
        const plain = JSON.parse(JSON.stringify(value)) as JsonObject
        const given = asText ? new JsonText(JSON.stringify(plain)) : plain
        const wellFormed = JSON.parse(
          JSON.stringify(plain)
            .toWellFormed()
            .replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '\ufffd'),
        ) as JsonObject
        fc.pre(JSON.stringify(wellFormed) === JSON.stringify(plain))
        expect(written(call('resources/read'), result(given))['result']).toEqual({
          ...plain,
          resultType: 'complete',
          ttlMs: 0,
          cacheScope: 'private',
          _meta: named,
        })
      }),
    )
  })

  test('a value that JSON cannot hold fails here, where it can still be answered', () => {
    expect(() => codec.encodeOutcome(tool, result({ n: 1n as unknown as number }), first, 1)).toThrow(TypeError)
  })
})

describe('an ask', () => {
  const question: Call = { method: 'elicitation/create', params: new JsonText('{"message":"m","n":9007199254740993}') }
  const ask: Ask = { inputRequests: new Map([['__proto__', question]]), requestState: ' é ', raw: {} }

  test.each(['tools/call', 'prompts/get', 'resources/read'])(
    'MC-RT-02, MC-MRTR-03, MC-MRTR-05, MC-CACHE-02: %s asks, without hints',
    (method) => {
      const message = encodeMessage(codec.encodeOutcome(call(method), { kind: 'ask', ...ask }, first, 1))
      expect(message).toBe(
        '{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"__proto__":{"method":"elicitation/create",' +
          '"params":{"message":"m","n":9007199254740993}}},"requestState":" é ","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}',
      )
    },
  )

  test.each(['tools/list', 'completion/complete', 'server/discover'])('MC-MRTR-02, A-59: %s does not', (method) => {
    expect(written(call(method), { kind: 'ask', ...ask })).toMatchObject({ id: 1, error: { code: -32_603 } })
  })

  test('BR-301: unknown members of a relayed one are kept, its hints are not, and what was changed on the way counts', () => {
    const raw = { resultType: 'input_required', requestState: 'old', extra: [1], ttlMs: 5, _meta: { 'a/b': 1 } }
    expect(written(tool, { kind: 'ask', requestState: 'sealed', raw })['result']).toEqual({
      resultType: 'input_required',
      requestState: 'sealed',
      extra: [1],
      _meta: { 'a/b': 1, ...named },
    })
  })

  test('MC-MRTR-07, A-38: an empty state is a state', () => {
    expect(written(tool, { kind: 'ask', requestState: '', raw: {} })['result']).toMatchObject({ requestState: '' })
  })
})

test('a result of an extension goes on as it came', () => {
  const raw = { resultType: 'task', taskId: '1' }
  expect(written(tool, { kind: 'other', resultType: 'task', raw })['result']).toEqual(raw)
})

describe('notices', () => {
  const context: AnswerContext = { ...first, progressToken: 't', logLevel: 'warning' }
  const listen = call('subscriptions/listen', {
    notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b'] },
  })

  test.each([
    ['MC-PROG-03', tool, call('notifications/progress', { progress: 1 }), { progress: 1, progressToken: 't' }],
    ['MC-LOG-03', tool, call('notifications/message', { level: 'error', data: 1 }), { level: 'error', data: 1 }],
    ['MC-LOG-03', tool, call('notifications/message', { level: 'info', data: 1 }), undefined],
    ['MC-LOG-06', tool, call('notifications/message', { level: 'loud', data: 1 }), undefined],
    ['MC-SUB-02', tool, call('notifications/tools/list_changed'), undefined],
    ['an extension', tool, call('notifications/x', { a: 1 }), { a: 1 }],
    ['MC-META-09', listen, call('notifications/tools/list_changed'), { _meta: { [metaKey.subscriptionId]: 9 } }],
    [
      'MC-META-09, MC-SUB-17',
      listen,
      call('notifications/resources/updated', { uri: 'a:b/c', _meta: { 'x/y': 1 } }),
      { uri: 'a:b/c', _meta: { 'x/y': 1, [metaKey.subscriptionId]: 9 } },
    ],
    ['MC-SUB-02', listen, call('notifications/prompts/list_changed'), undefined],
    ['MC-SUB-15', listen, call('notifications/progress', { progress: 1 }), undefined],
    ['MC-SUB-15', listen, call('notifications/message', { level: 'error', data: 1 }), undefined],
  ])('%s: on %o, %o', (_id, asked, notice, params) => {
    const message = codec.encodeNotice(asked, notice, context, 9)
    expect(message === undefined ? undefined : toObject(message.params ?? {})).toEqual(params)
  })

  test('MC-LOG-02, MC-PROG-03: without a token and a level nothing goes out', () => {
    expect(codec.encodeNotice(tool, call('notifications/progress', { progress: 1 }), first, 1)).toBeUndefined()
    expect(
      codec.encodeNotice(tool, call('notifications/message', { level: 'emergency', data: 1 }), first, 1),
    ).toBeUndefined()
  })

  test('E10: come back without what routed them, foreign _meta stays', () => {
    const params = { uri: 'a:b', _meta: { 'x/y': 1, [metaKey.subscriptionId]: 9 } }
    expect(codec.decodeNotice({ kind: 'notification', method: 'notifications/resources/updated', params })).toEqual({
      ok: true,
      value: call('notifications/resources/updated', { uri: 'a:b', _meta: { 'x/y': 1 } }),
    })
  })

  test.each([
    ['notifications/progress', { progress: '1' }],
    ['notifications/message', { level: 'loud', data: 1 }],
    ['notifications/message', { level: 'info' }],
    ['notifications/resources/updated', {}],
    ['notifications/subscriptions/acknowledged', { notifications: [] }],
  ])('%s with %o is none', (method, params) => {
    expect(codec.decodeNotice({ kind: 'notification', method, params })).toMatchObject({ ok: false })
  })
})

describe('requests', () => {
  const caller = {
    peer: { name: 'c', version: '2', info: { name: 'c', version: '2', title: 'C' }, capabilities: {} },
    meta: {},
    progressToken: undefined,
    logLevel: undefined,
    resume: undefined,
  }

  test('what one codec writes the other reads', () => {
    const value = fc.jsonValue()
    const params = fc.dictionary(
      fc.string().filter((key) => !['_meta', 'inputResponses', 'requestState', '__proto__'].includes(key)),
      value,
    )
    const context = fc.record({
      token: fc.option(fc.oneof(fc.string(), fc.maxSafeInteger()), { nil: undefined }),
      state: fc.option(fc.string(), { nil: undefined }),
      trace: fc.option(value, { nil: undefined }),
      asText: fc.boolean(),
    })
    fc.assert(
      fc.property(params, context, (given, { token, state, trace, asText }) => {
        const plain = JSON.parse(JSON.stringify({ ...given, name: 'a', arguments: given })) as JsonObject
        const meta = trace === undefined ? {} : { 'a.b/trace': JSON.parse(JSON.stringify(trace)) as JsonValue }
        const { message } = codec.encodeCall(
          { method: 'tools/call', params: asText ? new JsonText(JSON.stringify(plain)) : plain },
          {
            ...caller,
            meta,
            progressToken: token,
            resume: state === undefined ? undefined : { requestState: state, inputResponses: {} },
          },
          1,
        )
        const line = encodeMessage(message)
        fc.pre(!/\\ud[89a-f]/i.test(JSON.stringify([plain, meta, token, state])))
        for (const payload of ['parsed', 'text'] as const) {
          const decoded = codec.decodeCall(parseMessage(line, payload) as RpcRequest, {})
          if (!decoded.ok) throw new Error(decoded.message)
          expect(toObject(decoded.value.call.params)).toEqual(plain)
          expect(decoded.value.context.progressToken).toEqual(Object.is(token, -0) ? 0 : token)
          expect(decoded.value.context.resume?.requestState).toEqual(state)
          expect(decoded.value.context.peer).toEqual(caller.peer)
          expect(decoded.value.context.rawMeta).toMatchObject(meta)
        }
      }),
    )
  })

  test('MT-01, MC-VER-04: headers are made from the body, for carriers that have any', () => {
    const { hints } = codec.encodeCall(tool, caller, 1)
    expect(hints).toEqual({ 'mcp-protocol-version': modernRevision, 'mcp-method': 'tools/call', 'mcp-name': 'a' })
  })

  test('a name that no header can hold is no fault where there are no headers', () => {
    const long = call('tools/call', { name: 'x'.repeat(10_000), arguments: {} })
    expect(codec.encodeCall(long, caller, 1).message.params).toMatchObject({ name: 'x'.repeat(10_000) })
  })

  test('a revision that is not this one is refused', () => {
    const other = createModernCodec({ revision: '2027-01-01' }).encodeCall(tool, caller, 1)
    expect(codec.decodeCall(other.message, {})).toMatchObject({ ok: false, reason: 'invalid-envelope' })
  })
})

test('MC-ERR-14: an error that was not meant for the peer says nothing', () => {
  expect(codec.encodeError(new Error('secret'), 1)).toEqual({
    kind: 'error',
    id: 1,
    error: { code: -32_603, message: 'Internal error' },
  })
  expect(codec.encodeError(undefined, undefined)).toMatchObject({ id: undefined, error: { code: -32_603 } })
})

test('data that JSON cannot hold is left out of an error', () => {
  const error = new RpcError(-32_602, 'm', { data: { n: 1n as unknown as number } })
  expect(encodeMessage(codec.encodeError(error, 1))).toBe(
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}',
  )
})

test('B10, MC-RT-05: types of extensions that both sides know are results of their own kind', () => {
  const extended = createModernCodec({ revision: modernRevision, extensionResultTypes: ['task'] })
  const message = { kind: 'result', id: 1, result: { resultType: 'task', taskId: '1' } } as const
  expect(extended.decodeOutcome(tool, message)).toEqual({
    ok: true,
    value: { kind: 'other', resultType: 'task', raw: message.result },
  })
})
