import { createHash } from 'node:crypto'
import { computeBlobId } from '@atenea/blobs'
import { median } from '../statistics.ts'

const chunkBytes = 64 * 1024

/**
 * How fast bytes are hashed while they stream, as a share of the runtime's bare hash of the same chunks; the goal is 0.9. Both are
 * measured in turn.
 */
export async function measureHashing(megabytes: number, rounds: number): Promise<number> {
  const chunks = Array.from({ length: megabytes * 16 }, (_, index) => Buffer.alloc(chunkBytes, index))
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield chunk
  }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    const hash = createHash('sha256')
    for (const chunk of chunks) hash.update(chunk)
    const digest = hash.digest('hex')
    const between = performance.now()
    const { id } = await computeBlobId(stream())
    const ended = performance.now()
    if (Buffer.from(id.digest).toString('hex') !== digest) throw new Error('the hashes differ')
    ratios.push((between - begun) / (ended - between))
  }
  return median(ratios)
}
