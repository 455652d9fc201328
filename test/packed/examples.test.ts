import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../scripts/run-command.ts'
import { rootDir } from '../_util/workspace.ts'

/** Those with a client; the others bring tests of their own. */
const examples = readdirSync(join(rootDir, 'examples')).filter((name) =>
  existsSync(join(rootDir, 'examples', name, 'client.ts')),
)

test.each(examples)('the example %s prints what its README says', async (name) => {
  const folder = join(rootDir, 'examples', name)
  const prints = /```text\n([\s\S]*?)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1]
  const result = await runCommand('node', ['client.ts'], { cwd: folder, timeoutMs: 60_000 })
  expect(result.ok ? result.stdout : result.output).toBe(prints)
})
