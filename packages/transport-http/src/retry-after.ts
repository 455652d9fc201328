/** What a `Retry-After` field asks for, in milliseconds from now; `undefined` when it is absent or neither seconds nor a date. */
export function parseRetryAfter(field: string | undefined, nowMs: number = Date.now()): number | undefined {
  if (field === undefined) return undefined
  const text = field.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // RFC 9110 dates end in GMT; Date.parse takes nearly anything.
  const date = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}
