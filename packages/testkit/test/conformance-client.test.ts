import { fileURLToPath } from 'node:url'
import { legacyRevision, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { type ConformanceLeg, runConformance } from '../src/conformance-gate.ts'

const minutes = 60_000
const [latestLegacy = legacyRevision] = revisionsOf('legacy')
/** The revision that first said how to authorize. */
const firstAuthRevision = revisionsOf('legacy').at(-2) ?? ''
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))
const command = `${process.execPath} --no-warnings --import ${fixtures}source-hooks.ts ${fixtures}conformance-client.ts`

/** What the sets run without scoring it. */
const unscored = [
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/wif-jwt-bearer',
  'json-schema-2020-12-preservation',
]
/** Servers of the first rules for authorization, which are in no set. */
const firstRules = ['oauth-metadata-backcompat', 'oauth-endpoint-fallback']

async function leg(revision: string, selection: ConformanceLeg['selection'], also: readonly string[] = []) {
  return await runConformance({
    side: 'client',
    target: command,
    revision,
    selection,
    also,
    limitMs: 3 * minutes,
  })
}

describe('the official suite against a client of our own packages, nothing excused', () => {
  test('MC-AUTH-01, MC-AUTH-02, MC-AUTH-05, MC-AUTH-06, MC-AUTH-07: every scenario that the modern revision requires, and what it does not score', {
    timeout: 4 * minutes,
  }, async () => {
    const { problems, total } = await leg(modernRevision, 'requirements', unscored)
    expect(problems).toEqual([])
    expect(total).toBe(32)
  })

  test('LG-AUTH-01: every scenario that the latest legacy revision requires, switched on, and what it does not score', {
    timeout: 4 * minutes,
  }, async () => {
    const { problems, total } = await leg(latestLegacy, 'requirements', unscored)
    expect(problems).toEqual([])
    expect(total).toBe(18)
  })

  test('every scenario that applies to the default legacy revision', { timeout: 4 * minutes }, async () => {
    const { problems, total } = await leg(legacyRevision, 'spec-version')
    expect(problems).toEqual([])
    expect(total).toBe(5)
  })

  test('servers of the first rules for authorization, which have no resource metadata', {
    timeout: 4 * minutes,
  }, async () => {
    const scenarios = firstRules.map((name) => `auth/${firstAuthRevision}-${name}`)
    expect((await leg(firstAuthRevision, scenarios)).problems).toEqual([])
  })
})
