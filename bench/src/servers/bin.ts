import type nodeModule from 'node:module'

/* Starts our server with the compile cache that Node keeps from one start to the next, as the bin of an application does. */
const { enableCompileCache } = process.getBuiltinModule('node:module') as typeof nodeModule & {
  enableCompileCache(): void
}
enableCompileCache()
await import('./ours.ts')
