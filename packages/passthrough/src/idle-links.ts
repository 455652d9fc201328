import type { Link } from './link.ts'

/** The connections without open calls, the one that was left alone for the longest first. */
export function idleLinks<Key>(links: Iterable<readonly [Key, Link]>): readonly (readonly [Key, Link])[] {
  return [...links]
    .filter(([, { openCalls }]) => openCalls === 0)
    .sort(([, one], [, other]) => one.lastUsed - other.lastUsed)
}
