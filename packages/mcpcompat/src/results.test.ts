import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Ask } from './contract/call.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'
import { buildRetry, nextRound, parseResult, resumeOf, retryParams } from './results.ts'

const form = {
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
}
const roots = { method: 'roots/list' }

function askOf(method: string, result: JsonObject | JsonText): Ask {
  const parsed = parseResult(method, result)
  if (parsed.kind !== 'input_required') throw new Error(`it is ${parsed.kind}`)
  return parsed.ask
}

describe('the type of a result', () => {
  test.each<[string, JsonValue, string]>([
    ['tools/call', { resultType: 'complete', content: [] }, 'MC-RT-02'],
    ['tools/call', { content: [] }, 'MC-RT-03, A-08: absent'],
    ['tools/call', {}, 'MC-RT-03: nothing at all'],
    ['tools/call', { resultType: 'complete', structuredContent: null }, 'MC-TOOL-07: null'],
    ['tools/list', { tools: [], requestState: 's', inputRequests: 5 }, 'other members have no meaning then'],
  ])('%s %j is complete (%s)', (method, result) => {
    expect(parseResult(method, result)).toEqual({ kind: 'complete' })
    expect(parseResult(method, new JsonText(JSON.stringify(result)))).toEqual({ kind: 'complete' })
  })

  test.each<[string, JsonValue, string]>([
    ['tools/call', { resultType: 'partial' }, 'MC-RT-04: unknown'],
    ['tools/call', { resultType: 'Complete' }, 'MC-RT-04: case'],
    ['tools/call', { resultType: '' }, 'MC-RT-04: empty'],
    ['tools/call', { resultType: 'toolResult', content: [] }, 'B2: invented'],
    ['tools/call', { resultType: null, content: [] }, 'B2: null'],
    ['tools/call', { resultType: 'inputRequired', requestState: 's' }, 'B2: other spelling'],
    ['tools/call', { resultType: 1 }, 'a number'],
    ['tools/call', { resultType: ['complete'] }, 'an array'],
    ['tools/call', null, 'null'],
    ['tools/call', [], 'an array'],
    ['tools/call', 'ok', 'a string'],
    ['tools/list', { resultType: 'input_required', requestState: 's' }, 'B11, A-59, MC-MRTR-02: a list'],
    ['server/discover', { resultType: 'input_required', requestState: 's' }, 'A-59: discovery'],
    ['completion/complete', { resultType: 'input_required', requestState: 's' }, 'A-59: completion'],
    ['subscriptions/listen', { resultType: 'input_required', requestState: 's' }, 'A-59: a subscription'],
    ['tools/call', { resultType: 'input_required' }, 'B10, MC-MRTR-03: neither'],
    ['tools/call', { resultType: 'input_required', inputRequests: {} }, 'B10, A-39: an empty map alone'],
    ['tools/call', { resultType: 'input_required', requestState: null }, 'A-38: null'],
    ['tools/call', { resultType: 'input_required', requestState: 5, inputRequests: { a: roots } }, 'MC-MRTR-07'],
    ['tools/call', { resultType: 'input_required', requestState: 's', inputRequests: null }, 'MC-MRTR-04: null'],
    ['tools/call', { resultType: 'input_required', requestState: 's', inputRequests: [roots] }, 'MC-MRTR-04: an array'],
    [
      'tools/call',
      { resultType: 'input_required', inputRequests: { a: roots, b: { method: 'foo/bar' } } },
      'B11, A-40',
    ],
    ['tools/call', { resultType: 'input_required', inputRequests: { a: null } }, 'MC-MRTR-05'],
  ])('%s %j is invalid and kept whole (%s)', (method, result) => {
    expect(parseResult(method, result)).toMatchObject({ kind: 'invalid', raw: result })
    const text = new JsonText(JSON.stringify(result))
    const parsed = parseResult(method, text)
    expect(parsed.kind).toBe('invalid')
    expect(parsed.kind === 'invalid' && parsed.raw).toBe(text)
  })

  test('MC-RT-04: an unknown type is named, for reports', () => {
    expect(parseResult('tools/call', { resultType: 'task', taskId: '1' })).toMatchObject({
      kind: 'invalid',
      resultType: 'task',
    })
  })

  test('MC-RT-05: a type of an extension that both sides advertise is not invalid, and not complete', () => {
    const options = { extensionResultTypes: ['task', 'complete', 'input_required'] }
    const result = { resultType: 'task', taskId: '1' }
    expect(parseResult('tools/call', result, options)).toEqual({ kind: 'extension', resultType: 'task', raw: result })
    expect(parseResult('tools/call', { resultType: 'other' }, options).kind).toBe('invalid')
    expect(parseResult('tools/call', {}, options).kind).toBe('complete')
    expect(parseResult('tools/list', { resultType: 'input_required', requestState: 's' }, options).kind).toBe('invalid')
  })

  test('no JSON value makes it throw', () => {
    const member = fc.constantFrom('resultType', 'inputRequests', 'requestState', '__proto__', 'a')
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('complete', 'input_required', 's'))
    const result = fc.oneof(fc.jsonValue(), fc.dictionary(member, value))
    fc.assert(
      fc.property(result, (given) => {
        const text = JSON.stringify(given)
        expect(parseResult('tools/call', new JsonText(text)).kind).toBe(
          parseResult('tools/call', JSON.parse(text) as JsonValue).kind,
        )
      }),
    )
  })
})

