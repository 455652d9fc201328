import type { BlobInfo, OpenBlob, RangeOptions } from './store.ts'

/** Bytes of one chunk that is handed out: what a stream of files would read at once. */
export const chunkBytes: number = 64 * 1024

/** The bounds of a range. A `RangeError` unless it lies within the blob. */
export function boundsOf(range: RangeOptions['range'], size: number): readonly [start: number, end: number] {
  const [start, end] = range ?? [0, size]
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end <= size) {
    return [start, end]
  }
  throw new RangeError(`the range ${start}–${end} does not lie within the blob, which has ${size} bytes`)
}

/** An open blob in memory. What it hands out are copies, so that no reader can change what another one gets, unless it says that it will not. */
export function openBytes(info: BlobInfo, held: Uint8Array<ArrayBuffer>): OpenBlob {
  return {
    info,
    async *read({ range, signal } = {}) {
      const [start, end] = boundsOf(range, held.length)
      for (let at = start; at < end; at += chunkBytes) {
        signal?.throwIfAborted()
        yield new Uint8Array(held.subarray(at, Math.min(at + chunkBytes, end)))
      }
    },
    async bytes({ range, signal, shared = false } = {}) {
      signal?.throwIfAborted()
      const wanted = held.subarray(...boundsOf(range, held.length))
      return shared ? wanted : new Uint8Array(wanted)
    },
    // There is nothing to let go of but memory.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
