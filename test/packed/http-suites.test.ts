import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { runCommand } from '../../scripts/run-command.ts'
import { rootDir } from '../_util/workspace.ts'

const tarballs = inject('tarballs')
const oldestNode = tarballs.find((tarball) => tarball.name === '@atenea/transport-http')?.oldestNode ?? ''

/** What depends on how a Node reads requests, closes connections and tells of it, which has changed since the oldest one. */
const suites = [
  ...['faults', 'pipelining', 'expect', 'slow-reader', 'sessions', 'server', 'guards'].map(
    (name) => `packages/testkit/test/http-${name}.test.ts`,
  ),
  ...['exchange', 'session', 'node-send'].map((name) => `packages/transport-http/test/${name}.test.ts`),
]

/** Starts a program from its source, which takes a Node that reads TypeScript. */
const needsNewerNode = 'HTTPS_PROXY for https'

test('server and client pass their suites on the oldest Node that they state', { timeout: 240_000 }, async () => {
  const { ok, output } = await runCommand(
    oldestNode,
    [
      join(rootDir, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--project=sources',
      '--reporter=tap-flat',
      `--testNamePattern=^(?!.*${needsNewerNode})`,
      ...suites,
    ],
    { cwd: rootDir, timeoutMs: 230_000 },
  )
  expect(output.match(/^not ok .*/gm) ?? []).toEqual([])
  for (const suite of suites) expect(output).toMatch(new RegExp(`^ok \\d+ - ${suite}`, 'm'))
  expect(ok).toBe(true)
})
