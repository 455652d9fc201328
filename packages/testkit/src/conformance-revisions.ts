import { createRevisionPolicy, type RevisionPolicy, revisionsOf } from '@atenea/mcpcompat'

/** Exactly the named revisions, of either era, from a list with commas; those that are served by default when there is none. */
export function policyOfList(list: string | undefined): RevisionPolicy {
  if (list === undefined) return createRevisionPolicy()
  const named = list.split(',').map((revision) => revision.trim())
  const modern = revisionsOf('modern').filter((revision) => named.includes(revision))
  return createRevisionPolicy({ modern, legacy: named.filter((revision) => !modern.includes(revision)) })
}
