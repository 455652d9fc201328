import { describe, expect, test } from 'vitest'
import {
  clientCapabilitiesForLegacy,
  clientCapabilitiesForModern,
  errorForLegacy,
  errorForModern,
  isNotFound,
  serverCapabilitiesForLegacy,
  serverCapabilitiesForModern,
  statusOfError,
  translateError,
} from './bridge.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import type { RpcErrorObject } from './jsonrpc/message.ts'

const error = (code: number, data?: JsonObject): RpcErrorObject => ({ code, message: 'm', ...(data && { data }) })
const read = { method: 'resources/read', uri: 'a:1' }

describe('an error on its way through a proxy (decisions 7)', () => {
  // each code from a legacy and from a modern backend, as a modern and as a legacy client gets it
  test.each<[number, number[], number[], string]>([
    [-32700, [-32700, -32700], [-32700, -32700], 'general'],
    [-32600, [-32600, -32600], [-32600, -32600], 'general'],
    [-32601, [-32601, -32601], [-32601, -32601], 'general'],
    [-32602, [-32602, -32602], [-32602, -32602], 'general'],
    [-32603, [-32603, -32603], [-32603, -32603], 'general'],
    [-32002, [-32602, -32002], [-32602, -32002], 'BR-232, MC-ERR-08, MC-ERR-09'],
    [-32000, [-32603, -32000], [-32603, -32000], 'BR-233, MC-ERR-02, MC-ERR-03'],
    [-32001, [-32603, -32001], [-32603, -32001], 'BR-233, MC-ERR-03'],
    [-32019, [-32603, -32019], [-32603, -32019], 'BR-233'],
    [-32020, [-32603, -32020], [-32603, -32603], 'BR-127, MC-ERR-04'],
    [-32021, [-32603, -32021], [-32021, -32603], 'BR-127'],
    [-32022, [-32603, -32022], [-32603, -32603], 'BR-127, MC-ERR-04'],
    [-32023, [-32603, -32023], [-32603, -32023], 'BR-233, MC-ERR-04'],
    [-32042, [-32603, -32042], [-32603, -32042], 'BR-233, MC-ERR-08'],
    [-32099, [-32603, -32099], [-32603, -32099], 'BR-233, MC-ERR-04'],
    [-32100, [-32603, -32100], [-32603, -32100], 'reserved by JSON-RPC'],
    [-32768, [-32603, -32768], [-32603, -32768], 'reserved by JSON-RPC'],
    [-31999, [-31999, -31999], [-31999, -31999], 'MC-ERR-10: an application'],
    [-32769, [-32769, -32769], [-32769, -32769], 'MC-ERR-10: an application'],
    [-1, [-1, -1], [-1, -1], 'MC-ERR-10: an application'],
    [0, [0, 0], [0, 0], 'MC-ERR-10: an application'],
    [1001, [1001, 1001], [1001, 1001], 'MC-ERR-10: an application'],
  ])('%d from legacy becomes %j, from modern %j (%s)', (code, fromLegacy, fromModern) => {
    const to = (from: 'legacy' | 'modern'): number[] =>
      (['modern', 'legacy'] as const).map(
        (era) => translateError(error(code), { from, to: era, method: 'tools/call' }).code,
      )
    expect([to('legacy'), to('modern')]).toEqual([fromLegacy, fromModern])
  })

  test('BR-233: the original goes along, data included', () => {
    expect(errorForModern(error(-32000, { a: 1 }))).toEqual({
      code: -32603,
      message: 'm',
      data: { original: { code: -32000, message: 'm', data: { a: 1 } } },
    })
    expect(errorForModern(error(-32042))).toMatchObject({ data: { original: { code: -32042, message: 'm' } } })
  })

  test('A-30, BR-128: "not found" is told by the uri', () => {
    expect(errorForLegacy(error(-32602, { uri: 'a:1' }), read)).toEqual(error(-32002, { uri: 'a:1' }))
    expect(errorForLegacy({ ...error(-32602), data: new JsonText('{"uri":"a:1"}') }, read).code).toBe(-32002)
    expect(errorForLegacy(error(-32602, { uri: 'a:2' }), read).code).toBe(-32602)
    expect(errorForLegacy(error(-32602, { uri: 5 }), read).code).toBe(-32602)
    expect(errorForLegacy(error(-32602), read).code).toBe(-32602)
    expect(errorForLegacy(error(-32602, { uri: 'a:1' }), { ...read, method: 'tools/call' }).code).toBe(-32602)
    expect(isNotFound(error(-32002), { method: 'tools/call' })).toBe(true)
  })

  test('BR-232: the uri is kept, or added when the server left it out', () => {
    expect(errorForModern(error(-32002, { uri: 'b:1', x: 1 }), read)).toEqual(error(-32602, { uri: 'b:1', x: 1 }))
    expect(errorForModern(error(-32002, { x: 1 }), read)).toEqual(error(-32602, { x: 1, uri: 'a:1' }))
    expect(errorForModern(error(-32002), read)).toEqual(error(-32602, { uri: 'a:1' }))
    expect(errorForModern(error(-32002))).toEqual(error(-32602))
  })

  test('BR-127: a missing capability is named and kept for a legacy client, under a code that it knows', () => {
    expect(errorForLegacy(error(-32021, { requiredCapabilities: { sampling: { tools: {} } }, x: 1 }))).toEqual({
      code: -32603,
      message: 'm (needs the client capability sampling)',
      data: { requiredCapabilities: { sampling: { tools: {} } } },
    })
    expect(errorForLegacy(error(-32021)).code).toBe(-32603)
  })

  test('a client is not told of a capability that the proxy kept from the backend', () => {
    const path = { from: 'modern', to: 'modern' } as const
    expect(translateError(error(-32021), { ...path, capabilitiesPassed: false }).code).toBe(-32603)
    expect(translateError(error(-32021), path)).toEqual(error(-32021))
  })

  test('A-10: the HTTP status of what a dispatch led to', () => {
    expect([-32601, -32021, -32602, -32603, 1001, -32002].map(statusOfError)).toEqual([404, 400, 200, 200, 200, 200])
  })
})

