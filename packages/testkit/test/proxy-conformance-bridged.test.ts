import { legacyRevision, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import { describe, expect, test, vi } from 'vitest'
import type { ConformanceLeg } from '../src/conformance-gate.ts'
import { proxiedConformance } from './_util/proxied-conformance.ts'

const minutes = 60_000
vi.setConfig({ testTimeout: 6 * minutes, hookTimeout: minutes })

const [latestLegacy = legacyRevision] = revisionsOf('legacy')

/** What a modern client cannot see of a server that has no words for it. docs/conformance.md says why, for each. */
const beyondLegacy: ConformanceLeg['excused'] = {
  'server-stateless': ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
  'input-required-result-basic-elicitation': ['sep-2322-elicitation-incomplete'],
  'input-required-result-ignore-extra-params': ['sep-2322-ignore-unexpected-params'],
}

const legacyFronts = [
  { front: legacyRevision, selection: 'spec-version', scenarios: 27 },
  { front: latestLegacy, selection: 'requirements', scenarios: 30 },
] as const

describe.each(['http', 'stdio'] as const)('the official suite across eras, server on %s', (carrier) => {
  test.each(legacyFronts)(
    'BR-121, BR-126, BR-130: every scenario of $front, in front of a modern server',
    async ({ front, selection, scenarios }) => {
      const flags = ['--bridge-input', '--legacy-revisions', front]
      await using proxy = await proxiedConformance({ carrier, backendRevisions: modernRevision, flags })
      const { problems, clean, total } = await proxy.run(front, selection)
      expect(problems, proxy.log).toEqual([])
      expect([clean, total]).toEqual([scenarios, scenarios])
    },
  )

  test.each([legacyRevision, latestLegacy])(
    'BR-221, BR-225: every scenario of the modern revision that a server of %s has words for',
    async (back) => {
      // The suite leaves questions open, and a server on stdio has a process for each call that waits.
      const flags = ['--bridge-input', '--legacy-revisions', back, '--max-asking-calls', '32']
      await using proxy = await proxiedConformance({ carrier, backendRevisions: back, flags })
      const { problems, total } = await proxy.run(modernRevision, 'requirements', beyondLegacy)
      expect(problems, proxy.log).toEqual([])
      expect(total).toBe(37)
    },
  )

  test('without the switch no question crosses, and the scenarios that need one fail', async () => {
    const asking = [
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'tools-call-simple-text',
    ]
    await using proxy = await proxiedConformance({ carrier, backendRevisions: legacyRevision, flags: [] })
    const { clean, total } = await proxy.run(modernRevision, asking)
    expect([clean, total]).toEqual([1, 3])
  })
})
