import type { FindingLevel } from '../report.ts'

/** What is the same for every finding of one id. */
export interface FindingKind {
  readonly level: FindingLevel
  readonly requirements: readonly string[]
  readonly title: string
  readonly repair: string
}

/** Every finding that the probe can make. An id never changes its meaning; one that goes away is not used again. */
export const catalog = {
  'discover-versions': {
    level: 'error',
    requirements: ['MC-DISC-03'],
    title: 'supportedVersions of the discovery result is no array of strings',
    repair: 'Answer server/discover with supportedVersions, an array that names every revision served.',
  },
} as const satisfies Readonly<Record<string, FindingKind>>

export type FindingId = keyof typeof catalog

/** The entry of an id. */
export function kindOf(id: FindingId): FindingKind {
  return catalog[id]
}