describe('capabilities', () => {
  test.each<[JsonObject, JsonObject, string]>([
    [{}, {}, 'none'],
    [{ roots: { listChanged: true } }, { roots: {} }, 'MC-ROOT-01: no listChanged'],
    [{ sampling: { tools: {}, context: {} } }, { sampling: {} }, 'never sampling.tools'],
    [{ elicitation: {} }, { elicitation: { form: {} } }, 'form'],
    [{ elicitation: { url: {} } }, { elicitation: { form: {} } }, 'BR-124: never url'],
    [{ experimental: { x: {} }, tasks: {}, later: {} }, { experimental: { x: {} } }, 'what modern does not have'],
    [{ roots: true, sampling: null, elicitation: 'yes', experimental: [] }, {}, 'no objects'],
  ])('BR-121: a legacy client with %j is declared as %j (%s)', (declared, modern) => {
    expect(clientCapabilitiesForModern(declared)).toEqual(modern)
  })

  test.each<[JsonObject, JsonObject, string]>([
    [{}, {}, 'none'],
    [{ roots: {}, sampling: { tools: {} } }, { roots: {}, sampling: {} }, 'LG-SAMP-01: no tools'],
    [{ elicitation: {} }, { elicitation: {} }, 'a bare declaration'],
    [{ elicitation: { form: {}, url: {} } }, { elicitation: {} }, 'LG-ELIC-01: no modes'],
    [{ elicitation: { url: {} } }, {}, 'url alone cannot be said'],
    [{ extensions: { 'a.b/c': {} }, experimental: { x: {} } }, { experimental: { x: {} } }, 'BR-212: no extensions'],
  ])('LG-CAP-01: a modern client with %j is declared as %j (%s)', (declared, legacy) => {
    expect(clientCapabilitiesForLegacy(declared)).toEqual(legacy)
  })

  test('BR-101, BR-201, LG-CAP-01, F7: what a server offers, no more and no less', () => {
    const offered = JSON.parse(
      '{"tools":{"listChanged":true},"resources":{"subscribe":true},"experimental":{"x":{}},"tasks":{},"extensions":{"a.b/c":{}},"__proto__":{"a":1}}',
    ) as JsonObject
    expect(Object.keys(serverCapabilitiesForLegacy(offered))).toEqual([
      'tools',
      'resources',
      'experimental',
      'tasks',
      '__proto__',
    ])
    expect(Object.keys(serverCapabilitiesForModern(offered))).toEqual([
      'tools',
      'resources',
      'experimental',
      '__proto__',
    ])
    expect(serverCapabilitiesForModern({ tools: {} })).toEqual({ tools: {} })
  })
})
