/** The packages and apps of this workspace as they stand on disk. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the repository, with a slash at its end. */
export const rootDir = fileURLToPath(new URL('../../', import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
  readonly license?: string
  readonly type?: string
  readonly sideEffects?: boolean
  readonly description?: string
  readonly engines?: { readonly node?: string }
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly publishConfig?: Readonly<Record<string, unknown>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A package or an app. */
export interface Member {
  /** Folder below the root: `packages/core`. */
  readonly folder: string
  readonly manifest: Manifest
}

/** Reads a JSON file of the repository; whole lines of comment are left out, as in a tsconfig. */
export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(rootDir, path), 'utf8').replaceAll(/^\s*\/\/.*$/gm, ''))
}

/** All members, in the order of their folders. */
export function workspaceMembers(): Member[] {
  const below = (kind: string): string[] =>
    existsSync(join(rootDir, kind)) ? readdirSync(join(rootDir, kind)).map((name) => `${kind}/${name}`) : []
  return [...below('apps'), 'bench', ...below('examples'), ...below('packages')]
    .filter((folder) => existsSync(join(rootDir, folder, 'package.json')))
    .sort()
    .map((folder) => ({ folder, manifest: readJson(`${folder}/package.json`) as Manifest }))
}

/** Those that are published. */
export function publishedMembers(): Member[] {
  return workspaceMembers().filter((member) => member.manifest.private !== true)
}

/** TypeScript and JavaScript files below a folder, as paths from the root; nothing that was installed or built. */
export function sourceFiles(folder: string): string[] {
  const start = join(rootDir, folder)
  if (!existsSync(start)) return []
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => relative(rootDir, join(entry.parentPath, entry.name)))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist|coverage)\//.test(path))
    .sort()
}

/** Tests, benchmarks and what serves only them. */
export function isTestFile(path: string): boolean {
  return /\.(?:test|bench)\.ts$/.test(path) || /(?:^|\/)test\//.test(path)
}
