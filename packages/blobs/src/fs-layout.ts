import { join } from 'node:path'
import type { BlobId } from './blob-id.ts'

/**
 * Where things are below the folder of a store. Files fan out by the digest: all CIDs of blobs begin alike, so that by CID
 * everything would come to lie in one folder. Only digits of a digest and of random names ever become part of a path.
 */
export interface Layout {
  /** Holds the folders of blobs and that of temporary files, which must be on one volume. */
  readonly top: string
  readonly temporary: string
  /** Folder that the file of a blob is in. */
  folderOf(id: BlobId): string
  fileOf(id: BlobId): string
}

/** Folders of blobs; the one of temporary files is named otherwise. */
export const fanOutName: RegExp = /^[0-9a-f]{2}$/
/** Files of blobs in such a folder. */
export const blobFileName: RegExp = /^[0-9a-f]{62}$/

const digest = /^[0-9a-f]{64}$/

/** The layout below a folder. Its version is part of it, so that a later one can live beside it. */
export function layoutOf(root: string): Layout {
  const top = join(root, 'v1')
  const hexOf = ({ hex }: BlobId): string => {
    if (!digest.test(hex)) throw new TypeError('not a BlobId')
    return hex
  }
  return {
    top,
    temporary: join(top, 'tmp'),
    folderOf: (id) => join(top, hexOf(id).slice(0, 2)),
    fileOf: (id) => join(top, hexOf(id).slice(0, 2), hexOf(id).slice(2)),
  }
}
