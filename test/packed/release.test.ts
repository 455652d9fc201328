import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { outputOf } from '../../scripts/run-command.ts'
import { startRegistry } from '../_util/registry.ts'
import { publishedMembers, rootDir } from '../_util/workspace.ts'

const names = publishedMembers().map(({ manifest }) => manifest.name)

const run = (command: string, args: readonly string[], cwd: string, env = {}): Promise<string> =>
  outputOf(command, args, { cwd, env, timeoutMs: 170_000 })

/** Packages that the committed changesets name. */
function noted(): string[] {
  return readdirSync(join(rootDir, '.changeset'))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .flatMap((file) => [...readFileSync(join(rootDir, '.changeset', file), 'utf8').matchAll(/^"(.+)": \w+$/gm)])
    .map((match) => match[1] ?? '')
}

test('the dry run gets as far as npm for every package, in order, and leaves the work tree alone', async (context) => {
  context.skip(!existsSync(join(rootDir, '.git')), 'needs git')
  const status = (): string => execFileSync('git', ['status', '--porcelain'], { cwd: rootDir, encoding: 'utf8' })
  const before = status()
  const output = await run('node', ['scripts/release.ts', '--dry-run'], rootDir)
  const published = [...output.matchAll(/^would publish (.+)@(\d+\.\d+\.\d+), \d+ files$/gm)]
  const order = published.map((match) => match[1] ?? '')
  expect(order.toSorted()).toEqual(names.toSorted())
  expect(order.indexOf('@atenea/mcpcompat')).toBeLessThan(order.indexOf('@atenea/core'))
  const versions = new Map(published.map((match) => [match[1] ?? '', match[2]]))
  for (const { manifest } of publishedMembers().filter((member) => noted().includes(member.manifest.name))) {
    expect(versions.get(manifest.name), manifest.name).not.toBe(manifest.version)
  }
  expect(status()).toBe(before)
})

test('a release publishes each package once, says where it comes from, tags it, and goes on after a break', async (context) => {
  context.skip(!existsSync(join(rootDir, '.git')), 'needs git')
  const folder = mkdtempSync(join(tmpdir(), 'atenea-released-'))
  try {
    await using registry = await startRegistry()
    const clone = join(folder, 'clone')
    const npmrc = join(folder, 'npmrc')
    writeFileSync(npmrc, `registry=${registry.url}\n//${new URL(registry.url).host}/:_authToken=nobody\n`)
    // a clean machine does not know who works on it
    const who = {
      GIT_AUTHOR_NAME: 'x',
      GIT_AUTHOR_EMAIL: 'x@example.org',
      GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x@example.org',
    }
    const env = {
      ...who,
      npm_config_userconfig: npmrc,
      GITHUB_REPOSITORY: 'somebody/atenea',
      GITHUB_SERVER_URL: 'https://example.org',
    }
    await run('git', ['clone', '--quiet', rootDir, clone], folder)
    await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], clone)
    const release = (more = {}): Promise<string> => run('node', ['scripts/release.ts'], clone, { ...env, ...more })
    const commit = async (): Promise<void> => {
      await run('git', ['add', '--all'], clone)
      await run('git', ['commit', '-qm', 'Release'], clone, who)
    }
    writeFileSync(
      join(clone, '.changeset/one-more.md'),
      `---\n${names.map((name) => `"${name}": patch\n`).join('')}---\n\nX.\n`,
    )
    await commit()
    await expect(release()).rejects.toThrow(/no version has yet/)
    await run('pnpm', ['changeset', 'version'], clone)
    await commit()
    await expect(release({ GIT_COMMITTER_NAME: '' })).rejects.toThrow(/ident name/)
    expect(registry.published).toEqual([])

    await release()
    expect(registry.published.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    for (const { name, repository, dependencies = {} } of registry.published) {
      const member = publishedMembers().find(({ manifest }) => manifest.name === name)
      expect(repository).toMatchObject({
        url: 'git+https://example.org/somebody/atenea.git',
        directory: member?.folder,
      })
      const siblings = Object.entries(dependencies).filter(([dependency]) => names.includes(dependency))
      const current = new Map(registry.published.map((other) => [other.name, `^${other.version}`]))
      expect(siblings).toEqual(siblings.map(([dependency]) => [dependency, current.get(dependency)]))
    }
    const tags = (await run('git', ['tag'], clone)).trim().split('\n')
    expect(tags.toSorted()).toEqual(registry.published.map(({ name, version }) => `${name}@${version}`).toSorted())
    expect(await run('git', ['status', '--porcelain'], clone)).toBe('')

    expect(await release()).toContain('is published already')
    expect(registry.published).toHaveLength(names.length)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
