/** The parts of the toolkit whose MUST rows must each be named by a test that passes. */
export const dueOwners: readonly string[] = ['mcpcompat', 'stdio', 'core']

/** Groups of field reports that those parts must show. C is about HTTP, G about blobs. */
export const dueReportGroups = 'ABDEF'

const http = 'only HTTP can show it: it comes with transport-http'
const cachingClient = 'about clients that cache results: it comes with the proxy'

/** Rows that bind one of those parts and cannot be shown yet, each with the reason. */
export const postponed: ReadonlyMap<string, string> = new Map([
  ['MC-CANC-03', http],
  ['MH-SSE-10', http],
  ['MC-CACHE-05', cachingClient],
])
