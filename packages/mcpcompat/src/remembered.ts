/** Distinct values whose outcome is kept; a peer can send any number of them. */
const maxRemembered = 256

/** The same function, which works each distinct text out once. For header fields, of which most requests bring the same few. */
export function remembered<Result>(work: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>()
  // the one before is told by a comparison, which takes no hash of a text that just came in
  let lastText: string | undefined
  let last: Result
  return (text) => {
    if (text === lastText) return last
    const found = known.get(text)
    const result = found !== undefined || known.has(text) ? (found as Result) : work(text)
    if (found === undefined) {
      if (known.size >= maxRemembered) known.clear()
      known.set(text, result)
    }
    lastText = text
    last = result
    return result
  }
}