test.each(['toolResult', 'inputRequired', null, 'Complete'])('B2: the resultType %j is no success', (resultType) => {
  expect(parseResult('tools/call', { resultType, content: [], requestState: 's' }).kind).toBe('invalid')
})

describe('an ask', () => {
  test.each(['tools/call', 'prompts/get', 'resources/read'])('MC-MRTR-02: may come from %s', (method) => {
    const result = { resultType: 'input_required', inputRequests: { a: form, b: roots }, requestState: 's', other: 1 }
    const ask = askOf(method, result)
    expect([...(ask.inputRequests ?? [])]).toEqual([
      ['a', form],
      ['b', { method: 'roots/list', params: {} }],
    ])
    expect(ask.requestState).toBe('s')
    expect(ask.raw).toBe(result)
  })

  test.each<[JsonObject, object, string]>([
    [{ requestState: '' }, { requestState: '' }, 'A-38: an empty state'],
    [{ requestState: 's', inputRequests: {} }, { requestState: 's' }, 'A-39: an empty map counts as none'],
    [
      { inputRequests: { a: roots } },
      { inputRequests: new Map([['a', { method: 'roots/list', params: {} }]]) },
      'no state',
    ],
  ])('%j is read as %j (%s)', (members, expected) => {
    const { raw: _raw, ...ask } = askOf('tools/call', { resultType: 'input_required', ...members })
    expect(ask).toEqual(expected)
  })

  test('MC-MRTR-17: a state comes out of source text byte for byte', () => {
    const text = '{"requestState":" \\u00e9 {\\"x\\":1}\\n\\ud83d\\ude00","resultType":"input_required"}'
    expect(askOf('tools/call', new JsonText(text)).requestState).toBe(' é {"x":1}\n😀')
  })

  test('keys are in the order of the document', () => {
    const text =
      '{"resultType":"input_required","inputRequests":{"b":{"method":"roots/list"},"10":{"method":"roots/list"},"2":{"method":"roots/list"}}}'
    expect([...(askOf('tools/call', new JsonText(text)).inputRequests ?? []).keys()]).toEqual(['b', '10', '2'])
  })

  test('B11: keys that every object has are data', () => {
    const text =
      '{"resultType":"input_required","inputRequests":{"__proto__":{"method":"roots/list"},"constructor":{"method":"roots/list"}}}'
    for (const result of [JSON.parse(text) as JsonObject, new JsonText(text)]) {
      const ask = askOf('tools/call', result)
      expect([...(ask.inputRequests ?? []).keys()]).toEqual(['__proto__', 'constructor'])
      expect(resumeOf(ask, {})).toEqual({ error: 'missing-response', key: '__proto__' })
      const answers = JSON.parse('{"__proto__":{"roots":[]},"constructor":{"roots":[]}}') as JsonObject
      const resume = resumeOf(ask, answers)
      if ('error' in resume) throw new Error(resume.error)
      expect(JSON.stringify(resume.inputResponses)).toBe(JSON.stringify(answers))
      expect(Object.getPrototypeOf(resume.inputResponses)).toBe(Object.prototype)
      expect(JSON.stringify(retryParams({ name: 'x' }, resume))).toBe(
        `{"name":"x","inputResponses":${JSON.stringify(answers)}}`,
      )
    }
  })
})

