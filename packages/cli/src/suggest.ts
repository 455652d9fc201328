/**
 * The candidate that was probably meant, or `undefined` when none is near: at most a third of the letters wrong, or a name that
 * begins with what was written. Case counts for nothing. The first of equally near candidates wins.
 */
export function suggest(written: string, candidates: Iterable<string>): string | undefined {
  if (written.length > longestWord) return undefined
  const word = written.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate.length > longestWord) continue
    const other = candidate.toLowerCase()
    const isBeginning = word.length >= 3 && other.startsWith(word)
    const distance = isBeginning ? 1 : editDistance(word, other)
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

const longestWord = 100

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      let cost = Math.min(at(row, j) + 1, at(next, j - 1) + 1, replaced)
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (isSwap) cost = Math.min(cost, at(before, j - 2) + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return at(row, to.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
