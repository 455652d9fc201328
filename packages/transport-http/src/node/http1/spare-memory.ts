/** Smaller pieces come from Node's own pool. */
const minBytes = 16_384
const maxBytes = 1_048_576

/** How many are kept of each size: 8 MiB of all sizes together at the most. */
const keptOfEach = 4

const spares = new Map<number, Buffer[]>()

/**
 * Memory of at least so many bytes, with anything in it. To allocate 100 KiB takes ten times as long as to fill them, so what is given back
 * with `giveMemory` is used again.
 */
export function takeMemory(bytes: number): Buffer {
  if (bytes < minBytes || bytes > maxBytes) return Buffer.allocUnsafe(bytes)
  const size = 2 ** Math.ceil(Math.log2(bytes))
  return spares.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
}

/** Gives back what `takeMemory` gave. Only for memory that nobody else holds a part of. */
export function giveMemory(memory: Buffer): void {
  const size = memory.length
  if (size < minBytes || size > maxBytes || (size & (size - 1)) !== 0) return
  const kept = spares.get(size)
  if (kept === undefined) spares.set(size, [memory])
  else if (kept.length < keptOfEach) kept.push(memory)
}
