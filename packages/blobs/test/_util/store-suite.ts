import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BlobStore } from '../../src/store.ts'
import { collect, idOf, inChunks, someBytes } from './bytes.ts'

/** What every store owes. `open` makes an empty one of so many bytes, counted without what it adds for itself. */
export function storeSuite(name: string, open: (maxBytes?: number) => BlobStore): void {
  describe(`${name}`, () => {
    test('gives back what was put, under its id, whole and in part', async () => {
      const store = open()
      const { bytes, id } = someBytes(200_000)
      expect(await store.put(inChunks(bytes), { mimeType: 'image/png' })).toEqual({
        id,
        size: 200_000,
        mimeType: 'image/png',
      })
      expect(await store.stat(id)).toEqual({ id, size: 200_000, mimeType: 'image/png' })
      await using blob = await store.open(id)
      expect(blob.info).toEqual({ id, size: 200_000, mimeType: 'image/png' })
      expect(await blob.bytes()).toEqual(new Uint8Array(bytes))
      expect(await collect(blob.read())).toEqual(bytes)
      expect(await collect(blob.read({ range: [70_000, 70_001] }))).toEqual(bytes.subarray(70_000, 70_001))
      expect(await blob.bytes({ range: [5, 5] })).toHaveLength(0)
    })

    test('gives any part of what was put, and no other', async () => {
      const store = open()
      const { bytes, id } = someBytes(3000)
      await store.put(bytes)
      await using blob = await store.open(id)
      const position = fc.integer({ min: -2, max: 3002 })
      await fc.assert(
        fc.asyncProperty(position, position, async (start, end) => {
          const isWithin = start >= 0 && end <= 3000 && start <= end
          const read = await blob.bytes({ range: [start, end] }).catch((error: unknown) => error instanceof RangeError)
          expect(read).toEqual(isWithin ? new Uint8Array(bytes.subarray(start, end)) : true)
        }),
      )
    })

    test('what it hands out is the own of whoever got it, unless they only wanted to look', async () => {
      const store = open()
      const { bytes, id } = someBytes(1000)
      await store.put(bytes)
      await using blob = await store.open(id)
      ;(await blob.bytes()).fill(0)
      for await (const chunk of blob.read()) chunk.fill(0)
      expect(Buffer.from(await blob.bytes({ shared: true }))).toEqual(bytes)
      expect(Buffer.from(await blob.bytes({ shared: true, range: [7, 9] }))).toEqual(bytes.subarray(7, 9))
      await using again = await store.open(id)
      expect(Buffer.from(await again.bytes())).toEqual(bytes)
    })

    test('G4: keeps the blob of no bytes', async () => {
      const store = open()
      const id = idOf('')
      await store.put([])
      await using blob = await store.open(id)
      expect([blob.info.size, (await collect(blob.read())).length]).toEqual([0, 0])
    })

    test('receives: the blob is open at once', async () => {
      const store = open()
      const { bytes, id } = someBytes(1000)
      await using blob = await store.receive(inChunks(bytes), { expect: id, mimeType: 'a/b' })
      expect(blob.info).toEqual({ id, size: 1000, mimeType: 'a/b' })
      expect(Buffer.from(await blob.bytes())).toEqual(bytes)
    })

    test('other bytes than expected are refused, and nothing is kept of them', async () => {
      const store = open()
      const { bytes, id } = someBytes(1000)
      const wrong = someBytes(1000)
      for (const how of ['put', 'receive'] as const) {
        await expect(store[how](inChunks(wrong.bytes), { expect: id })).rejects.toMatchObject({ kind: 'mismatch' })
        await expect(store[how](inChunks(bytes.subarray(1)), { expect: id })).rejects.toMatchObject({
          kind: 'mismatch',
        })
      }
      expect(await store.stat(id)).toBeUndefined()
      expect(await store.stat(wrong.id)).toBeUndefined()
      await expect(store.open(id)).rejects.toMatchObject({ kind: 'not-stored' })
    })

    test('a source over its limit, one that fails, and one that is aborted leave nothing', async () => {
      const store = open()
      const { bytes, id } = someBytes(5000)
      await expect(store.put(inChunks(bytes), { maxBytes: 4999 })).rejects.toMatchObject({ kind: 'too-large' })
      const failure = new Error('the source broke')
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield* inChunks(bytes)
        throw failure
      }
      await expect(store.put(broken())).rejects.toBe(failure)
      const stop = new AbortController()
      async function* aborting(): AsyncGenerator<Uint8Array> {
        yield* inChunks(bytes)
        stop.abort('no more')
        await new Promise(() => undefined)
      }
      await expect(store.put(aborting(), { signal: stop.signal })).rejects.toBe('no more')
      expect(await store.stat(id)).toBeUndefined()
    })

    test('an abort before the start does nothing', async () => {
      const store = open()
      const { bytes, id } = someBytes(10)
      await store.put(bytes)
      const signal = AbortSignal.abort('no')
      await expect(store.open(id, { signal })).rejects.toBe('no')
      await expect(store.stat(id, { signal })).rejects.toBe('no')
      await expect(store.delete(id, { signal })).rejects.toBe('no')
      await expect(store.put(bytes, { signal })).rejects.toBe('no')
      await using blob = await store.open(id)
      await expect(blob.bytes({ signal })).rejects.toBe('no')
      await expect(collect(blob.read({ signal }))).rejects.toBe('no')
    })

    test('G2: keeps the type with the bytes, and does not forget what it knew', async () => {
      const store = open()
      const { bytes, id } = someBytes(10)
      const typeNow = async (): Promise<string | undefined> => (await store.stat(id))?.mimeType
      await store.put(bytes)
      expect(await typeNow()).toBeUndefined()
      await store.put(bytes, { mimeType: 'application/octet-stream' })
      expect(await typeNow()).toBe('application/octet-stream')
      await store.put(bytes, { mimeType: 'image/png' })
      expect(await typeNow()).toBe('image/png')
      for (const later of ['application/octet-stream', undefined, '*/*', 'text/html']) {
        await store.put(bytes, { mimeType: later })
        expect(await typeNow()).toBe('image/png')
      }
    })

    test('deletes, and does nothing when there is nothing', async () => {
      const store = open()
      const { bytes, id } = someBytes(10)
      await store.put(bytes)
      await store.delete(id)
      await store.delete(id)
      expect(await store.stat(id)).toBeUndefined()
    })

    test('what is read is the own copy of each reader', async () => {
      const store = open()
      const { bytes, id } = someBytes(1000)
      const reused = Buffer.from(bytes)
      await store.put([reused])
      reused.fill(0)
      await using blob = await store.open(id)
      ;(await blob.bytes()).fill(0)
      for await (const chunk of blob.read()) chunk.fill(0)
      await using again = await store.open(id)
      expect([Buffer.from(await blob.bytes()), Buffer.from(await again.bytes())]).toEqual([bytes, bytes])
    })

    test('a source may use one buffer for all its chunks', async () => {
      const store = open()
      const { bytes, id } = someBytes(5000)
      const buffer = Buffer.alloc(1000)
      async function* reusing(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < 5000; at += 1000) {
          bytes.copy(buffer, 0, at, at + 1000)
          yield await Promise.resolve(buffer)
        }
      }
      await store.put(reusing(), { expect: id })
      await using blob = await store.open(id)
      expect(Buffer.from(await blob.bytes())).toEqual(bytes)
    })

    test('what is open can be read to its end, whatever becomes of the store, by several at once', async () => {
      const store = open()
      const { bytes, id } = someBytes(2_000_000)
      await store.put(bytes)
      await using blob = await store.open(id)
      const [first, second] = [blob.read(), blob.read()].map((read) => read[Symbol.asyncIterator]())
      await first?.next()
      await store.delete(id)
      await second?.next()
      expect(Buffer.from(await blob.bytes())).toEqual(bytes)
      expect((await first?.return?.())?.done).toBe(true)
      expect((await second?.next())?.done).toBe(false)
    })

    test('forgets what was not used for longest when there is need of room', async () => {
      const store = open(2500)
      const [first, second, third] = [someBytes(1000), someBytes(1000), someBytes(1000)]
      await store.put(first.bytes)
      await pause()
      await store.put(second.bytes)
      await pause()
      await (await store.open(first.id))[Symbol.asyncDispose]()
      await pause()
      await store.put(third.bytes)
      expect(await store.stat(second.id)).toBeUndefined()
      expect([(await store.stat(first.id))?.size, (await store.stat(third.id))?.size]).toEqual([1000, 1000])
    })

    test('does not keep a blob that is larger than all it may be, and gives it all the same', async () => {
      const store = open(2500)
      const kept = someBytes(2000)
      const large = someBytes(5000)
      await store.put(kept.bytes)
      await using blob = await store.receive(inChunks(large.bytes), { expect: large.id })
      expect(Buffer.from(await blob.bytes())).toEqual(large.bytes)
      expect(await store.stat(large.id)).toBeUndefined()
      expect((await store.stat(kept.id))?.size).toBe(2000)
    })
  })
}

/** File systems tell times apart by a few milliseconds. */
const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20))
