import type { Line } from './line.ts'

/** As much as one read takes, so that most answers come in one. */
const readBytes = 131_072

let buffer: Buffer | undefined

/**
 * How the socket of a line reads: into memory that all lines share, since each read is taken from it before the next one is made. Streams
 * would get memory of their own for each read, and copy or keep it.
 */
export function readInto(line: Line): {
  readonly buffer: Uint8Array
  readonly callback: (bytes: number, buffer: Uint8Array) => boolean
} {
  buffer ??= Buffer.allocUnsafeSlow(readBytes)
  return { buffer, callback: (bytes, from) => line.onBytes(from as Buffer, bytes) }
}
