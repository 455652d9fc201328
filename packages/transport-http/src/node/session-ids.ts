/** Bytes that are read at once, enough for 64 ids. */
const poolBytes = 1_024
const idBytes = 16

/**
 * Makes ids that nobody can guess (LG-SESS-02): 128 bits each, from where the system itself has its random bytes. They are read as a file, since
 * `node:crypto` takes 3 ms to load, which is a tenth of a start; where there is no such device, as on Windows, it is loaded.
 */
export function createSessionIds(): () => string {
  let pool = Buffer.alloc(0)
  let at = 0
  return () => {
    if (at === pool.length) {
      const read = readRandom(poolBytes)
      if (read === undefined) return process.getBuiltinModule('node:crypto').randomBytes(idBytes).toString('hex')
      pool = read
      at = 0
    }
    const id = pool.toString('hex', at, at + idBytes)
    // given once, and nowhere to be found afterwards
    pool.fill(0, at, at + idBytes)
    at += idBytes
    return id
  }
}

function readRandom(length: number): Buffer<ArrayBuffer> | undefined {
  if (process.platform === 'win32') return undefined
  const { closeSync, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs')
  try {
    const device = openSync('/dev/urandom', 'r')
    try {
      // a file that somebody has put there may hold anything
      if (!fstatSync(device).isCharacterDevice()) return undefined
      const bytes = Buffer.alloc(length)
      for (let read = 0; read < length; ) {
        const more = readSync(device, bytes, read, length - read, null)
        if (more === 0) return undefined
        read += more
      }
      return bytes
    } finally {
      closeSync(device)
    }
  } catch {
    return undefined
  }
}
