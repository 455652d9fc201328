/** Distinct values whose outcome is kept; a peer can send any number of them. */
const maxRemembered = 256

/** The same function, which works each distinct text out once. For header fields, of which most requests bring the same few. */
export function remembered<Result>(work: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined || known.has(text)) return found as Result
    const result = work(text)
    if (known.size >= maxRemembered) known.clear()
    known.set(text, result)
    return result
  }
}
