/** The parts of the toolkit whose MUST rows must each be named by a test that passes. */
export const dueOwners: readonly string[] = ['mcpcompat', 'stdio', 'core', 'http', 'blobs', 'server', 'probe']

/** Groups of field reports that those parts must show. */
export const dueReportGroups = 'ABCDEFG'

const shownByClients =
  'about what people see and choose: the proxy has nobody to show anything to, and hands it on to who has'

/** Rows that bind one of those parts and cannot be shown yet, each with the reason. */
export const postponed: ReadonlyMap<string, string> = new Map([
  ['MC-ELIC-10', shownByClients],
  ['MC-ICON-01', shownByClients],
  ['MC-ICON-03', 'nothing fetches icons yet'],
])
