import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BlobError } from './blob-error.ts'
import { BlobId, parseBlobId } from './blob-id.ts'
import { type BlobSource, readChunks } from './read-chunks.ts'
import { computeBlobId, createBlobHash, verifyBlob } from './hash-stream.ts'

const idOf = (bytes: Uint8Array): string => new BlobId(createHash('sha256').update(bytes).digest()).text

/** A source that tells whether it was stopped, and at which chunk. */
function watched(chunks: readonly Uint8Array[]): {
  source: AsyncIterable<Uint8Array>
  seen: { given: number; stopped: boolean }
} {
  const seen = { given: 0, stopped: false }
  async function* give(): AsyncGenerator<Uint8Array> {
    try {
      for (const chunk of chunks) {
        seen.given++
        yield await Promise.resolve(chunk)
      }
    } finally {
      seen.stopped = true
    }
  }
  return { source: give(), seen }
}

/** A source that gives one chunk and then nothing, and does not end when it is asked to. */
function hanging(): AsyncIterable<Uint8Array> {
  let given = false
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (given) return new Promise(() => undefined)
        given = true
        return Promise.resolve({ done: false, value: new Uint8Array(1) })
      },
      return: () => new Promise(() => undefined),
    }),
  }
}

test('the same bytes have the same id in every shape of source and however they are cut', async () => {
  const shapes: ((chunks: Uint8Array[]) => BlobSource)[] = [
    (chunks) => chunks,
    (chunks) => Buffer.concat(chunks),
    (chunks) => watched(chunks).source,
    (chunks) => Readable.from(chunks, { objectMode: false }),
    (chunks) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk)
          controller.close()
        },
      }),
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 })), fc.constantFrom(...shapes), async (chunks, shape) => {
      const whole = Buffer.concat(chunks)
      const { id, size } = await computeBlobId(shape(chunks))
      expect([id.text, size]).toEqual([idOf(whole), whole.length])
    }),
  )
})

test('G4: a blob of no bytes is valid', async () => {
  const empty = parseBlobId('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')
  expect(await verifyBlob([], empty)).toEqual({ id: empty, size: 0 })
})

test('other bytes than expected are a mismatch that says what came', async () => {
  const expected = (await computeBlobId(Buffer.from('right'))).id
  const actual = idOf(Buffer.from('wrong'))
  await expect(verifyBlob(Buffer.from('wrong'), expected)).rejects.toMatchObject({
    kind: 'mismatch',
    details: { expected: expected.text, actual, size: 5 },
  })
})

test('any change of one bit is noticed', async () => {
  const bytes = randomBytes(64)
  const { id } = await computeBlobId(bytes)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 511 }), async (bit) => {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await expect(verifyBlob(changed, id)).rejects.toThrow(BlobError)
    }),
    { numRuns: 50 },
  )
})

describe('a source', () => {
  test('is stopped at the first byte over the limit, and allowed up to it', async () => {
    const { source, seen } = watched([new Uint8Array(3), new Uint8Array(2), new Uint8Array(1)])
    await expect(computeBlobId(source, { maxBytes: 4 })).rejects.toMatchObject({
      kind: 'too-large',
      details: { limit: 4 },
    })
    expect(seen).toEqual({ given: 2, stopped: true })
    expect((await computeBlobId([new Uint8Array(4)], { maxBytes: 4 })).size).toBe(4)
  })

  test('is not begun when the signal is aborted already', async () => {
    const { source, seen } = watched([new Uint8Array(1)])
    const reason = new Error('enough')
    await expect(computeBlobId(source, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(seen.given).toBe(0)
  })

  test('that hangs is left at once with the reason of the signal, also when it does not stop', async () => {
    const stop = new AbortController()
    const read = computeBlobId(hanging(), { signal: stop.signal })
    setImmediate(() => stop.abort('any reason at all'))
    await expect(read).rejects.toBe('any reason at all')
  })

  test('is stopped by an abort', async () => {
    const stop = new AbortController()
    const { source, seen } = watched([new Uint8Array(1), new Uint8Array(1), new Uint8Array(1)])
    const chunks = readChunks(source, { signal: stop.signal })
    await chunks.next()
    stop.abort(new Error('enough'))
    await expect(chunks.next()).rejects.toThrow('enough')
    expect(seen.stopped).toBe(true)
  })

  test('is stopped when its reader leaves', async () => {
    const { source, seen } = watched([new Uint8Array(1), new Uint8Array(1)])
    for await (const _ of readChunks(source)) break
    expect(seen).toEqual({ given: 1, stopped: true })
  })

  test('that fails hands on its error', async () => {
    const failure = new Error('the source broke')
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(new Uint8Array(1))
      throw failure
    }
    await expect(computeBlobId(broken())).rejects.toBe(failure)
    await expect(computeBlobId(broken(), { signal: new AbortController().signal })).rejects.toBe(failure)
  })

  test('of text is refused instead of being hashed as something', async () => {
    await expect(computeBlobId(['text'] as unknown as Uint8Array[])).rejects.toThrow(TypeError)
  })

  test('leaves nothing on a signal that lives on', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const counted = new Proxy(signal, {
      get(target, key) {
        if (key === 'addEventListener') return () => void listeners++
        if (key === 'removeEventListener') return () => void listeners--
        return Reflect.get(target, key, target) as unknown
      },
    })
    await computeBlobId([new Uint8Array(1), new Uint8Array(1)], { signal: counted })
    expect(listeners).toBe(0)
  })
})

test('a hash counts what passes it', () => {
  const hash = createBlobHash()
  hash.update(Buffer.from('ab'))
  hash.update(Buffer.from('c'))
  expect([hash.size, hash.finish().text]).toEqual([3, idOf(Buffer.from('abc'))])
})
