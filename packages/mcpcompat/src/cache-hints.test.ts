import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cacheHintDefects, cacheHintsOf, invalidates, isFresh, isStorable, mergeHints } from './cache-hints.ts'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'

describe('hints as a cache reads them', () => {
  test.each<[JsonValue | undefined, number, string]>([
    [0, 0, 'MC-CACHE-07'],
    [1, 1, ''],
    [86_400_000, 86_400_000, 'A-28: a day'],
    [86_400_001, 86_400_000, 'A-28: more than a day'],
    [1e300, 86_400_000, 'A-28: huge'],
    [-1, 0, 'B16, MC-CACHE-09: negative'],
    [-0, 0, 'minus zero'],
    [1.5, 0, 'MC-CACHE-03, A-28: a fraction'],
    ['60', 0, 'B16: a string'],
    [null, 0, 'null'],
    [true, 0, 'a boolean'],
    [undefined, 0, 'B16, MC-CACHE-09: absent'],
  ])('ttlMs %j counts as %d (%s)', (ttlMs, effective) => {
    expect(cacheHintsOf({ ttlMs }).ttlMs).toBe(effective)
  })

  test.each([
    ['public', 'public'],
    ['private', 'private'],
    ['Public', 'private'],
    ['shared', 'private'],
    [undefined, 'private'],
    [null, 'private'],
    [['public'], 'private'],
  ])('MC-CACHE-04, A-28: the scope %j counts as %s', (cacheScope, effective) => {
    expect(cacheHintsOf({ cacheScope }).cacheScope).toBe(effective)
  })

  test('source text is read as well', () => {
    expect(cacheHintsOf(new JsonText('{"ttlMs":5,"cacheScope":"public"}'))).toEqual({ ttlMs: 5, cacheScope: 'public' })
  })

  test.each<[JsonValue, number]>([
    [{ ttlMs: 0, cacheScope: 'public' }, 0],
    [{ ttlMs: -1, cacheScope: 'public' }, 1],
    [{ ttlMs: 1.5, cacheScope: 'public' }, 1],
    [{ ttlMs: '5', cacheScope: 'public' }, 1],
    [{ ttlMs: 5, cacheScope: 'all' }, 1],
    [{}, 2],
    [[], 0],
  ])('of %j %d things are reported', (result, count) => {
    expect(cacheHintDefects(result)).toHaveLength(count)
  })

  test('B16, BR-304: together the shortest time counts, and private wins', () => {
    expect(
      mergeHints([
        { ttlMs: 9, cacheScope: 'public' },
        { ttlMs: 5, cacheScope: 'public' },
      ]),
    ).toEqual({ ttlMs: 5, cacheScope: 'public' })
    expect(
      mergeHints([
        { ttlMs: 9, cacheScope: 'public' },
        { ttlMs: 20, cacheScope: 'private' },
      ]),
    ).toEqual({ ttlMs: 9, cacheScope: 'private' })
    expect(mergeHints([])).toEqual({ ttlMs: 0, cacheScope: 'private' })
  })

  test('the hints of any value are in range', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (ttlMs, cacheScope) => {
        const hints = cacheHintsOf({ ttlMs, cacheScope })
        expect(Number.isInteger(hints.ttlMs) && hints.ttlMs >= 0 && hints.ttlMs <= 86_400_000).toBe(true)
      }),
    )
  })
})

test.each([
  [1000, 5000, 5000, true],
  [1000, 5000, 5999, true],
  [1000, 5000, 6000, false],
  [0, 5000, 5000, false],
  [1000, 5000, 4000, true],
])('MC-CACHE-08: %d ms from %d on, at %d: fresh %s', (ttlMs, receivedAt, now, fresh) => {
  expect(isFresh({ ttlMs, cacheScope: 'public' }, receivedAt, now)).toBe(fresh)
})

describe('what may be stored', () => {
  test.each<[string, JsonObject, JsonObject, boolean, string]>([
    ['tools/list', {}, {}, true, 'MC-RT-03: no type'],
    ['resources/read', { uri: 'a:1' }, { resultType: 'complete' }, true, 'complete'],
    ['server/discover', {}, {}, true, 'discovery'],
    ['resources/read', { uri: 'a:1' }, { resultType: 'input_required' }, false, 'MC-CACHE-02'],
    ['resources/read', { uri: 'a:1' }, { resultType: 'task' }, false, 'another type'],
    ['resources/read', { uri: 'a:1', inputResponses: {} }, {}, false, 'MC-CACHE-06, A-29: answers'],
    ['resources/read', { uri: 'a:1', requestState: '' }, {}, false, 'B16, MC-CACHE-06, A-29: a state'],
    ['tools/call', { name: 'a' }, { ttlMs: 1000, cacheScope: 'public' }, false, 'MC-CACHE-01: no cacheable method'],
    ['prompts/get', { name: 'a' }, {}, false, 'MC-CACHE-01: no cacheable method'],
  ])('%s %j with %j: %s (%s)', (method, params, result, storable) => {
    expect(isStorable({ method, params }, result)).toBe(storable)
  })
})

describe('B16, MC-CACHE-16: what a notification makes stale', () => {
  test.each<[string, JsonObject, string, JsonObject, boolean]>([
    ['notifications/tools/list_changed', {}, 'tools/list', {}, true],
    ['notifications/tools/list_changed', {}, 'tools/list', { cursor: 'x' }, true],
    ['notifications/tools/list_changed', {}, 'prompts/list', {}, false],
    ['notifications/prompts/list_changed', {}, 'prompts/list', {}, true],
    ['notifications/resources/list_changed', {}, 'resources/list', {}, true],
    ['notifications/resources/list_changed', {}, 'resources/templates/list', {}, true],
    ['notifications/resources/list_changed', {}, 'resources/read', { uri: 'a:1' }, false],
    ['notifications/resources/updated', { uri: 'a:1' }, 'resources/read', { uri: 'a:1' }, true],
    ['notifications/resources/updated', { uri: 'a:1/x' }, 'resources/read', { uri: 'a:1' }, true],
    ['notifications/resources/updated', { uri: 'a:1/x' }, 'resources/read', { uri: 'a:1/' }, true],
    ['notifications/resources/updated', { uri: 'a:12' }, 'resources/read', { uri: 'a:1' }, false],
    ['notifications/resources/updated', { uri: 'a:2' }, 'resources/read', { uri: 'a:1' }, false],
    ['notifications/resources/updated', {}, 'resources/read', { uri: 'a:1' }, true],
    ['notifications/resources/updated', { uri: 'a:1' }, 'resources/list', {}, false],
    ['notifications/message', {}, 'tools/list', {}, false],
    ['constructor', {}, 'tools/list', {}, false],
  ])('%s %j and %s %j: %s', (notice, params, method, stored, stale) => {
    expect(invalidates({ method: notice, params }, { method, params: stored })).toBe(stale)
  })
})
