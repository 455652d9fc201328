/**
 * `pnpm release` publishes every member whose version npm does not have yet; `pnpm release:dry` shows what the changes
 * noted in `.changeset/` would release, up to and including `npm publish --dry-run`, and changes nothing.
 *
 * Both work in a clone of HEAD, so that the work tree stays as it is. A release workflow names its repository in the
 * manifests there, since provenance is refused when they do not say where the package was built.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Manifest, publishedMembers, rootDir } from '../test/_util/workspace.ts'
import { outputOf, runCommand } from './run-command.ts'

interface Packed {
  readonly name: string
  readonly version: string
  readonly tarball: string
  readonly files: number
}

const dryRun = process.argv.includes('--dry-run')
const pending = readdirSync(join(rootDir, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md')

const run = (command: string, args: readonly string[], cwd: string): Promise<string> =>
  outputOf(command, args, { cwd, timeoutMs: 600_000 })

/** Those that others depend on come first, so that a release that breaks off leaves nothing that cannot be installed. */
function inOrder(): { folder: string; name: string }[] {
  const members = publishedMembers()
  const depth = (manifest: Manifest): number => {
    const below = members.filter((other) => manifest.dependencies?.[other.manifest.name] !== undefined)
    return below.length === 0 ? 0 : 1 + Math.max(...below.map((other) => depth(other.manifest)))
  }
  return members
    .toSorted((a, b) => depth(a.manifest) - depth(b.manifest))
    .map(({ folder, manifest }) => ({ folder, name: manifest.name }))
}

/** The clone: HEAD, with what was built from it. */
async function stage(folder: string): Promise<void> {
  await run('git', ['clone', '--quiet', rootDir, folder], rootDir)
  const repository = process.env['GITHUB_REPOSITORY']
  for (const member of inOrder()) {
    cpSync(join(rootDir, member.folder, 'dist'), join(folder, member.folder, 'dist'), { recursive: true })
    if (repository === undefined) continue
    const path = join(folder, member.folder, 'package.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    const server = process.env['GITHUB_SERVER_URL'] ?? 'https://github.com'
    manifest['repository'] = { type: 'git', url: `git+${server}/${repository}.git`, directory: member.folder }
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`)
  }
}

async function pack(folder: string, into: string): Promise<Packed> {
  const printed = await run('pnpm', ['pack', '--json', '--pack-destination', into], folder)
  const packed = JSON.parse(printed) as { name: string; version: string; filename: string; files: unknown[] }
  return { name: packed.name, version: packed.version, tarball: packed.filename, files: packed.files.length }
}

async function isPublished({ name, version }: Packed): Promise<boolean> {
  const answer = await runCommand('npm', ['view', `${name}@${version}`, 'version'], { timeoutMs: 60_000 })
  if (answer.ok) return answer.stdout.trim() === version
  if (answer.output.includes('E404')) return false
  throw new Error(`npm cannot say whether ${name}@${version} exists\n${answer.output}`)
}

async function publish(packed: Packed, cwd: string): Promise<void> {
  const label = `${packed.name}@${packed.version}`
  if (dryRun) {
    await run('npm', ['publish', packed.tarball, '--access', 'public', '--dry-run'], cwd)
    console.log(`would publish ${label}, ${packed.files} files`)
  } else if (await isPublished(packed)) {
    console.log(`${label} is published already`)
  } else {
    // Only a workflow can prove where a package was built.
    const provenance = process.env['GITHUB_ACTIONS'] === 'true' ? '--provenance' : '--no-provenance'
    await run('npm', ['publish', packed.tarball, '--access', 'public', provenance], cwd)
    console.log(`published ${label}`)
  }
}

if (!dryRun && pending.length > 0) {
  throw new Error('changes are noted in .changeset that no version has yet: run `pnpm changeset version` and commit')
}
if (!existsSync(join(rootDir, '.git'))) throw new Error('a release needs the git repository')
// Without a name git makes no tags, and `changeset tag` would not say so after all is published.
if (!dryRun) await run('git', ['var', 'GIT_COMMITTER_IDENT'], rootDir)
await run('turbo', ['run', 'build'], rootDir)
const scratch = mkdtempSync(join(tmpdir(), 'atenea-release-'))
try {
  const clone = join(scratch, 'clone')
  await stage(clone)
  if (pending.length > 0) await run(join(rootDir, 'node_modules/.bin/changeset'), ['version'], clone)
  else if (dryRun) console.log('nothing is noted in .changeset: the versions stay as they are')
  for (const member of inOrder()) await publish(await pack(join(clone, member.folder), scratch), scratch)
  // The lines that this prints tell the workflow which tags to push.
  if (!dryRun) console.log(await run('changeset', ['tag'], rootDir))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