describe('a retry', () => {
  const ask = (members: JsonObject): Ask => askOf('tools/call', { resultType: 'input_required', ...members })
  const base = { params: { name: 't', arguments: { a: 1 } }, firstId: 1, retryId: 2 }

  test('MC-MRTR-16, MC-MRTR-20: keeps the params and adds the answers and the state', () => {
    const options = {
      ...base,
      ask: ask({ inputRequests: { a: form }, requestState: 's==' }),
      responses: { a: { action: 'accept' } },
    }
    expect(buildRetry(options)).toEqual({
      params: { name: 't', arguments: { a: 1 }, inputResponses: { a: { action: 'accept' } }, requestState: 's==' },
    })
  })

  test('MC-MRTR-16: carries no state when none came, not even that of an earlier round', () => {
    const params = { name: 't', requestState: 'old', inputResponses: { z: {} }, _meta: { x: 1 } }
    const options = { ...base, params, ask: ask({ inputRequests: { a: form } }), responses: { a: {} } }
    expect(buildRetry(options)).toEqual({ params: { name: 't', inputResponses: { a: {} } } })
  })

  test('MC-MRTR-15: a state alone goes back without answers, an empty one too', () => {
    const params = { name: 't', inputResponses: { z: {} } }
    expect(buildRetry({ ...base, params, ask: ask({ requestState: '' }), responses: { z: {} } })).toEqual({
      params: { name: 't', requestState: '' },
    })
  })

  test('answers that nobody asked for are left out', () => {
    const options = {
      ...base,
      ask: ask({ inputRequests: { a: roots } }),
      responses: { a: { roots: [] }, b: { roots: [] } },
    }
    expect(buildRetry(options)).toMatchObject({ params: { inputResponses: { a: { roots: [] } } } })
    expect(JSON.stringify(buildRetry(options))).not.toContain('"b"')
  })

  test.each<[JsonObject, string]>([
    [{}, 'none'],
    [{ a: {} }, 'one of two'],
    [{ a: {}, b: null }, 'null'],
    [{ a: {}, b: [] }, 'an array'],
    [{ a: {}, b: 'x' }, 'a string'],
  ])('MC-MRTR-14: %j is no reason to send (%s)', (responses) => {
    const options = { ...base, ask: ask({ inputRequests: { a: form, b: roots } }), responses }
    expect(buildRetry(options)).toEqual({ error: 'missing-response', key: 'a' in responses ? 'b' : 'a' })
  })

  test('MC-MRTR-18, B10: needs another id; 1 and "1" are two ids', () => {
    const options = { ...base, ask: ask({ requestState: 's' }), responses: {} }
    expect(buildRetry({ ...options, retryId: 1 })).toEqual({ error: 'id-reused' })
    expect(buildRetry({ ...options, retryId: '1' })).toEqual({ params: { ...base.params, requestState: 's' } })
  })

  test('B10, A-42: rounds end, and rounds without questions are slowed down', () => {
    const [quick, slow] = [ask({ inputRequests: { a: form } }), ask({ requestState: 's' })]
    expect(nextRound(1, quick)).toEqual({ kind: 'go', pauseMs: 0 })
    expect(nextRound(9, slow)).toEqual({ kind: 'go', pauseMs: 250 })
    expect(nextRound(10, quick)).toEqual({ kind: 'too-many-rounds', maxRounds: 10 })
    let rounds = 1
    while (nextRound(rounds, slow, { maxRounds: 3, statePauseMs: 1 }).kind === 'go') rounds++
    expect(rounds).toBe(3)
  })
})
