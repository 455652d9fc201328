/**
 * Writes text to stdout at once. For results of commands that end afterwards, never beside a protocol on stdout. A reader
 * that went away is no error.
 */
export function printOut(text: string): void {
  writeAll(1, text)
}

/** Writes text to stderr at once. A reader that went away is no error. */
export function printErr(text: string): void {
  writeAll(2, text)
}

/** `process.stdout` and `process.stderr` would load a stream and cost milliseconds at start, and could lose what is written last. */
function writeAll(descriptor: number, text: string): void {
  const { writeSync } = process.getBuiltinModule('node:fs')
  const bytes = Buffer.from(text)
  let position = 0
  while (position < bytes.length) {
    try {
      position += writeSync(descriptor, bytes, position)
    } catch (error) {
      if (!isBusy(error)) return
      waitShortly()
    }
  }
}

/** A pipe that its reader made non-blocking and that is full. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

function waitShortly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
}
