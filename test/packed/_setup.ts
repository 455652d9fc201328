/** Packs every published member once, as a release would, and fetches the oldest Node that each states. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { outputOf, runCommand } from '../../scripts/run-command.ts'
import { type Manifest, publishedMembers, rootDir } from '../_util/workspace.ts'

/** A packed member. */
export interface Tarball {
  readonly name: string
  /** Folder of the member below the root. */
  readonly folder: string
  readonly manifest: Manifest
  /** Absolute path of the .tgz file. */
  readonly path: string
  /** What it holds, as paths from the folder of the package. */
  readonly files: readonly string[]
  /** Absolute path of the oldest `node` that the member states. */
  readonly oldestNode: string
}

declare module 'vitest' {
  interface ProvidedContext {
    tarballs: readonly Tarball[]
  }
}

const output = (command: string, args: readonly string[], cwd: string): Promise<string> =>
  outputOf(command, args, { cwd, timeoutMs: 240_000 })

/** Node itself comes from npm; the folder is kept, since each is a download of some size. */
async function fetchNode(version: string): Promise<string> {
  const folder = join(rootDir, 'node_modules/.cache/oldest-node', version)
  const binary = join(folder, 'node_modules/node/bin/node')
  const ready = await runCommand(binary, ['--version'], { timeoutMs: 10_000 })
  if (ready.ok && ready.output.trim() === `v${version}`) return binary
  mkdirSync(folder, { recursive: true })
  await output(
    'npm',
    ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node@${version}`],
    folder,
  )
  return binary
}

/** `>=20.19` means 20.19.0. */
function oldestVersion(manifest: Manifest): string {
  const match = /^>=(\d+)\.(\d+)$/.exec(manifest.engines?.node ?? '')
  if (match === null) throw new Error(`${manifest.name} states its oldest Node in a form that is not understood`)
  return `${match[1]}.${match[2]}.0`
}

export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-packed-'))
  const members = publishedMembers()
  const versions = [...new Set(members.map(({ manifest }) => oldestVersion(manifest)))]
  const nodes = new Map(
    await Promise.all(versions.map(async (version) => [version, await fetchNode(version)] as const)),
  )
  const tarballs = await Promise.all(
    members.map(async (member): Promise<Tarball> => {
      const packed = await output(
        'pnpm',
        ['pack', '--json', '--pack-destination', folder],
        join(rootDir, member.folder),
      )
      const { filename, files } = JSON.parse(packed) as { filename: string; files: { path: string }[] }
      const oldestNode = nodes.get(oldestVersion(member.manifest)) ?? ''
      const { name } = member.manifest
      return { name, ...member, path: filename, files: files.map(({ path }) => path).sort(), oldestNode }
    }),
  )
  project.provide('tarballs', tarballs)
  return () => rmSync(folder, { recursive: true, force: true })
}
