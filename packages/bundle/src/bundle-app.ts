import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { build, type BuildOptions, type Loader, type Metafile, type Plugin } from 'esbuild'
import { foreignAtStart } from './foreign-at-start.ts'
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

const entry = 'src/main.ts'

/**
 * Bundles a binary: `dist/main.js` leads to all that starts with it, the other files of `dist` hold what is loaded on first use. Nothing is left to be
 * installed, and the licences of what was bundled go along. Rejects when foreign code would start with it, since every start would wait for that.
 * Needs the built packages, so run it after `tsc -b`.
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
    // Makes classes and constants of the bundle plain variables, which saves a tenth of the start. Names stay, for stacks.
    minifySyntax: true,
    // Comments inside of classes would stay otherwise, and one letter beyond Latin-1 makes Node hold a file in two bytes a letter.
    minifyWhitespace: true,
    lineLimit: 120,
    define: { bundledVersion: JSON.stringify(readManifest(folder)['version']) },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions
  const split = {
    ...options,
    entryPoints: [entry],
    splitting: true,
    // Beside the others, since whatever file imports a module that is bundled apart does so by its path.
    chunkNames: '[name]-[hash]',
  } satisfies BuildOptions
  const leaving = apart.map(left)
  const { metafile } = await build({ ...split, plugins: leaving, write: false })
  const main = await build({ ...split, plugins: [...leaving, together(folder, loadedLater(metafile))] })
  const foreign = foreignAtStart(main.metafile, 'dist/main.js')
  if (foreign.length > 0) throw new Error(`what starts with the binary holds foreign code: ${foreign.join(', ')}`)
  const others = await Promise.all(apart.map(async (file) => await build({ ...options, entryPoints: [`src/${file}`] })))
  const metafiles = [main, ...others].map((built) => built.metafile)
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

/** The modules that are imported on first use. */
function loadedLater({ outputs }: Metafile): readonly string[] {
  return Object.values(outputs).flatMap(({ entryPoint }) =>
    entryPoint === undefined || entryPoint === entry ? [] : [entryPoint],
  )
}

/**
 * Keeps all that starts with the binary in one file. The bundler makes a file for each set of modules that are needed by the same
 * entries, which would be a dozen, each to be found, read and linked at every start. Where all that is loaded later needs the entry as
 * well, which it has anyway, there is one such set.
 */
function together(folder: string, files: readonly string[]): Plugin {
  const later = new Set(files.map((file) => join(folder, file)))
  return {
    name: 'together',
    setup(bundler) {
      bundler.onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
        if (!later.has(path)) return undefined
        const source = readFileSync(path, 'utf8')
        const loader: Loader = extname(path) === '.ts' ? 'ts' : 'js'
        return { contents: `${source}\nimport ${JSON.stringify(join(folder, entry))}\n`, loader }
      })
    },
  }
}
