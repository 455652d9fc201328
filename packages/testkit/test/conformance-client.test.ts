import { fileURLToPath } from 'node:url'
import { legacyRevision, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { type ConformanceLeg, runConformance } from '../src/conformance-gate.ts'
import type { Excused } from '../src/conformance-judge.ts'

const minutes = 60_000
const [latestLegacy = legacyRevision] = revisionsOf('legacy')
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))
const command = `${process.execPath} --no-warnings --import ${fixtures}source-hooks.ts ${fixtures}conformance-client.ts`

// Scenarios that need OAuth, which the client does not have. Nothing else is excused, and an excuse that is not needed any more fails.
const tokens = ['basic', 'post', 'none'].map((way) => `auth/token-endpoint-auth-${way}`)
const everyRevision = [
  ...tokens,
  ...['default', 'var1', 'var2', 'var3'].map((variant) => `auth/metadata-${variant}`),
  ...['from-www-authenticate', 'from-scopes-supported', 'omitted-when-undefined', 'step-up', 'retry-limit'].map(
    (what) => `auth/scope-${what}`,
  ),
  'auth/basic-cimd',
  'auth/pre-registration',
]
const modernOnly = [
  ...['supported', 'not-advertised', 'supported-missing', 'wrong-issuer', 'unexpected', 'normalized'].map(
    (what) => `auth/iss-${what}`,
  ),
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/authorization-server-migration',
  'auth/metadata-issuer-mismatch',
]

function excuse(scenarios: readonly string[]): Excused {
  return Object.fromEntries(scenarios.map((scenario) => [scenario, '*']))
}

async function leg(revision: string, selection: ConformanceLeg['selection'], excused: readonly string[] = []) {
  return await runConformance({
    side: 'client',
    target: command,
    revision,
    selection,
    excused: excuse(excused),
    limitMs: 3 * minutes,
  })
}

describe('the official suite against a client of our own packages', () => {
  test('every scenario that the modern revision requires', { timeout: 4 * minutes }, async () => {
    const excused = [...everyRevision, ...modernOnly]
    const { problems, total } = await leg(modernRevision, 'requirements', excused)
    expect(problems).toEqual([])
    expect(total - excused.length).toBe(7)
  })

  test('every scenario that the latest legacy revision requires, switched on', { timeout: 4 * minutes }, async () => {
    const { problems, total } = await leg(latestLegacy, 'requirements', everyRevision)
    expect(problems).toEqual([])
    expect(total - everyRevision.length).toBe(4)
  })

  test('every scenario that applies to the default legacy revision', { timeout: 4 * minutes }, async () => {
    const { problems, total } = await leg(legacyRevision, 'spec-version', tokens)
    expect(problems).toEqual([])
    expect(total - tokens.length).toBe(2)
  })

  test.each([modernRevision, latestLegacy])(
    'the scenario of %s that is not scored and needs no OAuth',
    { timeout: 4 * minutes },
    async (revision) => {
      expect((await leg(revision, ['json-schema-2020-12-preservation'])).problems).toEqual([])
    },
  )
})
