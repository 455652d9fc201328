import { createRevisionPolicy, legacyRevision, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import type { HttpListener } from '@atenea/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenForConformance } from '../src/conformance-listener.ts'
import { type ConformanceLeg, runConformance } from '../src/conformance-gate.ts'

const minutes = 60_000
const [latestLegacy = legacyRevision] = revisionsOf('legacy')

async function leg(listener: HttpListener, revision: string, selection: ConformanceLeg['selection']) {
  return await runConformance({ side: 'server', target: listener.url, revision, selection, limitMs: 3 * minutes })
}

describe('the official suite against a server of our own packages', () => {
  let listener: HttpListener
  beforeAll(async () => {
    listener = await listenForConformance({ policy: createRevisionPolicy() })
  })
  afterAll(async () => await listener.close({ timeoutMs: 0 }))

  test('every scenario that the modern revision requires', { timeout: 4 * minutes }, async () => {
    const { problems, clean, total } = await leg(listener, modernRevision, 'requirements')
    expect(problems).toEqual([])
    expect([clean, total]).toEqual([37, 37])
  })

  test('the scenarios of the modern revision that are not scored', { timeout: 4 * minutes }, async () => {
    const unscored = ['http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12']
    expect((await leg(listener, modernRevision, unscored)).problems).toEqual([])
  })

  test('every scenario that applies to the default legacy revision', { timeout: 4 * minutes }, async () => {
    const { problems, clean, total } = await leg(listener, legacyRevision, 'spec-version')
    expect(problems).toEqual([])
    expect([clean, total]).toEqual([27, 27])
  })
})

describe('the official suite, with the latest legacy revision switched on', () => {
  let listener: HttpListener
  beforeAll(async () => {
    const policy = createRevisionPolicy({ legacy: [latestLegacy, legacyRevision] })
    listener = await listenForConformance({ policy })
  })
  afterAll(async () => await listener.close({ timeoutMs: 0 }))

  test('every scenario that the revision requires', { timeout: 4 * minutes }, async () => {
    const { problems, clean, total } = await leg(listener, latestLegacy, 'requirements')
    expect(problems).toEqual([])
    expect([clean, total]).toEqual([30, 30])
  })

  test('the scenarios of the revision that are not scored', { timeout: 4 * minutes }, async () => {
    const unscored = ['server-session-lifecycle', 'server-sse-polling', 'json-schema-2020-12']
    expect((await leg(listener, latestLegacy, unscored)).problems).toEqual([])
  })
})
