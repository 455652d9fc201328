/** `pnpm soak`: the load tests at a hundred times their usual size. Takes some minutes and ten thousands of sockets. */
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('vitest', ['run', 'packages/testkit/test/http-faults.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, ATENEA_SOAK: '100' },
})
process.exitCode = status ?? 1
