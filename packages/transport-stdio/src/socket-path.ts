import type { BigIntStats } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { TransportError } from '@atenea/mcpcompat'

/** The longest path that a unix socket address holds: 107 bytes on Linux, 103 on the systems that come from BSD. */
export const maxSocketPathBytes: number = process.platform === 'linux' ? 107 : 103

/** Refuses a path that the system would cut off or fail on without a reason. */
export function assertSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes <= maxSocketPathBytes && path !== '' && !path.includes('\0')) return
  const reason =
    bytes > maxSocketPathBytes
      ? `is ${bytes} bytes long; this system allows ${maxSocketPathBytes}. Use a shorter path, such as one under /run/user or /tmp.`
      : 'is not a usable path.'
  throw new TransportError('unreachable', `socket path ${JSON.stringify(path.slice(0, 200))} ${reason}`)
}

/** A socket that accepts connections at its path. Only its owner can reach it from the moment it exists. */
export interface BoundSocket {
  /** Removes the path if it still leads to this socket. */
  unlink(): void
}

/** How long two that start at once wait for each other before they give up. */
const contestMs = 5_000
/** A claim takes microseconds; one that is as old as this was left behind. */
const abandonedMs = 2_000

/**
 * Lets `server` listen at `path` (F19).
 *
 * The socket is made inside a fresh directory with mode 0700, gets mode 0600, listens, and only then appears at its path, by a hard link,
 * which is refused when something is there. So there is no moment in which others could connect, none in which it refuses connections,
 * and of two that start at once exactly one gets the path.
 *
 * A stale socket, one that refuses connections, is taken away first. Of several that see it one may do that: the one who makes the hard
 * link that is named after it. A live socket and anything that is no socket is never touched.
 */
export async function bindSocket(server: Server, path: string): Promise<BoundSocket> {
  try {
    return await bindNewSocket(server, path)
  } catch (cause) {
    // What the system says of a directory that is read-only, full or somebody else's.
    if (TransportError.is(cause) || codeOf(cause) === undefined) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TransportError('unreachable', `the socket ${path} cannot be made: ${why}`, { cause })
  }
}

async function bindNewSocket(server: Server, path: string): Promise<BoundSocket> {
  const fs = process.getBuiltinModule('node:fs')
  const paths = process.getBuiltinModule('node:path')
  const nursery = fs.mkdtempSync(paths.join(paths.dirname(path), '.s'))
  const handle = fs.openSync(nursery, 'r')
  try {
    const born = paths.join(nursery, socketName)
    await listen(server, shortened(born, handle))
    fs.chmodSync(born, 0o600)
    const own = fs.lstatSync(born, { bigint: true })
    await publish(born, path)
    return {
      unlink() {
        if (isSame(lstat(path), own)) fs.unlinkSync(path)
      },
    }
  } catch (error) {
    server.close()
    throw error
  } finally {
    fs.closeSync(handle)
    fs.rmSync(nursery, { recursive: true, force: true })
  }
}

/** The first name of a socket. Node unlinks it again on close, by then in vain, so it must not be the name of anything else. */
const socketName = 's.atenea'

/** The way through the open directory is short, which counts when the final path is as long as it may be. */
function shortened(born: string, handle: number): string {
  if (Buffer.byteLength(born) > maxSocketPathBytes && process.platform === 'linux') {
    return `/proc/self/fd/${handle}/${socketName}`
  }
  assertSocketPath(born)
  return born
}

async function publish(born: string, path: string): Promise<void> {
  const fs = process.getBuiltinModule('node:fs')
  for (const until = Date.now() + contestMs; ; ) {
    try {
      fs.linkSync(born, path)
      return
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const found = lstat(path)
    if (found === undefined) continue
    if (found.isSymbolicLink()) throw occupied(path, 'a symbolic link')
    if (!found.isSocket()) throw occupied(path, found.isDirectory() ? 'a directory' : 'a file')
    if ((await probe(path)) === 'live') {
      throw new TransportError(
        'unreachable',
        `${path} is in use: a running process accepts connections there. Stop it, or use another path.`,
      )
    }
    if (!(await takeAway(path, found))) {
      if (Date.now() > until) throw occupied(path, 'a stale socket that another process is about to replace')
      await pause(10)
    }
  }
}

/** Unlinks a stale socket, unless somebody else is at it. Returns whether it is worth trying again at once. */
async function takeAway(path: string, stale: BigIntStats): Promise<boolean> {
  const fs = process.getBuiltinModule('node:fs')
  const claim = `${path}.${stale.ino.toString(36)}`
  try {
    fs.linkSync(path, claim)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    if (codeOf(error) !== 'EEXIST') throw error
    // Whoever made it was killed between two system calls. A link changes the ctime, so this tells how old it is.
    const claimed = lstat(claim)
    if (claimed !== undefined && Date.now() - Number(claimed.ctimeMs) > abandonedMs) fs.rmSync(claim, { force: true })
    return false
  }
  try {
    // While the claim exists the inode cannot be given to another socket, and a socket that refused once never accepts again.
    const claimed = lstat(claim)
    if (isSame(claimed, stale) && isSame(lstat(path), stale) && (await probe(path)) === 'stale') fs.unlinkSync(path)
  } finally {
    fs.rmSync(claim, { force: true })
  }
  return true
}

/** Whether somebody accepts connections at a path. */
async function probe(path: string): Promise<'live' | 'stale'> {
  const { connect } = process.getBuiltinModule('node:net')
  return await new Promise((resolve, reject) => {
    const socket: Socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve('live')
    })
    socket.on('error', (error) => {
      const code = codeOf(error)
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve('stale')
      // A full backlog is a sign of life.
      else if (code === 'EAGAIN') resolve('live')
      else
        reject(new TransportError('unreachable', `cannot tell who is at ${path}: ${error.message}`, { cause: error }))
    })
  })
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function occupied(path: string, what: string): TransportError {
  return new TransportError(
    'unreachable',
    `${path} is ${what}, which is left alone. Remove it yourself, or use another path.`,
  )
}

function isSame(found: BigIntStats | undefined, other: BigIntStats): boolean {
  return found?.ino === other.ino && found.dev === other.dev
}

function lstat(path: string): BigIntStats | undefined {
  return process.getBuiltinModule('node:fs').lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
