import { withDirectWrite } from './direct-write.ts'
import type { WriteText } from './outbox.ts'

export interface StdoutGuard {
  /** Writes to the real stdout. */
  readonly write: WriteText
  /** Takes the guard away. */
  restore(): void
}

const brand = Symbol.for('atenea.stdoutGuard')

/**
 * Sends everything that is written to `process.stdout` to stderr, except what goes through the returned `write`. A stray
 * `console.log` would otherwise break the protocol for the client. Throws a `TypeError` when stdout is guarded already.
 */
export function guardStdout(): StdoutGuard {
  const { stdout } = process
  if (Reflect.has(stdout, brand)) throw new TypeError('stdout is in use by another connection of this process')
  const original = stdout.write.bind(stdout)
  // Somebody else's patch, which has to come back in its place.
  const found = Object.getOwnPropertyDescriptor(stdout, 'write')
  // Looked up when somebody writes: making the stream takes time that a server which says nothing need not spend.
  const redirect = ((...args: Parameters<typeof stdout.write>) => process.stderr.write(...args)) as typeof stdout.write
  stdout.write = redirect
  Reflect.set(stdout, brand, true)
  return {
    write: withDirectWrite(stdout, original),
    restore() {
      Reflect.deleteProperty(stdout, brand)
      // Somebody patched it after us; that is theirs to take away.
      if (Object.getOwnPropertyDescriptor(stdout, 'write')?.value !== redirect) return
      Reflect.deleteProperty(stdout, 'write')
      if (found !== undefined) Object.defineProperty(stdout, 'write', found)
    },
  }
}
