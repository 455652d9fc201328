import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, readlink, realpath, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'

/** A path that must not or cannot be used. The message is for the model and tells nothing of what lies outside of the roots. */
export class FileRootError extends Error {
  override readonly name: string = 'FileRootError'
}

export interface OpenedFile extends AsyncDisposable {
  readonly handle: FileHandle
  readonly size: number
}

/**
 * Opens a regular file below one of the roots for reading. Relative paths are taken from the first root. Links are followed as long
 * as they stay below a root. The caller disposes it.
 */
export async function openBelow(roots: readonly string[], path: string): Promise<OpenedFile> {
  const wanted = locate(roots, path)
  const real = await resolveBelow(roots, wanted, path)
  let handle: FileHandle
  try {
    // Not through a link that came in between; and a pipe must not keep us waiting.
    handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw unusable(path, error)
  }
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new FileRootError(`${JSON.stringify(path)} is no regular file`)
    // A folder on the way may have been replaced since it was resolved.
    const again = await lstat(await resolveBelow(roots, wanted, path)).catch((error: unknown) => {
      throw unusable(path, error)
    })
    if (again.ino !== found.ino || again.dev !== found.dev) throw changed(path)
    return { handle, size: found.size, [Symbol.asyncDispose]: () => handle.close() }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Writes a new file below one of the roots and gives its absolute path. It appears whole or not at all, and nothing that exists is
 * replaced. Its folder must be there.
 */
export async function saveBelow(
  roots: readonly string[],
  path: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<string> {
  const { wanted, folder, name } = await findPlace(roots, path)
  await using pinned = await pinFolder(folder, path)
  const target = join(pinned.path, name)
  const temporary = join(pinned.path, `.${randomBytes(12).toString('hex')}.part`)
  try {
    const handle = await open(temporary, 'wx', 0o644)
    try {
      for await (const chunk of chunks) await handle.writeFile(chunk)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if ((await resolveBelow(roots, dirname(wanted), path)) !== folder) throw changed(path)
    // Unlike a rename it fails when somebody else made the file meanwhile.
    await link(temporary, target)
    return join(folder, name)
  } catch (error) {
    if (isSystemError(error)) throw error.code === 'EEXIST' ? taken(path) : unusable(path, error)
    throw error
  } finally {
    await unlink(temporary).catch(() => undefined)
  }
}

/** Tells, before anything is fetched for it, whether a new file can be written there. What changes after that is told by `saveBelow`. */
export async function assertSavable(roots: readonly string[], path: string): Promise<void> {
  await findPlace(roots, path)
}

/** Where a new file belongs: its folder as it really is, and its name there. */
async function findPlace(
  roots: readonly string[],
  path: string,
): Promise<{ readonly wanted: string; readonly folder: string; readonly name: string }> {
  const wanted = locate(roots, path)
  const name = basename(wanted)
  const folder = await resolveBelow(roots, dirname(wanted), path)
  if (roots.includes(wanted)) throw new FileRootError(`${JSON.stringify(path)} is a folder; name a file in it`)
  if (await exists(join(folder, name))) throw taken(path)
  return { wanted, folder, name }
}

/**
 * A folder that stays the one that was found, whatever is put in its place or above it while a file is written. Only Linux has a way to
 * name an open folder; elsewhere the path is used, and a change is noticed before the file gets its name.
 */
async function pinFolder(folder: string, path: string): Promise<AsyncDisposable & { readonly path: string }> {
  const asIs = { path: folder, [Symbol.asyncDispose]: async () => {} }
  if (process.platform !== 'linux') return asIs
  let handle: FileHandle
  try {
    handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    // a folder that one may write to but not list
    if (isSystemError(error) && error.code === 'EACCES') return asIs
    throw unusable(path, error)
  }
  const pinned = { path: `/proc/self/fd/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() }
  try {
    // what the system calls the open folder now, without a walk along that path
    if ((await readlink(pinned.path)) === folder) return pinned
  } catch (error) {
    await handle.close()
    // no /proc, as in some containers
    if (isSystemError(error)) return asIs
    throw error
  }
  await handle.close()
  throw changed(path)
}

/** The absolute path, if it lies below a root by its text. */
function locate(roots: readonly string[], path: string): string {
  const [first] = roots
  if (first === undefined) {
    throw new FileRootError('This server may use no files: its operator has named no folder with --file-root')
  }
  if (path === '' || path.includes('\0'))
    throw new FileRootError('The path of a file is empty or holds a NUL character')
  const wanted = resolve(first, path)
  if (!isBelow(roots, wanted)) throw outside(path)
  return wanted
}

/** The real path of what exists there. */
async function resolveBelow(roots: readonly string[], wanted: string, path: string): Promise<string> {
  let real: string
  try {
    real = await realpath(wanted)
  } catch (error) {
    throw unusable(path, error)
  }
  if (!isBelow(roots, real)) throw outside(path)
  return real
}

function isBelow(roots: readonly string[], path: string): boolean {
  return roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch {
    return false
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

function outside(path: string): FileRootError {
  return new FileRootError(
    `${JSON.stringify(path)} does not lie below a folder that the operator of this server allows`,
  )
}

function taken(path: string): FileRootError {
  return new FileRootError(`${JSON.stringify(path)} exists already, and nothing is overwritten; choose another name`)
}

function changed(path: string): FileRootError {
  return new FileRootError(`${JSON.stringify(path)} changed while it was opened; try again`)
}

/** Codes that say enough; anything else may tell more than a caller should know. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  ELOOP: 'leads through a link that cannot be followed',
  EACCES: 'cannot be used: permission denied',
  EPERM: 'cannot be used: permission denied',
  ENOSPC: 'cannot be written: the disk is full',
  ENAMETOOLONG: 'has too long a name',
}

function unusable(path: string, cause: unknown): FileRootError {
  const code = isSystemError(cause) ? (cause.code ?? '') : ''
  return new FileRootError(`${JSON.stringify(path)} ${reasons[code] ?? 'cannot be used'}`, { cause })
}
