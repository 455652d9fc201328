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
  const { stdout, stderr } = process
  if (brand in stdout.write) throw new TypeError('stdout is in use by another connection of this process')
  const original = stdout.write.bind(stdout)
  // Somebody else's patch, which has to come back in its place.
  const found = Object.getOwnPropertyDescriptor(stdout, 'write')
  const redirect = Object.assign(stderr.write.bind(stderr), { [brand]: true })
  stdout.write = redirect
  return {
    write: (text, callback) => original(text, callback),
    restore() {
      if (stdout.write !== redirect) return
      Reflect.deleteProperty(stdout, 'write')
      if (found !== undefined) Object.defineProperty(stdout, 'write', found)
    },
  }
}
