import type { Writable } from 'node:stream'
import type { WriteText } from './outbox.ts'
import { isPipe } from './pipe-descriptor.ts'

/** Longer texts may not fit into a pipe at once, and beside their copying the way through the stream is nothing. */
const maxLength = 16 * 1024

/**
 * Hands short texts to the system at once where `stdout` is a pipe and nothing waits in it. The way through the stream costs
 * as much as answering a small call. What the pipe does not take now waits in the stream as ever, in order, and a pipe that is
 * broken is reported by the stream as ever: `write` is how the stream is written to.
 */
export function withDirectWrite(
  stdout: Writable & { readonly fd?: number },
  write: (chunk: string | Uint8Array, callback?: () => void) => boolean,
): WriteText {
  // A worker's stdout has no descriptor: it is a way to the main thread.
  if (stdout.fd !== 1 || !isPipe(1)) return write
  const { writeSync } = process.getBuiltinModule('node:fs')
  return (text, callback) => {
    if (callback !== undefined || text.length > maxLength || stdout.writableLength > 0) return write(text, callback)
    let written: number
    try {
      // The stream has made the descriptor non-blocking, so this never waits for the reader.
      written = writeSync(1, text)
    } catch {
      return write(text)
    }
    return written === Buffer.byteLength(text) || write(Buffer.from(text).subarray(written))
  }
}
