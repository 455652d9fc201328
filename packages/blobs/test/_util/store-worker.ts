/**
 * A process that uses a store: `node store-worker.ts ROOT MAX_BYTES ROUNDS`. Puts blobs of a set that all such processes
 * know, reads others, and checks every byte. Prints a line for each blob that it put; ends with 1 when anything went wrong.
 */
import { createHash } from 'node:crypto'
import { BlobError } from '../../src/blob-error.ts'
import { createFsStore } from '../../src/fs-store.ts'
import { idOf } from './bytes.ts'

const [, , root = '', maxBytes = '', rounds = ''] = process.argv
const store = createFsStore(root, { maxBytes: Number(maxBytes) })

/** Bytes of the n-th blob of the set, of 1 byte up to 2 MB. */
function blobOf(index: number): Buffer {
  const size = (index * 7919 * 997) % 2_000_000
  const block = createHash('sha512').update(String(index)).digest()
  return Buffer.alloc(size + 1, block)
}

async function* slowly(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield await Promise.resolve(bytes.subarray(at, at + 65_536))
}

async function check(index: number): Promise<void> {
  const bytes = blobOf(index)
  try {
    await using blob = await store.open(idOf(bytes))
    if (!bytes.equals(await blob.bytes())) throw new Error(`blob ${index} is not what it was`)
  } catch (error) {
    if (!BlobError.is(error) || error.kind !== 'not-stored') throw error
  }
}

for (let round = 0; round < Number(rounds); round++) {
  const index = Math.floor(Math.random() * 40)
  const bytes = blobOf(index)
  const blob = await store.receive(slowly(bytes), { expect: idOf(bytes), mimeType: `x-test/${index}` })
  if (!bytes.equals(await blob.bytes())) throw new Error(`blob ${index} is not what was put`)
  await blob[Symbol.asyncDispose]()
  process.stdout.write(`${index}\n`)
  await check(Math.floor(Math.random() * 40))
  if (round % 7 === 0) await store.delete(idOf(blobOf(Math.floor(Math.random() * 40))))
}
