import { legacyRevision, modernRevision, revisionsOf } from '@atenea/mcpcompat'
import { describe, expect, test, vi } from 'vitest'
import { type ProxiedConformance, proxiedConformance } from './_util/proxied-conformance.ts'

const minutes = 60_000
vi.setConfig({ testTimeout: 6 * minutes, hookTimeout: minutes })

const [latestLegacy = legacyRevision] = revisionsOf('legacy')

/** The sets of the official suite, and how many scenarios each has: the same as against the server itself. */
const sets = [
  { name: 'the default legacy revision', revision: legacyRevision, selection: 'spec-version', scenarios: 27 },
  { name: 'the latest legacy revision', revision: latestLegacy, selection: 'requirements', scenarios: 30 },
  { name: 'the modern revision', revision: modernRevision, selection: 'requirements', scenarios: 37 },
] as const

/** What the suite runs without scoring it. Not `server-sse-polling`: it calls a tool that closes its own stream, and ours stay open. */
const unscored = [
  [latestLegacy, ['server-session-lifecycle', 'json-schema-2020-12']],
  [modernRevision, ['http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12']],
] as const

/** A server of one revision, and the proxy held to its era, behind and in front. */
async function proxied(carrier: 'http' | 'stdio', revision: string): Promise<ProxiedConformance> {
  const era = revision === modernRevision ? 'modern' : 'legacy'
  const flags = ['--backend-protocol', era, '--protocol', era]
  if (era === 'legacy') flags.push('--legacy-revisions', revision)
  return await proxiedConformance({ carrier, backendRevisions: revision, flags })
}

describe.each(['http', 'stdio'] as const)('the official suite through the proxy, server on %s', (carrier) => {
  test.each(sets)('BR-301, BR-307: every scenario of $name', async ({ revision, selection, scenarios }) => {
    await using proxy = await proxied(carrier, revision)
    const { problems, clean, total } = await proxy.run(revision, selection)
    expect(problems, proxy.log).toEqual([])
    expect([clean, total]).toEqual([scenarios, scenarios])
  })

  test.each(unscored)('BR-301, BR-307: what is not scored, %s', async (revision, scenarios) => {
    await using proxy = await proxied(carrier, revision)
    expect((await proxy.run(revision, scenarios)).problems, proxy.log).toEqual([])
  })
})

test('a tool that the proxy holds back fails the scenario that calls it', async () => {
  const denied = ['--deny-tool', 'test_simple_text']
  await using proxy = await proxiedConformance({ carrier: 'http', backendRevisions: modernRevision, flags: denied })
  const { clean, total } = await proxy.run(modernRevision, ['tools-call-simple-text', 'tools-call-image'])
  expect([clean, total]).toEqual([1, 2])
})
