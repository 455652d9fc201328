import { expect, test } from 'vitest'
import { idOf } from '../test/_util/bytes.ts'
import { BlobError } from './blob-error.ts'
import type { HttpResponse } from './http-client.ts'
import { createMemoryStore } from './memory-store.ts'
import { receiveBlob } from './receive-blob.ts'

/** An answer that tells whether it was let go. */
function answer(text: string): { response: HttpResponse; seen: { released: boolean } } {
  const seen = { released: false }
  async function* body(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from(text))
  }
  const response: HttpResponse = {
    status: 200,
    header: (name) => (name === 'content-type' ? 'text/plain; charset=utf-8' : undefined),
    url: new URL('https://pds.example.com/'),
    redirects: 0,
    body: body(),
    [Symbol.dispose]: () => {
      seen.released = true
    },
  }
  return { response, seen }
}

test('an answer is let go when its blob was received, and also when the store takes nothing of it', async () => {
  const onProgress = (): void => undefined
  const options = { expect: idOf('hello'), maxBytes: 100, onProgress }
  const good = answer('hello')
  const blob = await receiveBlob(good.response, { ...options, store: createMemoryStore() })
  expect([blob.info.mimeType, good.seen.released]).toEqual(['text/plain', true])
  const unread = answer('hello')
  const store = { ...createMemoryStore(), receive: () => Promise.reject(new BlobError('storage', 'gone')) }
  await expect(receiveBlob(unread.response, { ...options, store })).rejects.toMatchObject({ kind: 'storage' })
  expect(unread.seen.released).toBe(true)
})
