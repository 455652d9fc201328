import type { Stats } from 'node:fs'
import { type OnDiagnostic, TransportError } from '@atenea/mcpcompat'
import { codeOf } from './socket-path.ts'

/**
 * Makes sure that a directory can hold a socket that only we accept connections at. A missing one is made with mode 0700.
 *
 * Refused is one in which somebody else could put another socket in the place of ours: it belongs to another user, or others may write
 * to it and it has no sticky bit. One that others may only look into, or where the sticky bit protects what is ours, such as /tmp, gives
 * a warning: the socket has mode 0600 itself, but a name in a shared directory can be taken by anyone before we come.
 */
export function prepareSocketFolder(folder: string, uid: number, onDiagnostic: OnDiagnostic | undefined): void {
  const { mode, uid: owner } = madeFolder(folder)
  const shown = `0${(mode & 0o7777).toString(8)}`
  if (owner !== uid && owner !== 0) {
    throw refused(
      `the socket's directory ${folder} belongs to uid ${owner}, who could put another socket in its place. Use your own.`,
    )
  }
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
    throw refused(
      `the socket's directory ${folder} has mode ${shown}, so that others could put another socket in its place. ` +
        `Run: chmod 700 ${folder}`,
    )
  }
  if ((mode & 0o077) !== 0) {
    const message = `the socket's directory ${folder} has mode ${shown}; 0700 would keep others from taking or seeing the name`
    onDiagnostic?.({ level: 'warning', code: 'open-directory', message })
  }
}

/** The directory as it is, made with its parents where they are missing. */
function madeFolder(folder: string): Stats {
  const fs = process.getBuiltinModule('node:fs')
  try {
    const found = fs.statSync(folder, { throwIfNoEntry: false })
    if (found?.isDirectory() === true) return found
    const parent = process.getBuiltinModule('node:path').dirname(folder)
    // One by one: Node's recursive way never returns where the system says that the parent of a new directory is missing, as in /proc.
    if (found === undefined && parent !== folder) madeFolder(parent)
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (TransportError.is(error)) throw error
    // Somebody else has made it meanwhile.
    const found = codeOf(error) === 'EEXIST' ? fs.statSync(folder, { throwIfNoEntry: false }) : undefined
    if (found?.isDirectory() === true) return found
    const isBlocked = codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTDIR'
    const why = isBlocked ? 'a part of it is no directory' : String(codeOf(error))
    throw refused(`the socket's directory ${folder} cannot be made: ${why}`, error)
  }
  return fs.statSync(folder)
}

function refused(message: string, cause?: unknown): TransportError {
  return new TransportError('unreachable', message, { cause })
}
