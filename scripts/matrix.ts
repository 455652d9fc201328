/** `pnpm matrix`: every client before every server through the built proxy, on all carriers. Writes docs/proxy-matrix.md. */
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('vitest', ['run', 'packages/testkit/test/proxy-matrix'], {
  stdio: 'inherit',
  env: { ...process.env, ATENEA_MATRIX: 'all' },
})
process.exitCode = status ?? 1
