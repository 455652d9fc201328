/**
 * Bundles the server: `dist/main.js` holds all that starts with it, `dist/chunks` what is loaded on first use. Nothing is left to
 * be installed, and the licences of what was bundled go along. Run after `tsc -b`, which checks the types and builds the packages.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..')
const out = join(root, 'dist')

rmSync(out, { recursive: true, force: true })

const options = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  // Some packages have an ES module only under this old name, and a main that cannot be bundled.
  mainFields: ['module', 'main'],
  // Makes classes and constants of the bundle plain variables, which saves a tenth of the start. Names and lines stay, for stacks.
  minifySyntax: true,
  define: { bundledVersion: JSON.stringify(versionOf('package.json')) },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

// The status command is the one client among all that is loaded later. Bundled with the rest it would draw the client half of
// the protocol into what every start loads, since chunks are shared by whole files and those meet in the packages' entries.
const statusApart: Plugin = {
  name: 'status-apart',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/status\.ts$/ }, () => ({ path: './status.js', external: true }))
  },
}

const builds = [
  await build({
    ...options,
    entryPoints: ['src/main.ts'],
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [statusApart],
  }),
  await build({ ...options, entryPoints: ['src/status.ts'] }),
]
writeFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), licencesOf(builds.map(({ metafile }) => metafile)))

function versionOf(manifest: string): unknown {
  return (JSON.parse(readFileSync(join(root, manifest), 'utf8')) as { readonly version?: unknown }).version
}

/** Folders of the foreign packages of which the bundle holds code, without repetition. */
function bundledPackages(metas: readonly Metafile[]): string[] {
  const folders = metas
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  return [...new Set(folders)].sort()
}

function licencesOf(metas: readonly Metafile[]): string {
  const parts = bundledPackages(metas).map((folder) => {
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
