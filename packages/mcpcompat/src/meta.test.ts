import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'
import { checkEnvelope, claimOf, metaKey, metaOf, stripEnvelopeMeta, stripReservedMeta } from './meta.ts'

const offer = { modern: ['2026-07-28'], legacy: ['2025-06-18', '2024-11-05'] }
const good: JsonObject = {
  [metaKey.protocolVersion]: '2026-07-28',
  [metaKey.clientInfo]: { name: 'c', version: '1' },
  [metaKey.clientCapabilities]: {},
}
const withMember = (key: string, value: JsonValue | undefined): JsonObject =>
  Object.fromEntries(Object.entries({ ...good, [key]: value }).filter(([, member]) => member !== undefined))

describe('the envelope of a modern request', () => {
  test.each([
    [good, 'complete'],
    [withMember(metaKey.clientInfo, undefined), 'MC-REQ-07: no clientInfo'],
    [
      withMember(metaKey.clientCapabilities, { elicitation: { form: {} }, future: {} }),
      'MC-REQ-12: unknown capability',
    ],
    [withMember(metaKey.clientInfo, { name: '', version: '', icons: 5 }), 'other members of clientInfo are not judged'],
    [withMember(metaKey.progressToken, ''), 'MC-PROG-01: an empty string'],
    [withMember(metaKey.progressToken, 0), 'MC-PROG-01: zero'],
    [withMember(metaKey.progressToken, 2 ** 53 - 1), 'MC-PROG-01: the largest integer'],
    [withMember(metaKey.logLevel, 'emergency'), 'MC-REQ-04: a level'],
    [withMember('io.modelcontextprotocol/future', 5), 'MC-META-06: nothing is assumed of unknown reserved keys'],
    [withMember('_bad key!', null), 'A-49: badly formed keys of others'],
    [withMember('traceparent', 7), 'A-49: what is not consumed is not judged'],
  ])('%j passes (%s)', (meta) => {
    expect(checkEnvelope(meta, offer)).toBeUndefined()
  })

  test.each([
    [undefined, 'no _meta', /protocolVersion.*clientCapabilities/],
    [null, '_meta is null', /protocolVersion/],
    [[], '_meta is an array', /protocolVersion/],
    ['x', '_meta is a string', /protocolVersion/],
    [{}, 'MC-REQ-05: nothing in it', /protocolVersion.*clientCapabilities/],
    [withMember(metaKey.protocolVersion, undefined), 'MC-REQ-01: no version', /Missing.*protocolVersion$/],
    [withMember(metaKey.clientCapabilities, undefined), 'MC-REQ-02: no capabilities', /Missing.*clientCapabilities$/],
    [withMember(metaKey.protocolVersion, null), 'MC-REQ-01: version is null', /must be a string/],
    [withMember(metaKey.protocolVersion, 20260728), 'MC-REQ-01: version is a number', /must be a string/],
    [withMember(metaKey.clientCapabilities, null), 'capabilities is null', /must be an object/],
    [withMember(metaKey.clientCapabilities, []), 'capabilities is an array', /must be an object/],
    [
      withMember(metaKey.clientCapabilities, { a: {}, sampling: true }),
      'MC-REQ-12: a capability is true',
      /sampling.*object/,
    ],
    [withMember(metaKey.clientCapabilities, { roots: null }), 'MC-REQ-12: a capability is null', /roots.*object/],
    [withMember(metaKey.clientCapabilities, { extensions: [] }), 'MC-EXT-04: extensions is no map', /extensions/],
    [withMember(metaKey.clientInfo, null), 'clientInfo is null', /clientInfo/],
    [withMember(metaKey.clientInfo, { name: 'c' }), 'clientInfo without version', /clientInfo/],
    [withMember(metaKey.clientInfo, { name: 1, version: '1' }), 'clientInfo with a number', /clientInfo/],
    [withMember(metaKey.progressToken, 1.5), 'MC-PROG-01: fraction', /progressToken/],
    [withMember(metaKey.progressToken, 2 ** 53), 'A-22: cannot be echoed', /progressToken/],
    [withMember(metaKey.progressToken, null), 'null token', /progressToken/],
    [withMember(metaKey.progressToken, {}), 'object token', /progressToken/],
    [withMember(metaKey.logLevel, 'verbose'), 'MC-LOG-05: unknown level', /logLevel/],
    [withMember(metaKey.logLevel, null), 'level is null', /logLevel/],
  ])('%j is refused with -32602 (%s)', (meta, _reason, message) => {
    const fault = checkEnvelope(meta, offer)
    expect(fault?.code).toBe(-32602)
    expect(fault?.message).toMatch(message)
  })

  test.each([
    ['2027-01-01', ['2026-07-28', '2025-06-18', '2024-11-05'], 'unknown'],
    ['v999', ['2026-07-28', '2025-06-18', '2024-11-05'], 'MC-VER-06: another form'],
    ['', ['2026-07-28', '2025-06-18', '2024-11-05'], 'empty'],
    ['2025-11-25', ['2026-07-28', '2025-06-18', '2024-11-05'], 'known but not served'],
    ['2025-06-18', ['2026-07-28', '2024-11-05'], 'A-26: served, but not per request'],
  ])('MC-VER-01, MC-ERR-07: %j is refused with -32022 listing %j (%s)', (version, supported) => {
    const fault = checkEnvelope({ [metaKey.protocolVersion]: version }, offer)
    expect(fault).toMatchObject({ code: -32022, data: { supported, requested: version } })
  })

  test('A-26: the text says that a legacy revision needs initialize', () => {
    expect(checkEnvelope(withMember(metaKey.protocolVersion, '2025-06-18'), offer)?.message).toContain('initialize')
    expect(checkEnvelope(withMember(metaKey.protocolVersion, '2099-01-01'), offer)?.message).not.toContain('initialize')
  })

  test('a version of a megabyte does not come back in the text', () => {
    const fault = checkEnvelope(withMember(metaKey.protocolVersion, 'x\r\n'.repeat(400_000)), offer)
    expect(fault?.message.length).toBeLessThan(400)
    expect(fault?.message).not.toMatch(/[\r\n]/)
  })

  test('no JSON value makes it throw, and what it refuses is one of two codes', () => {
    const member = fc.constantFrom(...Object.values(metaKey), '__proto__')
    const meta = fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue()))
    fc.assert(
      fc.property(meta, (value) => {
        expect([undefined, -32602, -32022]).toContain(checkEnvelope(value as JsonValue, offer)?.code)
      }),
    )
  })
})

