/** The most that a file is read of, in bytes, which is far more than anything that people write by hand. */
const defaultMaxBytes = 16 * 1024 * 1024
/** How long a pipe is waited for to which nobody writes yet, in milliseconds. */
const noWriterMs = 2_000
/** How long whoever writes to a pipe may be silent, in milliseconds: a program that knows secrets may ask somebody first. */
const silentMs = 30_000
const pollMs = 5

/**
 * All bytes of a file that somebody named. It may be a pipe, such as `<(command)` of a shell; one that nobody writes to is an error after a
 * while. Opening it in the usual way would never return then, and nothing but SIGKILL would end the program. Throws what the system says.
 */
export function readWhole(file: string, maxBytes: number = defaultMaxBytes): Buffer {
  const { closeSync, constants, fstatSync, openSync, readFileSync } = process.getBuiltinModule('node:fs')
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = fstatSync(descriptor)
    if (found.size > maxBytes) throw tooLong(file, maxBytes)
    return found.isFile() || found.isDirectory() ? readFileSync(descriptor) : readStream(descriptor, file, maxBytes)
  } finally {
    closeSync(descriptor)
  }
}

/** Pipes, terminals and other devices, which have no size. */
function readStream(descriptor: number, file: string, maxBytes: number): Buffer {
  const { readSync } = process.getBuiltinModule('node:fs')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const chunks: Buffer[] = []
  let length = 0
  let hasWriter = false
  for (let since = Date.now(); ; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024)
    const read = readNow(() => readSync(descriptor, chunk))
    hasWriter ||= read !== 0
    // of a pipe that had no writer yet this is not the end
    if (read === 0 && hasWriter) return Buffer.concat(chunks, length)
    if (read !== undefined && read > 0) {
      chunks.push(chunk.subarray(0, read))
      length += read
      if (length > maxBytes) throw tooLong(file, maxBytes)
      since = Date.now()
    } else {
      const limitMs = hasWriter ? silentMs : noWriterMs
      if (Date.now() - since > limitMs) throw new Error(`nobody has written to ${file} for ${limitMs / 1_000} seconds`)
      Atomics.wait(pause, 0, 0, pollMs)
    }
  }
}

/** What a read gave, or `undefined` when it would have had to wait. */
function readNow(read: () => number): number | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}

function tooLong(file: string, maxBytes: number): Error {
  return new Error(`${file} has more than ${maxBytes} bytes`)
}
