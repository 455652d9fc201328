import { randomBytes } from 'node:crypto'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { computeBlobId } from '@atenea/blobs'
import { did, startPds } from './pds.ts'
import { BenchServer } from './server.ts'

const blobBytes = 5 * 1024 * 1024

/** The peak of the resident memory, in MiB, of a server that downloads many blobs of 5 MiB at once; the goal for 100 is 250. */
export async function measureDownloads(folder: string, count: number): Promise<number> {
  const blobs = new Map<string, Buffer>()
  for (let index = 0; index < count; index++) {
    const bytes = Buffer.alloc(blobBytes, index)
    randomBytes(16).copy(bytes)
    blobs.set((await computeBlobId(bytes)).id.text, bytes)
  }
  const config = join(folder, 'downloads.json')
  writeFileSync(config, '{}')
  await using pds = await startPds(blobs)
  await using server = new BenchServer(pds.origin, folder, config)
  const save = async (cid: string): Promise<void> => {
    const args = { did, cid, saveTo: `saved-${cid}` }
    await server.ask('tools/call', { name: 'get_blob', arguments: args })
    if (statSync(join(folder, args.saveTo)).size !== blobBytes) throw new Error(`${cid} was not saved whole`)
  }
  await Promise.all([...blobs.keys()].map(save))
  return server.peakMebibytes()
}
