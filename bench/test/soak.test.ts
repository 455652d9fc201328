import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { trials } from '../src/soak/trials.ts'

const main = fileURLToPath(new URL('../dist/soak/main.js', import.meta.url))

// A hundredth of `pnpm soak`, which fails by itself when a promise is broken; how long things took is not judged.
test.each(trials)(
  'soak, $title: memory comes back, others are served, nothing hangs',
  async ({ name, title }) => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, '--scenario', name, '--scale', '0.01'], {
      timeout: 140_000,
    })
    const rows = stdout.trimEnd().split('\n')
    expect(rows).toHaveLength(3)
    expect(rows[2]).toContain(title)
  },
  150_000,
)
