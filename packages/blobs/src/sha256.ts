import type { Hash } from 'node:crypto'

/** The hash of the runtime. An import of `node:crypto` would load all of Web Crypto as well. */
export function sha256(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256')
}
