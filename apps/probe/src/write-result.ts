import { ExitError, exitCode, printOut } from '@atenea/cli'

/**
 * Writes a result to a file, or to stdout. A reader of stdout that went away is no error; a file that cannot be written is, and then what
 * it held before is still there.
 */
export async function writeResult(text: string, file: string | undefined): Promise<void> {
  try {
    if (file === undefined) printOut(text)
    else await writeFileWhole(file, text)
  } catch (cause) {
    if (cause instanceof ExitError) throw new ExitError(exitCode.usage, cause.message, { cause })
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ExitError(exitCode.usage, `cannot write the result: ${reason}`, { cause })
  }
}

/** Whole or not at all where that can be: an older report is worth more than half of a new one. */
async function writeFileWhole(file: string, text: string): Promise<void> {
  const { realpath, rename, rm, stat, writeFile } = process.getBuiltinModule('node:fs/promises')
  const found = await stat(file).catch(() => undefined)
  // a pipe or a device
  if (found?.isFile() === false) return await writeFile(file, text)
  const target = found === undefined ? file : await realpath(file)
  const draft = `${target}.${process.pid}`
  try {
    await writeFile(draft, text, { flag: 'wx', mode: found === undefined ? 0o666 : found.mode & 0o777 })
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    if (isFull(error)) throw error
    // a folder that takes no new files, or a file that is a mount of its own
    await writeFile(file, text)
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT|EFBIG)$/.test(String(error.code))
}
