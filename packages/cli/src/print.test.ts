import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const flags = JSON.stringify(join(import.meta.dirname, 'flags.ts'))
const app = JSON.stringify(join(import.meta.dirname, 'app.ts'))

test.runIf(process.platform === 'linux')('a result that finds no room is told in one line, and is no success', () => {
  const script = `import { runApp } from ${app}
    import { flag } from ${flags}
    await runApp({ name: 'demo', version: '1.2.3', flags: { help: flag.switch('x'), version: flag.switch('x') }, help: {}, args: ['--version'], run: async () => 0 })`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    encoding: 'utf8',
  })
  expect([status, stderr.split('\n')[0]]).toEqual([
    1,
    'demo: cannot write the result: ENOSPC: no space left on device, write',
  ])
  expect(stderr).not.toContain('    at ')
})
