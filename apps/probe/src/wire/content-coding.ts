import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * The body of an answer without its coding. We do not ask for one, and some servers compress all the same, as HTTP lets them. What cannot be
 * decoded is an error of the stream.
 */
export function decodedBody(head: IncomingMessage): Readable {
  const create = decoders[head.headers['content-encoding']?.trim().toLowerCase() ?? '']
  const isEmpty = head.statusCode === 204 || head.headers['content-length'] === '0'
  if (create === undefined || isEmpty) return head
  const decoder = create()
  head.on('error', (error) => decoder.destroy(error))
  return head.pipe(decoder)
}
