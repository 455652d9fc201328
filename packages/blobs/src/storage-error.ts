import { BlobError } from './blob-error.ts'
import { codeOf } from './fs-port.ts'

const fullCodes = new Set(['ENOSPC', 'EDQUOT'])

/** Waits for a call of the file system; its failure becomes a `BlobError` of kind `no-space` or `storage`. */
export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw storageError(error)
  }
}

function storageError(error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined) return error
  return fullCodes.has(code)
    ? new BlobError('no-space', `the disk of the store is full (${code})`, { cause: error, retryable: true })
    : new BlobError('storage', `the store cannot be used: ${code}`, { cause: error })
}
