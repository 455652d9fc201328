import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServerView } from './contract/dispatcher.ts'
import { discoverResult, hasModernMarker, parseDiscoverResult } from './discover.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'
import { createRevisionPolicy } from './revisions.ts'

const view: ServerView = {
  info: { name: 's', version: '1', title: 'S' },
  capabilities: { tools: {} },
  has: () => true,
  headerPlan: () => undefined,
}
const good: JsonObject = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28', '2099-01-01'],
  capabilities: { tools: { listChanged: true } },
  instructions: 'Use it.',
  ttlMs: 5,
  cacheScope: 'public',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's', version: '1' } },
}

describe('our discovery', () => {
  test('MC-DISC-04 to MC-DISC-08, MC-DISC-10, A-25: says what is served and no more', () => {
    expect(discoverResult(view, createRevisionPolicy())).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-06-18'],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's', version: '1', title: 'S' } },
    })
  })

  test('B14: no listChanged and no subscribe that the view does not have', () => {
    const text = JSON.stringify(discoverResult(view, createRevisionPolicy({ legacy: [] })))
    expect(text).not.toMatch(/listChanged|subscribe/)
    expect(text).toContain('"supportedVersions":["2026-07-28"]')
  })

  test('hints and instructions of the view are used, and a client finds nothing to complain of', () => {
    const result = discoverResult(
      { ...view, instructions: 'i', hints: { ttlMs: 7, cacheScope: 'public' } },
      createRevisionPolicy(),
    )
    expect(parseDiscoverResult(result)).toEqual({
      valid: true,
      supportedVersions: ['2026-07-28', '2025-06-18'],
      capabilities: { tools: {} },
      hints: { ttlMs: 7, cacheScope: 'public' },
      info: view.info,
      instructions: 'i',
      defects: [],
    })
  })
})

describe('the discovery of a peer', () => {
  test('source text is read as well', () => {
    expect(parseDiscoverResult(new JsonText(JSON.stringify(good)))).toEqual(parseDiscoverResult(good))
    expect(parseDiscoverResult(good)).toMatchObject({ valid: true, defects: [] })
  })

  test.each<[JsonObject, JsonObject, string[], string]>([
    [{ resultType: undefined }, {}, ['resultType is missing'], 'A11, MC-RT-03, A-08'],
    [{ supportedVersions: [] }, { supportedVersions: [] }, [], 'an empty list has nothing in common'],
    [{ capabilities: {} }, { capabilities: {} }, [], 'MC-DISC-05: no capability'],
    [
      { ttlMs: undefined },
      { hints: { ttlMs: 0, cacheScope: 'public' } },
      ['ttlMs is not an integer of at least 0'],
      'MC-CACHE-09',
    ],
    [{ ttlMs: 1e12 }, { hints: { ttlMs: 86_400_000, cacheScope: 'public' } }, [], 'A-28: a cap'],
    [
      { cacheScope: 'all' },
      { hints: { ttlMs: 5, cacheScope: 'private' } },
      ['cacheScope is neither "public" nor "private"'],
      'A-28',
    ],
    [{ instructions: 5 }, { instructions: undefined }, ['instructions is not a string'], 'MC-DISC-06'],
    [{ _meta: undefined }, { info: undefined }, ['_meta names no server'], 'MC-DISC-07 is a SHOULD'],
    [{ _meta: 'x' }, { info: undefined }, ['_meta names no server'], 'lenient'],
    [
      { _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's' } } },
      { info: undefined },
      ['_meta names no server'],
      'lenient',
    ],
  ])('with %j is usable, with %j and the defects %j (%s)', (change, expected, defects) => {
    expect(parseDiscoverResult({ ...good, ...change })).toMatchObject({ valid: true, ...expected, defects })
  })

  test.each<[JsonValue, string]>([
    ['ok', 'a string'],
    [null, 'null'],
    [[good], 'an array'],
    [{}, 'nothing'],
    [{ ...good, supportedVersions: undefined }, 'MC-DISC-04: no versions'],
    [{ ...good, supportedVersions: '2026-07-28' }, 'MC-DISC-04: a string'],
    [{ ...good, supportedVersions: [20260728] }, 'MC-DISC-04: numbers'],
    [{ ...good, supportedVersions: ['2026-07-28', null] }, 'MC-DISC-04: null among them'],
    [{ ...good, capabilities: undefined }, 'MC-DISC-05: no capabilities'],
    [{ ...good, capabilities: [] }, 'MC-DISC-05: an array'],
    [{ ...good, capabilities: null }, 'MC-DISC-05: null'],
    [{ ...good, resultType: 'input_required' }, 'A-59: asks for input'],
    [{ ...good, resultType: 'future' }, 'MC-RT-04: another type'],
    [{ ...good, resultType: null }, 'MC-RT-01: null'],
  ])('%j is refused and kept (%s)', (result) => {
    expect(parseDiscoverResult(result)).toMatchObject({ valid: false, raw: result })
  })

  test.each<[JsonValue, boolean]>([
    [{ supportedVersions: null }, true],
    [{ resultType: null }, true],
    [{ capabilities: {} }, false],
    [{}, false],
    ['supportedVersions', false],
    [['resultType'], false],
  ])('H19, S04: %j has a modern marker: %s', (result, marked) => {
    expect(hasModernMarker(result)).toBe(marked)
  })

  test('no JSON value makes it throw', () => {
    const member = fc.constantFrom(...Object.keys(good), '__proto__')
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue())), (result) => {
        expect(typeof parseDiscoverResult(result as JsonValue).valid).toBe('boolean')
      }),
    )
  })
})
