import { exitCode } from './exit-codes.ts'
import { ExitError } from './exit-error.ts'

/**
 * Writes text to stdout at once. For results of commands that end afterwards, never beside a protocol on stdout. A reader
 * that went away is no error; a file that takes no more is one, and an `ExitError` is thrown.
 */
export function printOut(text: string): void {
  const cause = writeAll(1, text)
  if (isFull(cause)) throw new ExitError(exitCode.failed, `cannot write the result: ${cause.message}`, { cause })
}

/** Gives the error that ended the writing early. `process.stdout` would load a stream and cost milliseconds at start, and could lose what is written last. */
function writeAll(descriptor: number, text: string): unknown {
  const { writeSync } = process.getBuiltinModule('node:fs')
  const bytes = Buffer.from(text)
  let position = 0
  while (position < bytes.length) {
    try {
      position += writeSync(descriptor, bytes, position)
    } catch (error) {
      if (!isBusy(error)) return error
      waitShortly()
    }
  }
  return undefined
}

/** A pipe that its reader made non-blocking and that is full. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

function isFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT|EFBIG)$/.test(String(error.code))
}

function waitShortly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
}
