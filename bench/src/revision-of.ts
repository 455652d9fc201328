import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import type { Era } from './targets.ts'

/** The revision that the generator speaks in each era. */
export function revisionOf(era: Era): string {
  return era === 'modern' ? modernRevision : legacyRevision
}
