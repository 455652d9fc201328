import { UsageError } from '@atenea/cli'
import { createRevisionPolicy, RevisionError, type RevisionPolicy } from '@atenea/mcpcompat'
import type { FrontSettings } from './front-settings.ts'

/** The revisions that the settings allow. A `UsageError` for one that is not known. */
export function revisionPolicy({
  protocol,
  legacyRevisions,
}: Pick<FrontSettings, 'protocol' | 'legacyRevisions'>): RevisionPolicy {
  if (protocol === 'modern' && legacyRevisions !== undefined) {
    throw new UsageError('legacy revisions are named, but the protocol is modern only: leave one of the two out')
  }
  try {
    return createRevisionPolicy({
      ...(protocol === 'legacy' && { modern: [] }),
      ...(protocol === 'modern' && { legacy: [] }),
      ...(legacyRevisions !== undefined && { legacy: legacyRevisions }),
    })
  } catch (error) {
    if (RevisionError.is(error)) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
