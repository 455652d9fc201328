import { computeBlobId } from '@atenea/blobs'
import { ToolError } from '@atenea/core'
import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { uploadTtlMs } from '../../atproto/create-atproto.ts'

/** A piece of an upload. */
export interface Piece {
  readonly offset: number
  readonly size: number
  /** CID of its bytes. Part of its name, so that two who append at the same place cannot overwrite each other. */
  readonly cid: string
}

/** The bytes of uploads that come in pieces, in files that only this user can read. */
export interface PieceFiles {
  /** When it has resolved, the piece survives the death of the process. */
  write(folder: string, piece: Piece, bytes: Uint8Array): Promise<void>
  /** All pieces in order. A `ToolError` when one is not what was written. */
  read(folder: string, pieces: readonly Piece[]): AsyncGenerator<Uint8Array, void>
  remove(folder: string, piece: Piece): Promise<void>
  removeAll(folder: string): Promise<void>
  /** Removes what belongs to uploads that have expired. */
  sweep(): Promise<void>
}

/** A name that tells nothing of the upload: who knows its id may append to it. */
export function newPieceFolder(): string {
  return randomBytes(16).toString('hex')
}

/** More than an upload lives, so that none loses its files before it is forgotten itself. */
const staleMs = uploadTtlMs + 60 * 60 * 1000

export function createPieceFiles(stateDir: string): PieceFiles {
  const root = join(stateDir, 'uploads')
  const pathOf = (folder: string, { offset, cid }: Piece): string => join(root, folder, `${offset}-${cid}`)
  return {
    async write(folder, piece, bytes) {
      const path = pathOf(folder, piece)
      const temporary = `${path}.${randomBytes(8).toString('hex')}`
      await mkdir(join(root, folder), { recursive: true, mode: 0o700 })
      try {
        const handle = await open(temporary, 'wx', 0o600)
        try {
          await handle.writeFile(bytes)
          await handle.sync()
        } finally {
          await handle.close()
        }
        await rename(temporary, path)
      } catch (error) {
        await unlink(temporary).catch(() => undefined)
        throw error
      }
    },
    async *read(folder, pieces) {
      for (const piece of pieces) {
        const bytes = await readFile(pathOf(folder, piece)).catch(() => undefined)
        if (bytes === undefined || (await computeBlobId(bytes)).id.text !== piece.cid) {
          throw new ToolError(`The piece at offset ${piece.offset} was lost or damaged on the disk. Begin again.`)
        }
        yield bytes
      }
    },
    async remove(folder, piece) {
      await rm(pathOf(folder, piece), { force: true })
    },
    async removeAll(folder) {
      await rm(join(root, folder), { recursive: true, force: true })
    },
    async sweep() {
      const now = Date.now()
      for (const folder of await readdir(root).catch(() => [])) {
        const found = await stat(join(root, folder)).catch(() => undefined)
        if (found !== undefined && now - found.mtimeMs > staleMs) {
          await rm(join(root, folder), { recursive: true, force: true })
        }
      }
    },
  }
}
