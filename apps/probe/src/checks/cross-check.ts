import type { Probing } from '../carrier.ts'
import { getsIn } from '../era-result.ts'

/** What one era says about the other: a legacy revision that discovery lists must be agreed on by a handshake. */
export function crossCheck({ options, recorder, result }: Probing): void {
  const { modern, legacy } = result
  const { requested } = legacy
  if (options.protocol !== 'both' || requested === undefined || getsIn(legacy, 'legacy')) return
  // an answer that is no refusal was looked at for what it is
  if (legacy.verdict === 'not-tried' || legacy.capabilities !== undefined || legacy.server !== undefined) return
  if (modern.supportedVersions?.includes(requested) !== true) return
  recorder.found('discover-version-refused', {
    era: 'modern',
    subject: requested,
    evidence: `supportedVersions lists ${requested}; ${legacy.reason}`,
  })
}
