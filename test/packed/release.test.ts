import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../scripts/run-command.ts'
import { publishedMembers, rootDir } from '../_util/workspace.ts'

test('the dry run of a release gets as far as npm for every package, in order, and leaves the work tree alone', async (context) => {
  context.skip(!existsSync(join(rootDir, '.git')), 'needs git')
  const before = execFileSync('git', ['status', '--porcelain'], { cwd: rootDir, encoding: 'utf8' })
  const result = await runCommand('node', ['scripts/release.ts', '--dry-run'], { cwd: rootDir, timeoutMs: 170_000 })
  if (!result.ok) throw new Error(`${result.reason}\n${result.output}`)
  const published = [...result.output.matchAll(/^would publish (.+)@(\d+\.\d+\.\d+), \d+ files$/gm)]
  const names = published.map((match) => match[1] ?? '')
  expect(names.toSorted()).toEqual(
    publishedMembers()
      .map(({ manifest }) => manifest.name)
      .sort(),
  )
  expect(names.indexOf('@atenea/mcpcompat')).toBeLessThan(names.indexOf('@atenea/core'))
  const versions = new Map(published.map((match) => [match[1] ?? '', match[2]]))
  for (const { folder, manifest } of publishedMembers()) {
    const { version } = JSON.parse(readFileSync(join(rootDir, folder, 'package.json'), 'utf8')) as { version: string }
    expect(versions.get(manifest.name) === version, manifest.name).toBe(!noted().includes(manifest.name))
  }
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: rootDir, encoding: 'utf8' })).toBe(before)
})

/** Packages that the committed changesets name. */
function noted(): string[] {
  return readdirSync(join(rootDir, '.changeset'))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .flatMap((file) => [...readFileSync(join(rootDir, '.changeset', file), 'utf8').matchAll(/^"(.+)": \w+$/gm)])
    .map((match) => match[1] ?? '')
}
