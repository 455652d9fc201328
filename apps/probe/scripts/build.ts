/**
 * Bundles the probe: `dist/main.js` holds what every run needs, `dist/chunks` what is loaded on first use. Nothing is left to be
 * installed, and the licences of what was bundled go along. Run after `tsc -b`, which checks the types and builds the packages.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

const root = join(import.meta.dirname, '..')
const out = join(root, 'dist')

rmSync(out, { recursive: true, force: true })

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  mainFields: ['module', 'main'],
  minifySyntax: true,
  define: { bundledVersion: JSON.stringify(versionOf('package.json')) },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})
writeFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), licencesOf(metafile))

function versionOf(manifest: string): unknown {
  return (JSON.parse(readFileSync(join(root, manifest), 'utf8')) as { readonly version?: unknown }).version
}

/** Folders of the foreign packages of which the bundle holds code, without repetition. */
function bundledPackages(meta: Metafile): string[] {
  const folders = Object.values(meta.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  return [...new Set(folders)].sort()
}

function licencesOf(meta: Metafile): string {
  const parts = bundledPackages(meta).map((folder) => {
    const path = join(root, folder)
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>>
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
