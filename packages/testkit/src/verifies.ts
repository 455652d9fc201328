import { expect, test } from 'vitest'
import { requirements } from './requirements.ts'
import { bridgeRuleIds, decisionIds, duplexProbeRowIds, fieldReports, httpProbeRowIds } from './spec-ids.ts'

const known = new Set<string>([
  ...requirements.map(({ id }) => id),
  ...decisionIds,
  ...bridgeRuleIds,
  ...httpProbeRowIds,
  ...duplexProbeRowIds,
  ...fieldReports.map(({ id }) => id),
])

/** A test that shows requirements, decisions or field reports, named by their ids. An id that nobody knows is an error at once. */
export function verifies(ids: string, behaviour: string, body: () => Promise<void>): void {
  const unknown = ids.split(/,\s*/).filter((id) => !known.has(id))
  if (unknown.length > 0) throw new Error(`no such requirement: ${unknown.join(', ')}`)
  test(`${ids}: ${behaviour}`, async () => {
    expect.hasAssertions()
    await body()
  })
}
