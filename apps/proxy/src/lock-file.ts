import { readWhole, UsageError } from '@atenea/cli'
import { formatLock, type McpLock, parseLock } from '@atenea/passthrough'

/** Reads a file that pins definitions of tools; `undefined` when there is none. Throws a `UsageError` for one that cannot be read. */
export function readLockFile(file: string): McpLock | undefined {
  try {
    return parseLock(readWhole(file).toString('utf8'))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`the lock ${file} cannot be used: ${reason}`, { cause })
  }
}

/** Writes it, whole or not at all. */
export function writeLockFile(file: string, lock: McpLock): void {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, formatLock(lock))
    renameSync(draft, file)
  } catch (cause) {
    rmSync(draft, { force: true })
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`the lock cannot be written: ${reason}`, { cause })
  }
}
