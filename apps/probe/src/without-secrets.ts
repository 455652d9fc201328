import type { Report } from './report.ts'

/** Nothing that people write is nested as deep, and what a server nests deeper need not be written. */
const maxDepth = 200

/**
 * The report without secrets in what came from the server as data: lists, instructions, the answer of a tool. What only looks like a
 * secret stays there, since it may be the description of a parameter. `clean` takes the known ones out of a text. What is nested too
 * deep to be written and read is cut off.
 */
export function withoutSecrets(report: Report, clean: (text: string) => string): Report {
  return cleaned(report, clean, 0) as Report
}

/** A whole value, names of members too. */
function cleaned(value: unknown, clean: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return clean(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return `[nested deeper than ${maxDepth} levels]`
  if (Array.isArray(value)) return value.map((item) => cleaned(item, clean, depth + 1))
  const members = Object.entries(value).map(
    ([name, member]) => [clean(name), cleaned(member, clean, depth + 1)] as const,
  )
  return Object.fromEntries(members)
}
