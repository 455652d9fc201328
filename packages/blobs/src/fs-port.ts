import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'

/** The calls that a store makes to the file system, as in `node:fs/promises`. */
export type FileSystem = Pick<
  typeof import('node:fs/promises'),
  'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink'
>

/** An open file. */
export type FileHandle = Awaited<ReturnType<FileSystem['open']>>

/** The file system of this machine. */
export const localFiles: FileSystem = { mkdir, open, readdir, rename, stat, unlink }

/** Name of an error of the system: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Writes all bytes at a place in a file. A disk that runs full takes part of them first, and says so only the next time. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** Fills an array from a place in a file. Gives the number of bytes; fewer than it holds at the end of the file only. */
export async function readFully(file: FileHandle, into: Uint8Array, position: number): Promise<number> {
  let done = 0
  while (done < into.length) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return done
}

/** Deletes a file, if there is one. */
export async function removeFile(files: FileSystem, path: string): Promise<void> {
  try {
    await files.unlink(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