describe('a claim', () => {
  test.each([
    [undefined, undefined],
    [{ _meta: {} }, undefined],
    [{ _meta: 5 }, undefined],
    [{ _meta: [] }, undefined],
    [{ _meta: { [metaKey.protocolVersion]: null } }, null],
    [{ _meta: { [metaKey.protocolVersion]: 'x' } }, 'x'],
    [{ [metaKey.protocolVersion]: 'x' }, undefined],
  ])('in %j is %j', (params, claim) => {
    expect(claimOf(metaOf(params))).toBe(claim)
    const text = params === undefined ? undefined : new JsonText(JSON.stringify(params))
    expect(claimOf(metaOf(text))).toBe(claim)
  })
})

describe('what a message carries besides its envelope', () => {
  const meta = JSON.parse(
    `{"${metaKey.protocolVersion}":"2026-07-28","${metaKey.clientInfo}":{},"${metaKey.clientCapabilities}":{},
      "${metaKey.logLevel}":"info","progressToken":1,"traceparent":"00-a","tracestate":" x=1 ","baggage":"b",
      "com.example/x":1,"_bad key":2,"io.modelcontextprotocol/future":3,"__proto__":{"polluted":true}}`,
  ) as JsonObject

  test('A-49, MC-META-08: unknown and foreign keys stay as they came, __proto__ as data', () => {
    const rest = stripEnvelopeMeta(meta)
    expect(JSON.stringify(rest)).toBe(
      '{"traceparent":"00-a","tracestate":" x=1 ","baggage":"b","com.example/x":1,"_bad key":2,"io.modelcontextprotocol/future":3,"__proto__":{"polluted":true}}',
    )
    expect(Object.getPrototypeOf(rest)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('BR-202: keys that MCP reserves under its prefix do not reach the other era', () => {
    expect(Object.keys(stripReservedMeta(meta))).toEqual([
      'progressToken',
      'traceparent',
      'tracestate',
      'baggage',
      'com.example/x',
      '_bad key',
      '__proto__',
    ])
  })

  test('source text is read as well, and nothing gives nothing', () => {
    expect(stripEnvelopeMeta(new JsonText('{"a":1,"progressToken":2}'))).toEqual({ a: 1 })
    expect(stripEnvelopeMeta(undefined)).toEqual({})
    expect(stripEnvelopeMeta(good)).toEqual({})
  })
})
