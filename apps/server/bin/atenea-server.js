#!/usr/bin/env node
// Plain enough for any Node, since this is where one that is too old must be told so.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`atenea-server needs Node 22.13 or newer, and this is Node ${process.versions.node}.`)
  process.exitCode = 2
} else {
  const { env } = process
  const caches = env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`)
  const { enableCompileCache } = process.getBuiltinModule('node:module')
  // What was compiled is kept, which saves a tenth of every start; below the cache of this user alone, since it is code.
  if (caches && caches.startsWith('/')) enableCompileCache(`${caches}/atenea/compiled`)
  void import('../dist/main.js')
}
