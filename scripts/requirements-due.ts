/** The parts of the toolkit whose MUST rows must each be named by a test that passes. */
export const dueOwners: readonly string[] = []

/** Rows that bind one of those parts and cannot be shown yet, each with the reason. */
export const postponed: ReadonlyMap<string, string> = new Map()
