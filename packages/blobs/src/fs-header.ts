import type { BlobId } from './blob-id.ts'
import { sha256 } from './sha256.ts'

/**
 * What a file of the store begins with; the bytes of the blob follow. Its length is fixed, since it is written last, when
 * the id is known. It is text for those who look: `tail -c +257 FILE | sha256sum` gives the name of the file.
 */
export const headerBytes = 256

const magic = 'atenea-blob 1'
const form = /^atenea-blob 1 ([0-9a-f]{16}) (\S.*|) *\n$/

/** The header of a blob with its type, empty when none is known. */
export function encodeHeader(id: BlobId, mimeType: string | undefined): Uint8Array {
  const type = mimeType ?? ''
  return Buffer.from(`${magic} ${checkOf(id, type)} ${type}`.padEnd(headerBytes - 1, ' ') + '\n', 'latin1')
}

/** The type that a header tells, or `damaged` when it is none of this blob. */
export function decodeHeader(id: BlobId, bytes: Uint8Array): { readonly mimeType: string | undefined } | 'damaged' {
  const [, check, padded = ''] = form.exec(Buffer.from(bytes).toString('latin1')) ?? []
  const type = padded.trimEnd()
  if (check === undefined || check !== checkOf(id, type)) return 'damaged'
  return { mimeType: type === '' ? undefined : type }
}

/** The type is not part of what the id names, so it needs a check of its own. */
function checkOf(id: BlobId, type: string): string {
  return sha256().update(`${id.text} ${type}`).digest('hex').slice(0, 16)
}
