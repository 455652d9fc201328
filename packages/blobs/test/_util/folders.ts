import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of the test that calls this, deleted with it. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'blobs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
