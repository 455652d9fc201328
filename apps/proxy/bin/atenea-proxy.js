#!/usr/bin/env node
// Plain enough for any Node, since this is where one that is too old must be told so.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`atenea-proxy needs Node 20.19 or newer, and this is Node ${process.versions.node}.`)
  process.exitCode = 2
} else {
  const { env } = process
  const caches = env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`)
  const { enableCompileCache } = process.getBuiltinModule('node:module')
  // Newer ones keep what they have compiled, which saves a tenth of every start.
  if (enableCompileCache && caches && caches.startsWith('/')) enableCompileCache(`${caches}/atenea/compiled`)
  void import('../dist/main.js')
}
