import { UsageError } from './exit-error.ts'
import { readWhole } from './read-whole.ts'

/** The text of a file that a flag or the configuration names; `what` it is a file of stands in the `UsageError` when it cannot be read. */
export function readTextFile(file: string, what: string): string {
  try {
    return readWhole(file).toString('utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`the file of ${what} cannot be read: ${reason}`, { cause })
  }
}
