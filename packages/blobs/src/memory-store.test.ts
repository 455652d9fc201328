import { expect, test } from 'vitest'
import { inChunks, someBytes } from '../test/_util/bytes.ts'
import { storeSuite } from '../test/_util/store-suite.ts'
import { createMemoryStore } from './memory-store.ts'

storeSuite('a store in memory', (maxBytes) => createMemoryStore({ maxBytes }))

test('the same bytes take room once', async () => {
  const store = createMemoryStore({ maxBytes: 2500 })
  const first = someBytes(1000)
  const second = someBytes(1000)
  await store.put(first.bytes)
  for (let count = 0; count < 5; count++) await store.put(inChunks(second.bytes))
  expect((await store.stat(first.id))?.size).toBe(1000)
})
