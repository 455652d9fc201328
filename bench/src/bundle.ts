import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/*
 * Builds our servers into one file each, as an application would ship them; what is loaded on first use stays in files of its own.
 * Each carrier apart, since a file that two entries share holds what either needs. `bin.js` starts the stdio server with the
 * compile cache of Node.
 */
const out = fileURLToPath(new URL('./bundled', import.meta.url))
rmSync(out, { recursive: true, force: true })
await bundle(['ours.js', 'bin.js'], '.')
await bundle(['http/ours.js'], 'http')

async function bundle(names: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: names.map((name) => fileURLToPath(new URL(`./servers/${name}`, import.meta.url))),
    outdir: `${out}/${folder}`,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
  })
}
