import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('../dist/blobs/main.js', import.meta.url))

// How fast it is depends on the machine and is never judged here; that every byte is right does not.
test('blobs: everything is measured, and every byte was right', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--scale', '0.01'], { timeout: 120_000 })
  const figures = JSON.parse(stdout) as Record<string, number>
  expect(Object.keys(figures)).toEqual(['hashingShare', 'cachedReadRatio', 'downloadsPeakMebibytes'])
  for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0)
}, 150_000)
