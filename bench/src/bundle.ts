import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/*
 * Builds our servers into one file each, as an application would ship them; what is loaded on first use stays in files of its
 * own. `bin.js` starts each with the compile cache of Node. Two builds, or what both servers use would become
 * files of its own too.
 */
await bundle('./bundled', ['./servers/ours.js', './servers/bin.js'])
await bundle('./bundled/http', ['./servers/http/ours.js', './servers/http/bin.js'])

async function bundle(folder: string, entries: readonly string[]): Promise<void> {
  const outdir = pathOf(folder)
  rmSync(outdir, { recursive: true, force: true })
  await build({
    entryPoints: entries.map(pathOf),
    outdir,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
  })
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
