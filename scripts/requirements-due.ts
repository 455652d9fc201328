/** The parts of the toolkit whose MUST rows must each be named by a test that passes. */
export const dueOwners: readonly string[] = ['mcpcompat', 'stdio', 'core', 'http', 'blobs', 'server', 'probe']

/** Groups of field reports that those parts must show. */
export const dueReportGroups = 'ABCDEFG'

const cachingClient = 'about clients that cache results: it comes with the proxy'

/** Rows that bind one of those parts and cannot be shown yet, each with the reason. */
export const postponed: ReadonlyMap<string, string> = new Map([
  ['MC-CACHE-05', cachingClient],
  ['MC-ICON-03', 'nothing fetches icons yet'],
])
