import { computeBlobId, createMemoryStore } from '@atenea/blobs'

const store = createMemoryStore()
const { id } = await computeBlobId([new Uint8Array([1, 2]), new Uint8Array([3])])
await store.put(new Uint8Array([1, 2, 3]), { expect: id })
const blob = await store.open(id)
if ((await blob.bytes()).length !== 3) throw new Error('not what was put')
console.log('ok')
