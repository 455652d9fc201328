import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../machine.ts'
import { measureCachedRead } from './cached-read.ts'
import { measureDownloads } from './downloads.ts'
import { measureHashing } from './hashing.ts'
import { blobsTable, type BlobFigures } from './table.ts'

const { values } = parseArgs({ options: { scale: { type: 'string', default: '1' }, out: { type: 'string' } } })
const scale = Number(values.scale)
if (!(scale > 0)) throw new Error(`--scale ${values.scale}: a number above 0 is needed`)
const scaled = (count: number): number => Math.max(1, Math.round(count * scale))

const started = new Date()
const folder = mkdtempSync(join(tmpdir(), 'atenea-bench-blobs-'))
try {
  const figures: BlobFigures = {
    hashingShare: await measureHashing(scaled(128), scaled(15)),
    cachedReadRatio: await measureCachedRead(folder, scaled(200)),
    downloadsPeakMebibytes: await measureDownloads(folder, scaled(100)),
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  if (values.out !== undefined) {
    const machine = describeMachine()
    mkdirSync(values.out, { recursive: true })
    writeFileSync(join(values.out, 'blobs.md'), blobsTable(figures, { machine, started, scale }))
    writeFileSync(
      join(values.out, 'blobs.json'),
      `${JSON.stringify({ started: started.toISOString(), scale, machine, figures }, undefined, 1)}\n`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
