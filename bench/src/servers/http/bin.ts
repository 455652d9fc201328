import type nodeModule from 'node:module'

/*
 * Starts our HTTP server with the compile cache that Node keeps from one start to the next, as the bin of an application does. What
 * was compiled is written at once, since servers are ended by signals, and a process that dies of one writes nothing.
 */
const { enableCompileCache, flushCompileCache } = process.getBuiltinModule('node:module') as typeof nodeModule & {
  enableCompileCache(): void
  flushCompileCache(): void
}
enableCompileCache()
await import('./ours.ts')
flushCompileCache()
