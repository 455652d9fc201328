import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/* Builds our server into one file, as an application would ship it; what is loaded on first use stays in files of its own. */
await build({
  entryPoints: [fileURLToPath(new URL('./servers/ours.js', import.meta.url))],
  outdir: fileURLToPath(new URL('./bundled', import.meta.url)),
  bundle: true,
  splitting: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
})
