import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyDuplex, modernRequestFault } from './classify.ts'
import type { JsonObject, JsonRecord } from './jsonrpc/json.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import type { RpcRequest } from './jsonrpc/message.ts'

const dual = { modern: ['2026-07-28'], legacy: ['2025-06-18'] }
const modernOnly = { modern: ['2026-07-28'], legacy: [] }
const legacyOnly = { modern: [], legacy: ['2025-06-18'] }
const fresh = { initialized: false }
const opened = { initialized: true }

const request = (method: string, params?: JsonRecord): RpcRequest => ({ kind: 'request', id: 1, method, params })
const claim = (version: unknown): JsonObject => ({ 'io.modelcontextprotocol/protocolVersion': version }) as JsonObject
const complete = { ...claim('2026-07-28'), 'io.modelcontextprotocol/clientCapabilities': {} }
const handshake = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }

/** A verdict in one word, or the code of the refusal. */
function verdictOf(...args: Parameters<typeof classifyDuplex>): string | number {
  const verdict = classifyDuplex(...args)
  return typeof verdict === 'object' ? verdict.code : verdict
}

describe('the era of one message on a duplex carrier (decisions 2.3)', () => {
  test.each<[string, JsonObject | undefined, string | number, string | number, string]>([
    ['tools/list', { _meta: complete }, 'modern', 'modern', 'MC-ERA-02, A-36: a claim decides, also after initialize'],
    ['server/discover', { _meta: complete }, 'modern', 'modern', 'A8: discovery pins nothing'],
    ['ping', { _meta: complete }, 'modern', 'modern', 'MC-DEP-02: a removed method with a claim'],
    ['initialize', { ...handshake, _meta: complete }, 'modern', 'modern', 'A-61: initialize with a modern claim'],
    ['initialize', { ...handshake, _meta: claim('2099-01-01') }, -32022, -32022, 'a modern claim that is not served'],
    ['initialize', handshake, 'initialize', 'initialize', 'MC-ERA-03, A-36'],
    ['initialize', {}, 'initialize', 'initialize', 'what is wrong with it is told by the session'],
    ['initialize', { ...handshake, _meta: claim('2025-06-18') }, 'initialize', 'initialize', 'a legacy claim'],
    [
      'initialize',
      { ...handshake, _meta: claim(5) },
      'initialize',
      'initialize',
      'a claim that names no modern revision',
    ],
    [
      'initialize',
      { ...handshake, _meta: claim('v999') },
      'initialize',
      'initialize',
      'a claim that names no modern revision',
    ],
    ['tools/list', undefined, -32602, 'legacy', 'A-35, MC-REQ-05'],
    ['tools/list', { _meta: {} }, -32602, 'legacy', 'A-35: no claim'],
    ['tools/list', { _meta: { progressToken: 1 } }, -32602, 'legacy', 'A-35: no claim'],
    ['server/discover', undefined, -32602, 'legacy', 'A-35: a probe that forgot its claim'],
    ['ping', undefined, 'legacy', 'legacy', 'A-35, LG-LIFE-04'],
    ['tools/list', { _meta: claim(null) }, -32602, -32602, 'step 16: null'],
    ['tools/list', { _meta: claim(20260728) }, -32602, -32602, 'step 16: a number'],
    ['tools/list', { _meta: claim('2025-06-18') }, -32022, -32022, 'step 18, A-26: a legacy revision'],
    ['tools/list', { _meta: claim('v999') }, -32022, -32022, 'step 18: an unknown one'],
    ['tools/list', { _meta: claim('2026-07-28') }, 'modern', 'modern', 'step 20 is for the codec'],
  ])('%s %j: %s when fresh, %s after initialize (%s)', (method, params, first, later) => {
    expect([verdictOf(request(method, params), fresh, dual), verdictOf(request(method, params), opened, dual)]).toEqual(
      [first, later],
    )
    const text = params === undefined ? undefined : new JsonText(JSON.stringify(params))
    expect(verdictOf(request(method, text), fresh, dual)).toBe(first)
  })

  test.each<[string, JsonObject | undefined, string | number, string]>([
    ['initialize', handshake, -32022, 'A-24, MC-ERA-12'],
    ['initialize', { protocolVersion: 5 }, -32602, 'A-57: no version was asked for'],
    ['initialize', { ...handshake, _meta: complete }, 'modern', 'an unknown method'],
    ['ping', undefined, -32602, 'A-24'],
    ['tools/list', undefined, -32602, 'A-24: a carrier without headers'],
    ['tools/list', { _meta: complete }, 'modern', ''],
  ])('modern only: %s %j: %s (%s)', (method, params, verdict) => {
    expect(verdictOf(request(method, params), fresh, modernOnly)).toBe(verdict)
  })

  test.each<[string, JsonObject | undefined, string | number, string]>([
    ['initialize', handshake, 'initialize', ''],
    ['ping', undefined, 'legacy', ''],
    ['tools/list', undefined, -32602, ''],
    ['server/discover', { _meta: complete }, -32022, 'MC-VER-01: says which revision is served'],
    ['initialize', { ...handshake, _meta: complete }, -32022, 'MC-VER-01'],
  ])('legacy only: %s %j: %s %s', (method, params, verdict) => {
    expect(verdictOf(request(method, params), fresh, legacyOnly)).toBe(verdict)
  })

  test('A-24, A-26, MC-VER-05: refusals name the versions', () => {
    expect(classifyDuplex(request('initialize', handshake), fresh, modernOnly)).toEqual({
      code: -32022,
      message: 'Protocol version "2025-06-18" is not served. Served: 2026-07-28',
      data: { supported: ['2026-07-28'], requested: '2025-06-18' },
    })
    expect(classifyDuplex(request('tools/list', { _meta: claim('2025-06-18') }), fresh, dual)).toMatchObject({
      data: { supported: ['2026-07-28'], requested: '2025-06-18' },
    })
    expect(classifyDuplex(request('tools/list'), fresh, dual)).toMatchObject({
      message:
        'Missing in params._meta: io.modelcontextprotocol/protocolVersion, io.modelcontextprotocol/clientCapabilities; a legacy client sends initialize first. Served: 2026-07-28, 2025-06-18',
    })
    expect(classifyDuplex(request('tools/list'), fresh, legacyOnly)).toMatchObject({
      message: 'Send initialize first. Served: 2025-06-18',
    })
  })

  test('MC-MSG-08: a notification is never refused', () => {
    const notification = (params?: JsonObject): Parameters<typeof classifyDuplex>[0] => ({
      kind: 'notification',
      method: 'x',
      params,
    })
    expect(verdictOf(notification(), fresh, dual)).toBe('legacy')
    expect(verdictOf(notification({ _meta: complete }), opened, dual)).toBe('modern')
    expect(verdictOf(notification({ _meta: claim('v999') }), fresh, dual)).toBe('modern')
    expect(verdictOf(notification(), fresh, modernOnly)).toBe('modern')
  })

  test('no params make it throw, and a broken claim is never legacy', () => {
    const member = fc.constantFrom('_meta', 'protocolVersion', '__proto__')
    const meta = fc.dictionary(fc.constantFrom('io.modelcontextprotocol/protocolVersion', 'a'), fc.jsonValue())
    const params = fc.dictionary(member, fc.oneof(fc.jsonValue(), meta))
    fc.assert(
      fc.property(params, fc.boolean(), (given, initialized) => {
        const verdict = verdictOf(request('tools/list', given), { initialized }, dual)
        expect(['modern', 'legacy', -32602, -32022]).toContain(verdict)
        const { _meta: envelope } = given
        const claimed =
          typeof envelope === 'object' && envelope !== null && 'io.modelcontextprotocol/protocolVersion' in envelope
        expect(claimed && verdict === 'legacy').toBe(false)
      }),
    )
  })
})

describe('a modern request before its dispatch', () => {
  const view = { has: (name: string) => name === 'tools/call' }
  const call = (method: string, params: JsonObject): number | undefined =>
    modernRequestFault(request(method, { _meta: complete, ...params }), dual, view)?.code

  test.each<[string, JsonObject, number | undefined, string]>([
    ['tools/call', { name: 'a' }, undefined, 'in order'],
    ['server/discover', {}, undefined, 'MC-DISC-01: always there'],
    ['tools/list', {}, -32601, 'MC-ERR-12: not served'],
    ['initialize', handshake, -32601, 'MC-DEP-02'],
    ['tools/call', {}, -32602, 'step 24'],
    ['nothing/such', { _meta: claim('v999') }, -32022, 'step 18 before step 23'],
    ['nothing/such', { _meta: claim('2026-07-28') }, -32602, 'step 20 before step 23'],
  ])('%s %j: %s (%s)', (method, params, code) => {
    expect(call(method, params)).toBe(code)
  })
})
