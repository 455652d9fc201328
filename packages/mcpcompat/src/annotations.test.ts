import { expect, test } from 'vitest'
import { annotationsFault } from './annotations.ts'
import type { JsonValue } from './jsonrpc/json.ts'

test.each<[JsonValue, boolean, string]>([
  [{}, true, 'none'],
  [{ audience: ['user', 'assistant'], priority: 0.5, lastModified: '2026-07-28T12:00:00Z', 'x-1': 1 }, true, 'all'],
  [{ audience: [] }, true, 'nobody'],
  [{ priority: 0 }, true, 'the lowest'],
  [{ priority: 1 }, true, 'the highest'],
  [{ lastModified: '2026-07-28' }, true, 'a day'],
  [{ lastModified: '2026-07-28T12:00:00.123+02:00' }, true, 'an offset'],
  [{ audience: 'user' }, false, 'no list'],
  [{ audience: ['user', 'model'] }, false, 'another role'],
  [{ priority: 1.01 }, false, 'too high'],
  [{ priority: -0.01 }, false, 'too low'],
  [{ priority: '1' }, false, 'a string'],
  [{ lastModified: 'yesterday' }, false, 'a word'],
  [{ lastModified: '2026-13-45' }, false, 'no such day'],
  [{ lastModified: 1785240000 }, false, 'a number'],
  [null, false, 'null'],
  [[], false, 'an array'],
])('MC-RES-13: %j are annotations: %s (%s)', (value, good) => {
  expect(annotationsFault(value) === undefined).toBe(good)
})
