import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

/** The manifest of a folder. */
export function readManifest(folder: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>>
}

/** The licences of all foreign packages of which bundles of a folder hold code. */
export function licencesOf(folder: string, metas: readonly Metafile[]): string {
  const parts = bundledPackages(metas).map((below) => {
    const path = join(folder, below)
    const manifest = readManifest(path)
    const texts = readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(?:licen[cs]e|notice|copying)/i.test(entry.name))
      .map(({ name }) => readFileSync(join(path, name), 'utf8').trim())
    return [
      `${String(manifest['name'])} ${String(manifest['version'])} (${String(manifest['license'])})`,
      ...texts,
    ].join('\n\n')
  })
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Folders of the foreign packages, without repetition. */
function bundledPackages(metas: readonly Metafile[]): string[] {
  const folders = metas
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  return [...new Set(folders)].sort()
}
