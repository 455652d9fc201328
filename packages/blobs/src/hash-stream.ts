import { BlobError } from './blob-error.ts'
import { BlobId } from './blob-id.ts'
import { sha256 } from './sha256.ts'

/** Something that can be stopped. Stopping rejects with the reason of the signal, unchanged. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined
}

/** Bytes: one array, or chunks as they come. A stream of Node and a `ReadableStream` are such; each is read once. */
export type BlobSource = Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** What bytes are: their id and their number. */
export interface BlobSize {
  readonly id: BlobId
  readonly size: number
}

export interface ReadOptions extends AbortOptions {
  /** Bytes that may come. One more ends it with a `BlobError` of kind `too-large`. Default: no limit. */
  readonly maxBytes?: number | undefined
}

/** Hashes bytes as they pass, with the hash of the runtime. */
export interface BlobHash {
  update(chunk: Uint8Array): void
  /** Bytes that have passed. */
  readonly size: number
  /** The id of what has passed. Ends the hash. */
  finish(): BlobId
}

/** A hash that has seen nothing yet. */
export function createBlobHash(): BlobHash {
  const hash = sha256()
  let size = 0
  return {
    update(chunk) {
      hash.update(chunk)
      size += chunk.length
    },
    get size() {
      return size
    },
    finish: () => new BlobId(hash.digest()),
  }
}

/** Reads a source to its end and tells what its bytes are. Nothing is kept. */
export async function computeBlobId(source: BlobSource, options: ReadOptions = {}): Promise<BlobSize> {
  const hash = createBlobHash()
  for await (const chunk of readChunks(source, options)) hash.update(chunk)
  return { id: hash.finish(), size: hash.size }
}

/** Reads a source to its end. A `BlobError` of kind `mismatch` unless its bytes are those of the id. */
export async function verifyBlob(source: BlobSource, expected: BlobId, options: ReadOptions = {}): Promise<BlobSize> {
  const found = await computeBlobId(source, options)
  assertIsBlob(found, expected)
  return found
}

/** A `BlobError` of kind `mismatch` unless the bytes that were found are those that were expected. */
export function assertIsBlob({ id, size }: BlobSize, expected: BlobId): void {
  if (id.equals(expected)) return
  throw new BlobError(
    'mismatch',
    `the bytes are not those of ${expected.text}: ${size} bytes came that are ${id.text}`,
    {
      details: { expected: expected.text, actual: id.text, size },
    },
  )
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
  let open = true
  try {
    for (;;) {
      const pending = iterator.next()
      const next = aborts === undefined ? await pending : await aborts.orAbort(pending)
      if (next.done === true) {
        open = false
        return
      }
      const { value } = next
      if (!(value instanceof Uint8Array)) throw new TypeError('a blob consists of chunks of Uint8Array')
      size += value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield value
    }
  } finally {
    if (open) {
      const stopped = Promise.resolve(iterator.return?.())
      // A source that hangs would keep the abort from being seen; what it does afterwards is nobody's business.
      if (signal?.aborted === true) stopped.catch(() => undefined)
      else await stopped
    }
  }
}

/** More bytes than were allowed. */
export function tooLarge(limit: number, size?: number): BlobError {
  const message = size === undefined ? `more than the ${limit} bytes allowed` : `${size} bytes, of ${limit} allowed`
  return new BlobError('too-large', message, { details: { limit, ...(size !== undefined && { size }) } })
}

/** The value, or the reason of the signal if it aborts first. The promise may then settle unseen. */
export async function unlessAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  using aborts = watchAborts(signal)
  return await aborts.orAbort(pending)
}

/** Waits for one thing after the other, each until the signal aborts. Dispose it, or it stays attached to the signal. */
interface AbortWatch extends Disposable {
  orAbort<T>(pending: Promise<T> | T): Promise<T>
}

/** One listener for all waits: to add one costs more than to hash a small chunk. */
function watchAborts(signal: AbortSignal): AbortWatch {
  let reject: (reason: unknown) => void = () => undefined
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return {
    orAbort: (pending) =>
      new Promise((resolve, fail) => {
        reject = fail
        if (signal.aborted) abort()
        Promise.resolve(pending).then(resolve, fail)
      }),
    [Symbol.dispose]: () => signal.removeEventListener('abort', abort),
  }
}
