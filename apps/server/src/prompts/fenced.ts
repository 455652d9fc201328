/** A Markdown code block around JSON text as it came. The fence is longer than any row of backticks in it, so nothing ends it early. */
export function fencedJson(text: string): string {
  const longest = text.match(/`+/g)?.reduce((most, { length }) => Math.max(most, length), 0) ?? 0
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}json\n${text.trim()}\n${fence}`
}
