import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { computeBlobId } from '@atenea/blobs'
import { median } from '../statistics.ts'
import { did, startPds } from './pds.ts'
import { BenchServer } from './server.ts'

/**
 * What a verified read of a cached blob of 1 MiB through `resources/read` costs, as a multiple of the same bytes from a file
 * that nobody verifies; the goal is 1.3. Both are read in turn by one server.
 */
export async function measureCachedRead(folder: string, rounds: number): Promise<number> {
  const bytes = randomBytes(1024 * 1024)
  const cid = (await computeBlobId(bytes)).id.text
  const config = join(folder, 'read.json')
  const file = join(folder, 'plain.bin')
  writeFileSync(file, bytes)
  writeFileSync(config, JSON.stringify({ resources: [{ uri: 'plain:///1', name: 'plain', file }] }))
  await using pds = await startPds(new Map([[cid, bytes]]))
  await using server = new BenchServer(pds.origin, folder, config)
  const blob = bytes.toString('base64')
  const uris = { plain: 'plain:///1', verified: `atenea-blob:///${did}/${cid}` }
  for (const uri of Object.values(uris)) {
    const { contents } = await server.ask('resources/read', { uri })
    if ((contents as { blob?: unknown }[])[0]?.blob !== blob) throw new Error(`${uri} has other bytes`)
  }
  const read = async (uri: string): Promise<number> => {
    const begun = performance.now()
    const line = await server.line('resources/read', { uri })
    const took = performance.now() - begun
    if (!line.includes(blob)) throw new Error(`${uri} has other bytes`)
    return took
  }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const plain = await read(uris.plain)
    ratios.push((await read(uris.verified)) / plain)
  }
  return median(ratios)
}
