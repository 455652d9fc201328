import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { rootDir } from './_util/workspace.ts'

/** Runs `.ci/run` with a program of ours in the place of `npx`, since only what surrounds it is looked at here. */
function runCi(npx: string, more: Readonly<Record<string, string>> = {}): { code: number | null; lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-ci-'))
  try {
    writeFileSync(join(folder, 'npx'), `#!/usr/bin/env bash\n${npx}\n`)
    chmodSync(join(folder, 'npx'), 0o755)
    const path = `${folder}${delimiter}${process.env['PATH']}`
    const env = { ...process.env, PATH: path, HOME: folder, ...more }
    const { status, stdout } = spawnSync('bash', ['.ci/run'], { cwd: rootDir, env, encoding: 'utf8', timeout: 15_000 })
    return { code: status, lines: stdout.trimEnd().split('\n') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test.each([
  ['all is well', 'echo "5 passed, 0 failed"', 0, '5 passed, 0 failed'],
  ['something failed', 'echo "4 passed, 1 failed"; exit 1', 1, '4 passed, 1 failed'],
  [
    'a line follows the count',
    'echo "4 passed, 1 failed"; echo "[ELIFECYCLE] failed" >&2; exit 1',
    1,
    '4 passed, 1 failed',
  ],
  ['it breaks off before it counts', 'echo "no network" >&2; exit 7', 7, '0 passed, 1 failed'],
  ['it is killed after it counted', 'echo "5 passed, 0 failed"; kill -9 $$', 137, '5 passed, 1 failed'],
  ['it counts a failure, yet ends well', 'echo "4 passed, 1 failed"', 1, '4 passed, 1 failed'],
  ['it ends well, but counts nothing', 'true', 1, '0 passed, 1 failed'],
])('when %s, it ends with one count and the right exit code', (_when, npx, code, last) => {
  const result = runCi(npx)
  expect(result.code).toBe(code)
  expect(result.lines.at(-1)).toBe(last)
  expect(result.lines.filter((line) => /^\d+ passed, \d+ failed/.test(line))).toHaveLength(1)
})

test('it asks for the test command of the README, in full', () => {
  const { lines } = runCi('echo "called: $* CI=$CI ATENEA_FULL=$ATENEA_FULL"; echo "1 passed, 0 failed"')
  expect(lines).toContain('called: -y pnpm@12 test CI=true ATENEA_FULL=1')
})

test('a checkout of somebody else is one that git reads and clones from', (context) => {
  context.skip(!existsSync(join(rootDir, '.git')), 'needs git')
  const reading = 'git ls-files >/dev/null && git ls-remote "$PWD" >/dev/null && echo "1 passed, 0 failed"'
  const { code, lines } = runCi(reading, { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' })
  expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: '1 passed, 0 failed' })
})
