import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const out = fileURLToPath(new URL('./bundled', import.meta.url))

/*
 * Builds our server into one file, as an application would ship it; what is loaded on first use stays in files of its own.
 * `bin.js` starts it with the compile cache of Node.
 */
rmSync(out, { recursive: true, force: true })
await build({
  entryPoints: ['ours.js', 'bin.js', 'http/ours.js'].map((name) =>
    fileURLToPath(new URL(`./servers/${name}`, import.meta.url)),
  ),
  outdir: out,
  bundle: true,
  splitting: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
})
