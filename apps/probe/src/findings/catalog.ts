import { authorizationFindings } from './authorization.ts'
import { discoveryFindings } from './discovery.ts'
import { httpFindings } from './http.ts'
import type { FindingKind, FindingKinds } from './kind.ts'
import { listFindings } from './lists.ts'
import { messageFindings } from './messages.ts'
import { processFindings } from './processes.ts'
import { subscriptionFindings } from './subscriptions.ts'

/** Every finding that the probe can make. An id never changes its meaning; one that goes away is not used again. */
export const catalog = {
  ...discoveryFindings,
  ...messageFindings,
  ...listFindings,
  ...subscriptionFindings,
  ...httpFindings,
  ...authorizationFindings,
  ...processFindings,
} as const satisfies FindingKinds

export type FindingId = keyof typeof catalog

/** The entry of an id. */
export function kindOf(id: FindingId): FindingKind {
  return catalog[id]
}
