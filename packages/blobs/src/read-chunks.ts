import { type AbortOptions, watchAborts } from './abort.ts'
import { BlobError } from './blob-error.ts'

/** Bytes: one array, or chunks as they come. A stream of Node and a `ReadableStream` are such; each is read once. */
export type BlobSource = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

export interface ReadOptions extends AbortOptions {
  /** Bytes that may come. One more ends it with a `BlobError` of kind `too-large`. Default: no limit. */
  readonly maxBytes?: number | undefined
}

/**
 * The chunks of a source, within a limit. Stopping, an abort or a failure stops the source as well; an abort does not wait
 * for it.
 */
export async function* readChunks(source: BlobSource, options: ReadOptions = {}): AsyncGenerator<Uint8Array, void> {
  const { signal, maxBytes = Number.POSITIVE_INFINITY } = options
  signal?.throwIfAborted()
  const chunks = source instanceof Uint8Array ? [source] : source
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  using aborts = signal && watchAborts(signal)
  let size = 0
  let isOpen = false
  try {
    for (;;) {
      const pending = iterator.next()
      const next = aborts === undefined ? await pending : await aborts.orAbort(pending)
      if (next.done === true) return
      isOpen = true
      const { value } = next
      if (!(value instanceof Uint8Array)) throw new TypeError('a blob consists of chunks of Uint8Array')
      size += value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield value
      isOpen = false
    }
  } finally {
    // A source that hangs would keep the abort from being seen; what it does afterwards is nobody's business.
    if (signal?.aborted === true) Promise.resolve(iterator.return?.()).catch(() => undefined)
    else if (isOpen) await iterator.return?.()
  }
}

/** More bytes than were allowed. */
export function tooLarge(limit: number, size?: number): BlobError {
  const message = size === undefined ? `more than the ${limit} bytes allowed` : `${size} bytes, of ${limit} allowed`
  return new BlobError('too-large', message, { details: { limit, ...(size !== undefined && { size }) } })
}
