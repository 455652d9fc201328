import { rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { licencesOf, readManifest } from './licences.ts'

export interface BundleAppOptions {
  /** Folder of the app. The bundle goes into its `dist`. */
  readonly folder: string
  /** The oldest Node that it runs on, such as `node20.19`. */
  readonly target: string
  /**
   * Modules of `src` that are loaded later and bundled for themselves, since what they need has much in common with the rest and would
   * draw all of it into what every start loads: chunks are shared by whole files.
   */
  readonly apart?: readonly string[] | undefined
}

/**
 * Bundles a binary: `dist/main.js` holds all that starts with it, `dist/chunks` what is loaded on first use. Nothing is left to be
 * installed, and the licences of what was bundled go along. Needs the built packages, so run it after `tsc -b`.
 */
export async function bundleApp({ folder, target, apart = [] }: BundleAppOptions): Promise<void> {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const options = {
    absWorkingDir: folder,
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target,
    // Some packages have an ES module only under this old name, and a main that cannot be bundled.
    mainFields: ['module', 'main'],
    // Makes classes and constants of the bundle plain variables, which saves a tenth of the start. Names and lines stay, for stacks.
    minifySyntax: true,
    define: { bundledVersion: JSON.stringify(readManifest(folder)['version']) },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions
  const main = await build({
    ...options,
    entryPoints: ['src/main.ts'],
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    plugins: apart.map(left),
  })
  const others = await Promise.all(apart.map(async (file) => await build({ ...options, entryPoints: [`src/${file}`] })))
  const metafiles = [main, ...others].map(({ metafile }) => metafile)
  writeFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), licencesOf(folder, metafiles))
}

/** Leaves the import of a module as it is, with the name that its own bundle has. */
function left(file: string): Plugin {
  const name = basename(file).replaceAll('.', String.raw`\.`)
  return {
    name: `apart-${file}`,
    setup(bundler) {
      bundler.onResolve({ filter: new RegExp(`/${name}$`) }, () => ({
        path: `./${basename(file, '.ts')}.js`,
        external: true,
      }))
    },
  }
}
